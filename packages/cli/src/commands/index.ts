import type { Command } from 'commander';

import type { Act } from '../context.ts';
import type { ShapeName } from '../json/shapes.ts';

/** What the module of a command exports. */
export interface CommandModule {
  /** Adds arguments, options and the action. */
  define(command: Command, act: Act): void;
}

/** A command: its words, and how its module is loaded once it is wanted. */
export interface CommandEntry {
  readonly path: readonly [string] | readonly [string, string];
  readonly summary: string;
  /** What `--json` prints; one line per document where `stream` is set. Undefined where there is nothing to print. */
  readonly json?: { readonly shape: ShapeName; readonly form: 'one' | 'array' | 'stream' };
  readonly hidden?: true;
  load(): Promise<CommandModule>;
}

/** Every command of `mutirao`, in the order of its help. */
export const entries: readonly CommandEntry[] = [
  {
    path: ['up'],
    summary: 'Start a whole grid on this machine.',
    json: { shape: 'grid', form: 'one' },
    load: () => import('./up.ts'),
  },
  {
    path: ['down'],
    summary: 'Stop the grid that "up" started, and wait until all of it has ended.',
    json: { shape: 'grid', form: 'one' },
    load: () => import('./down.ts'),
  },
  {
    path: ['status'],
    summary: 'Jobs, providers and machines at a glance.',
    json: { shape: 'status', form: 'one' },
    load: () => import('./status.ts'),
  },
  {
    path: ['job', 'submit'],
    summary: 'Submit a bag of tasks: a job file, or a command after "--".',
    json: { shape: 'submission', form: 'one' },
    load: () => import('./job/submit.ts'),
  },
  {
    path: ['job', 'list'],
    summary: 'List jobs, newest first.',
    json: { shape: 'job', form: 'array' },
    load: () => import('./job/list.ts'),
  },
  {
    path: ['job', 'show'],
    summary: 'Show a job and what was asked for.',
    json: { shape: 'job_details', form: 'array' },
    load: () => import('./job/show.ts'),
  },
  {
    path: ['job', 'wait'],
    summary: 'Wait until jobs have ended; the exit status tells how.',
    json: { shape: 'job', form: 'array' },
    load: () => import('./job/wait.ts'),
  },
  {
    path: ['job', 'cancel'],
    summary: 'Cancel jobs.',
    json: { shape: 'cancelled_job', form: 'array' },
    load: () => import('./job/cancel.ts'),
  },
  {
    path: ['job', 'retry'],
    summary: 'Run failed or cancelled tasks again.',
    json: { shape: 'retried', form: 'one' },
    load: () => import('./job/retry.ts'),
  },
  {
    path: ['job', 'outputs'],
    summary: 'List or take out the gathered outputs of a job.',
    json: { shape: 'gathered_output', form: 'array' },
    load: () => import('./job/outputs.ts'),
  },
  {
    path: ['job', 'machines'],
    summary: 'What each machine did for a job.',
    json: { shape: 'machine_share', form: 'array' },
    load: () => import('./job/machines.ts'),
  },
  {
    path: ['job', 'report'],
    summary: 'Write what became of a job as one HTML file, which anybody can open.',
    json: { shape: 'job_report', form: 'one' },
    load: () => import('./job/report.ts'),
  },
  {
    path: ['task', 'list'],
    summary: 'List tasks of a job with machine, replica times and exit status.',
    json: { shape: 'task', form: 'array' },
    load: () => import('./task/list.ts'),
  },
  {
    path: ['task', 'output'],
    summary: 'Print standard output and error of tasks.',
    json: { shape: 'output', form: 'array' },
    load: () => import('./task/output.ts'),
  },
  {
    path: ['machine', 'list'],
    summary: 'List the GridMachines that the broker has now.',
    json: { shape: 'machine', form: 'array' },
    load: () => import('./machine/list.ts'),
  },
  {
    path: ['machine', 'show'],
    summary: 'Show all that is known of a machine: what it does, and what votes have shown of it.',
    json: { shape: 'shown_machine', form: 'one' },
    load: () => import('./machine/show.ts'),
  },
  {
    path: ['machine', 'add'],
    summary: 'Have an agent work for machines of yours, over ssh or by templates.',
    json: { shape: 'enrolled_machine', form: 'array' },
    load: () => import('./machine/add.ts'),
  },
  {
    path: ['machine', 'invite'],
    summary: 'Make a one-time secret with which a machine joins under a name.',
    json: { shape: 'invitation', form: 'one' },
    load: () => import('./machine/invite.ts'),
  },
  {
    path: ['machine', 'credentials'],
    summary: 'List the names that were invited, have a credential or were removed.',
    json: { shape: 'machine_credential', form: 'array' },
    load: () => import('./machine/credentials.ts'),
  },
  {
    path: ['machine', 'remove'],
    summary: 'Withdraw the credential of a machine that was added or invited, and end its agent.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./machine/remove.ts'),
  },
  {
    path: ['machine', 'trust'],
    summary: 'Show what machines have done for their trust, with the evidence.',
    json: { shape: 'trust', form: 'array' },
    load: () => import('./machine/trust.ts'),
  },
  {
    path: ['machine', 'quarantine'],
    summary: 'Have a machine get nothing more.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/quarantine.ts'),
  },
  {
    path: ['machine', 'reset-trust'],
    summary: 'Let a machine that was caught begin again, without credit.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/reset-trust.ts'),
  },
  {
    path: ['machine', 'drain'],
    summary: 'Have a machine get no new tasks until it is undrained; what runs there ends by itself.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/drain.ts'),
  },
  {
    path: ['machine', 'undrain'],
    summary: 'Have a machine take tasks again.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/undrain.ts'),
  },
  {
    path: ['machine', 'enrolled'],
    summary: 'List the machines that were added, and why any does not run.',
    json: { shape: 'enrolled_machine', form: 'array' },
    load: () => import('./machine/kept.ts'),
  },
  {
    path: ['quota'],
    summary: 'Show what you take of the grid, and what you may take.',
    json: { shape: 'quota', form: 'array' },
    load: () => import('./quota.ts'),
  },
  {
    path: ['provider', 'list'],
    summary: "List the broker's providers.",
    json: { shape: 'listed_provider', form: 'array' },
    load: () => import('./provider/list.ts'),
  },
  {
    path: ['provider', 'show'],
    summary: "Show a provider's resource and rules.",
    json: { shape: 'resource', form: 'one' },
    load: () => import('./provider/show.ts'),
  },
  {
    path: ['provider', 'queue'],
    summary: "Show the queue of a provider's resource, and our requests in it.",
    json: { shape: 'provider_queue', form: 'one' },
    load: () => import('./provider/queue.ts'),
  },
  {
    path: ['provider', 'add'],
    summary: 'Make the broker use another provider.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./provider/add.ts'),
  },
  {
    path: ['provider', 'drain'],
    summary: 'Have a provider take no new work until it is undrained; what runs there ends by itself.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./provider/drain.ts'),
  },
  {
    path: ['provider', 'undrain'],
    summary: 'Have a provider take work again.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./provider/undrain.ts'),
  },
  {
    path: ['provider', 'heuristic'],
    summary: 'Show or switch the request heuristic of a provider that runs.',
    json: { shape: 'heuristic', form: 'one' },
    load: () => import('./provider/heuristic.ts'),
  },
  {
    path: ['site', 'add'],
    summary: 'Use a cluster behind ssh: carry the program over and start a provider there.',
    json: { shape: 'site', form: 'one' },
    load: () => import('./site/add.ts'),
  },
  {
    path: ['site', 'list'],
    summary: 'List sites and what becomes of their connections.',
    json: { shape: 'site', form: 'array' },
    load: () => import('./site/list.ts'),
  },
  {
    path: ['site', 'show'],
    summary: 'Show a site and what runs there.',
    json: { shape: 'site', form: 'one' },
    load: () => import('./site/show.ts'),
  },
  {
    path: ['site', 'connect'],
    summary: 'Keep sites connected again, as after a restart of this machine.',
    json: { shape: 'site', form: 'array' },
    load: () => import('./site/connect.ts'),
  },
  {
    path: ['site', 'remove'],
    summary: 'End what runs at a site once it has no more work, and forget it.',
    json: { shape: 'removed_site', form: 'one' },
    load: () => import('./site/remove.ts'),
  },
  {
    path: ['request', 'list'],
    summary: 'List allocation requests and the reason for each.',
    json: { shape: 'request', form: 'array' },
    load: () => import('./request/list.ts'),
  },
  {
    path: ['cluster', 'submit'],
    summary: 'Submit a request of a local user to an embedded cluster.',
    json: { shape: 'cluster_submission', form: 'one' },
    load: () => import('./cluster/submit.ts'),
  },
  {
    path: ['cluster', 'queue'],
    summary: 'Show the queue of an embedded cluster.',
    json: { shape: 'queue', form: 'array' },
    load: () => import('./cluster/queue.ts'),
  },
  {
    path: ['cluster', 'cancel'],
    summary: "Take a request out of a cluster's queue, or end it.",
    json: { shape: 'allocation', form: 'array' },
    load: () => import('./cluster/cancel.ts'),
  },
  {
    path: ['cluster', 'score'],
    summary: 'Show how well users of an embedded cluster estimate walltimes.',
    json: { shape: 'cluster_scores', form: 'one' },
    load: () => import('./cluster/score.ts'),
  },
  {
    path: ['reservation', 'request'],
    summary: 'Reserve units or a share of a resource, or hear what could be had instead.',
    json: { shape: 'reservation_placement', form: 'one' },
    load: () => import('./reservation/request.ts'),
  },
  {
    path: ['reservation', 'co-allocate'],
    summary: 'Reserve several resources for the same time, or none of them.',
    json: { shape: 'reservation_groups', form: 'one' },
    load: () => import('./reservation/together.ts'),
  },
  {
    path: ['reservation', 'list'],
    summary: 'List reservations, newest first.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/list.ts'),
  },
  {
    path: ['reservation', 'show'],
    summary: 'Show reservations, with their claims.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/show.ts'),
  },
  {
    path: ['reservation', 'renegotiate'],
    summary: 'Move or resize a reservation that has not begun.',
    json: { shape: 'reservation_placement', form: 'one' },
    load: () => import('./reservation/renegotiate.ts'),
  },
  {
    path: ['reservation', 'confirm'],
    summary: 'Turn holds into reservations.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/confirm.ts'),
  },
  {
    path: ['reservation', 'cancel'],
    summary: 'Give reservations back.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/cancel.ts'),
  },
  {
    path: ['reservation', 'claim'],
    summary: 'Begin the use of a reservation.',
    json: { shape: 'reservation', form: 'one' },
    load: () => import('./reservation/claim.ts'),
  },
  {
    path: ['reservation', 'release'],
    summary: 'End the use of reservations early.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/release.ts'),
  },
  {
    path: ['reservation', 'verify'],
    summary: 'Say whether a claim may be used now, as resource managers ask.',
    json: { shape: 'reservation_verdict', form: 'one' },
    load: () => import('./reservation/verify.ts'),
  },
  {
    path: ['reservation', 'calendar'],
    summary: 'Draw how much of a resource is reserved.',
    json: { shape: 'reservation_calendar', form: 'array' },
    load: () => import('./reservation/calendar.ts'),
  },
  {
    path: ['reservation', 'resource'],
    summary: 'Add, list and change what can be reserved.',
    json: { shape: 'reservable_resource', form: 'array' },
    load: () => import('./reservation/resource.ts'),
  },
  {
    path: ['explain', 'task'],
    summary: 'Why a task is where it is.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/task.ts'),
  },
  {
    path: ['explain', 'job'],
    summary: 'Why a job is where it is.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/job.ts'),
  },
  {
    path: ['explain', 'reservation'],
    summary: 'Why a reservation is where it is, and what is held ahead for it.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/reservation.ts'),
  },
  {
    path: ['explain', 'machine'],
    summary: 'Why a machine gets no work.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/machine.ts'),
  },
  {
    path: ['explain', 'request'],
    summary: 'Why an allocation request is what it is.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/request.ts'),
  },
  {
    path: ['workflow', 'show'],
    summary: 'Show what is in a workflow file: tasks, files, its longest path; nothing is submitted.',
    json: { shape: 'workflow_file', form: 'one' },
    load: () => import('./workflow/show.ts'),
  },
  {
    path: ['workflow', 'convert'],
    summary: 'Write a workflow file in another format.',
    json: { shape: 'converted_workflow', form: 'one' },
    load: () => import('./workflow/convert.ts'),
  },
  {
    path: ['sim', 'schedule'],
    summary: 'Plan a workflow on processors that a file lists.',
    json: { shape: 'workflow_schedule', form: 'one' },
    load: () => import('./sim/schedule.ts'),
  },
  {
    path: ['sim', 'trace'],
    summary: 'Replay a log on a simulated machine.',
    json: { shape: 'trace_replay', form: 'one' },
    load: () => import('./sim/trace.ts'),
  },
  {
    path: ['sim', 'job'],
    summary: 'Run grid jobs at random instants of a log on a simulated machine.',
    json: { shape: 'job_simulation', form: 'one' },
    load: () => import('./sim/job.ts'),
  },
  {
    path: ['sim', 'study'],
    summary: 'Repeat a published study; goes on where it was interrupted.',
    json: { shape: 'study', form: 'one' },
    load: () => import('./sim/study.ts'),
  },
  {
    path: ['sim', 'study-chunk'],
    summary: 'Run one part of a study, as a task of a bag does.',
    json: { shape: 'study_part', form: 'one' },
    load: () => import('./sim/study-chunk.ts'),
  },
  {
    path: ['sim', 'replay'],
    summary: "Run a process's machine over its debugging trace, and compare.",
    json: { shape: 'machine_replay', form: 'one' },
    load: () => import('./sim/replay.ts'),
  },
  {
    path: ['sim', 'swarm'],
    summary: 'Run whole grids under faults drawn from seeds, and tell how any of them failed.',
    json: { shape: 'swarm', form: 'one' },
    load: () => import('./sim/swarm.ts'),
  },
  {
    path: ['web'],
    summary: 'Serve the page of this grid to your browser, or print its address where it is served already.',
    json: { shape: 'page', form: 'one' },
    load: () => import('./web.ts'),
  },
  {
    path: ['ledger'],
    summary: 'Where the processor-time went, per allocation.',
    json: { shape: 'ledger', form: 'one' },
    load: () => import('./ledger.ts'),
  },
  {
    path: ['events'],
    summary: 'Print events, from any point on.',
    json: { shape: 'event', form: 'stream' },
    load: () => import('./events.ts'),
  },
  {
    path: ['backup'],
    summary: 'Copy what cannot be made again of the home folder into a new folder.',
    json: { shape: 'backup', form: 'one' },
    load: () => import('./backup.ts'),
  },
  {
    path: ['restore'],
    summary: 'Put a back-up back into the home folder.',
    json: { shape: 'backup', form: 'one' },
    load: () => import('./restore.ts'),
  },
  {
    path: ['init'],
    summary: 'Make the identity that other hosts know you by, or its certificates again.',
    json: { shape: 'identity', form: 'one' },
    load: () => import('./init.ts'),
  },
  {
    path: ['identity', 'show'],
    summary: 'Show the identity of this home.',
    json: { shape: 'identity', form: 'one' },
    load: () => import('./identity/show.ts'),
  },
  {
    path: ['identity', 'issue'],
    summary: 'Make certificates for another host or user.',
    json: { shape: 'identity', form: 'one' },
    load: () => import('./identity/issue.ts'),
  },
  {
    path: ['identity', 'revoke'],
    summary: "Have servers take a user's certificate no more.",
    json: { shape: 'revoked', form: 'one' },
    load: () => import('./identity/revoke.ts'),
  },
  {
    path: ['addjob'],
    summary: "OurGrid's word: submit a job file.",
    json: { shape: 'submission', form: 'one' },
    load: () => import('./addjob.ts'),
  },
  {
    path: ['waitforjob'],
    summary: "OurGrid's word: wait for a job.",
    json: { shape: 'job', form: 'array' },
    load: () => import('./job/wait.ts'),
  },
  {
    path: ['canceljob'],
    summary: "OurGrid's word: cancel a job.",
    json: { shape: 'cancelled_job', form: 'array' },
    load: () => import('./job/cancel.ts'),
  },
  { path: ['run', 'broker'], summary: 'Run a broker in the foreground.', load: () => import('./run/broker.ts') },
  { path: ['run', 'provider'], summary: 'Run a provider in the foreground.', load: () => import('./run/provider.ts') },
  { path: ['run', 'agent'], summary: 'Run an agent in the foreground.', load: () => import('./run/agent.ts') },
  {
    path: ['run', 'cluster'],
    summary: 'Run an embedded cluster in the foreground.',
    load: () => import('./run/cluster.ts'),
  },
  {
    path: ['run', 'reservations'],
    summary: 'Run a reservation manager in the foreground.',
    load: () => import('./run/reservations.ts'),
  },
  {
    path: ['run', 'web'],
    summary: 'Run the gateway of the page in the foreground.',
    load: () => import('./run/web.ts'),
  },
  {
    path: ['run', 'site'],
    summary: 'Keep one site connected, in the foreground.',
    load: () => import('./run/site.ts'),
  },
  {
    path: ['completion'],
    summary: 'Print a completion script for bash, zsh or fish.',
    load: () => import('./completion.ts'),
  },
];

/** The command that the words name, or undefined. @param words without options. */
export function findEntry(words: readonly string[]): CommandEntry | undefined {
  return entries.find(
    ({ path: [first, second] }) => first === words[0] && (second === undefined || second === words[1]),
  );
}
