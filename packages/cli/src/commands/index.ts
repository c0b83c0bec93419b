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
  /** Takes the options of another program, and none of those that all commands have. */
  readonly ownOptions?: true;
  load(): Promise<CommandModule>;
}

/** Every command of `mutirao`, in the order of its help. */
export const entries: readonly CommandEntry[] = [
  {
    path: ['up'],
    summary: 'Start a grid on this machine.',
    json: { shape: 'grid', form: 'one' },
    load: () => import('./up.ts'),
  },
  {
    path: ['down'],
    summary: 'Stop the grid that "mutirao up" started, and wait until all of its processes have ended.',
    json: { shape: 'grid', form: 'one' },
    load: () => import('./down.ts'),
  },
  {
    path: ['status'],
    summary: 'Show jobs, providers and machines at a glance.',
    json: { shape: 'status', form: 'one' },
    load: () => import('./status.ts'),
  },
  {
    path: ['job', 'submit'],
    summary: 'Submit a job: a command for many tasks, a job file or a workflow.',
    json: { shape: 'submission', form: 'one' },
    load: () => import('./job/submit.ts'),
  },
  {
    path: ['parallel'],
    summary: 'Run a command for many arguments on this host, with the options of GNU parallel.',
    ownOptions: true,
    load: () => import('./parallel.ts'),
  },
  {
    path: ['job', 'list'],
    summary: 'List jobs, newest first.',
    json: { shape: 'job', form: 'array' },
    load: () => import('./job/list.ts'),
  },
  {
    path: ['job', 'show'],
    summary: 'Show the progress, times and options of jobs.',
    json: { shape: 'job_details', form: 'array' },
    load: () => import('./job/show.ts'),
  },
  {
    path: ['job', 'wait'],
    summary: 'Wait for jobs to end; the exit status says how they ended.',
    json: { shape: 'job', form: 'array' },
    load: () => import('./job/wait.ts'),
  },
  {
    path: ['job', 'cancel'],
    summary: 'Cancel running jobs.',
    json: { shape: 'cancelled_job', form: 'array' },
    load: () => import('./job/cancel.ts'),
  },
  {
    path: ['job', 'append'],
    summary: 'Add tasks to an open job (job submit --open).',
    json: { shape: 'appended_tasks', form: 'one' },
    load: () => import('./job/append.ts'),
  },
  {
    path: ['job', 'close'],
    summary: 'Let open jobs end with the tasks that they have.',
    json: { shape: 'closed_job', form: 'array' },
    load: () => import('./job/close.ts'),
  },
  {
    path: ['job', 'hold'],
    summary: 'Keep tasks of a job from being started until they are released.',
    json: { shape: 'held_tasks', form: 'one' },
    load: () => import('./job/hold.ts'),
  },
  {
    path: ['job', 'release'],
    summary: 'Let held tasks of a job be started.',
    json: { shape: 'released_tasks', form: 'one' },
    load: () => import('./job/release.ts'),
  },
  {
    path: ['job', 'forget'],
    summary: 'Forget ended jobs and free their disk space.',
    json: { shape: 'forgotten_jobs', form: 'one' },
    load: () => import('./job/forget.ts'),
  },
  {
    path: ['job', 'update'],
    summary: 'Change the priority or the limit of a running job.',
    json: { shape: 'updated_job', form: 'one' },
    load: () => import('./job/update.ts'),
  },
  {
    path: ['job', 'retry'],
    summary: 'Run failed and cancelled tasks of a job again.',
    json: { shape: 'retried', form: 'one' },
    load: () => import('./job/retry.ts'),
  },
  {
    path: ['job', 'outputs'],
    summary: 'List or extract the archived outputs of a job.',
    json: { shape: 'gathered_output', form: 'array' },
    load: () => import('./job/outputs.ts'),
  },
  {
    path: ['job', 'export'],
    summary: 'Write the tasks of a job with times and resources as CSV, JSON or a joblog.',
    json: { shape: 'exported_task', form: 'array' },
    load: () => import('./job/export.ts'),
  },
  {
    path: ['job', 'machines'],
    summary: 'Show what each machine did for a job.',
    json: { shape: 'machine_share', form: 'array' },
    load: () => import('./job/machines.ts'),
  },
  {
    path: ['job', 'report'],
    summary: 'Write a report of a job as one HTML file.',
    json: { shape: 'job_report', form: 'one' },
    load: () => import('./job/report.ts'),
  },
  {
    path: ['task', 'list'],
    summary: 'List the tasks of a job, with machine, times and exit status.',
    json: { shape: 'task', form: 'array' },
    load: () => import('./task/list.ts'),
  },
  {
    path: ['task', 'output'],
    summary: 'Print the standard output and standard error of tasks.',
    json: { shape: 'output', form: 'array' },
    load: () => import('./task/output.ts'),
  },
  {
    path: ['machine', 'list'],
    summary: 'List the machines that the broker can use now.',
    json: { shape: 'machine', form: 'array' },
    load: () => import('./machine/list.ts'),
  },
  {
    path: ['machine', 'show'],
    summary: 'Show a machine: its state, its work and its trust record.',
    json: { shape: 'shown_machine', form: 'one' },
    load: () => import('./machine/show.ts'),
  },
  {
    path: ['machine', 'add'],
    summary: 'Add machines, and run an agent on each, by ssh or by command templates.',
    json: { shape: 'enrolled_machine', form: 'array' },
    load: () => import('./machine/add.ts'),
  },
  {
    path: ['machine', 'invite'],
    summary: 'Make a one-time secret with which a machine joins the grid.',
    json: { shape: 'invitation', form: 'one' },
    load: () => import('./machine/invite.ts'),
  },
  {
    path: ['machine', 'credentials'],
    summary: 'List the machines that were invited, have joined or were removed.',
    json: { shape: 'machine_credential', form: 'array' },
    load: () => import('./machine/credentials.ts'),
  },
  {
    path: ['machine', 'remove'],
    summary: 'Remove a machine: end its agent and revoke its credential.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./machine/remove.ts'),
  },
  {
    path: ['machine', 'trust'],
    summary: 'Show the trust record of machines, with the evidence.',
    json: { shape: 'trust', form: 'array' },
    load: () => import('./machine/trust.ts'),
  },
  {
    path: ['machine', 'quarantine'],
    summary: 'Exclude a machine: it gets no more tasks.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/quarantine.ts'),
  },
  {
    path: ['machine', 'reset-trust'],
    summary: 'Lift the quarantine of a machine and reset its trust record.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/reset-trust.ts'),
  },
  {
    path: ['machine', 'drain'],
    summary: 'Send no new tasks to a machine; running tasks finish.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/drain.ts'),
  },
  {
    path: ['machine', 'undrain'],
    summary: 'Send tasks to a drained machine again.',
    json: { shape: 'trusted_machine', form: 'one' },
    load: () => import('./machine/undrain.ts'),
  },
  {
    path: ['machine', 'enrolled'],
    summary: 'List the machines that were added, and why any of them is not running.',
    json: { shape: 'enrolled_machine', form: 'array' },
    load: () => import('./machine/kept.ts'),
  },
  {
    path: ['quota'],
    summary: 'Show your use of the grid and your quotas.',
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
    summary: 'Show a provider: its resource, limits, last refusal and last decision.',
    json: { shape: 'resource', form: 'one' },
    load: () => import('./provider/show.ts'),
  },
  {
    path: ['provider', 'queue'],
    summary: "Show the queue of a provider's resource, with the provider's requests in it.",
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
    path: ['provider', 'remove'],
    summary: 'Stop using a provider that cannot be reached.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./provider/remove.ts'),
  },
  {
    path: ['provider', 'drain'],
    summary: 'Send no new work to a provider; running tasks finish.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./provider/drain.ts'),
  },
  {
    path: ['provider', 'undrain'],
    summary: 'Send work to a drained provider again.',
    json: { shape: 'ack', form: 'one' },
    load: () => import('./provider/undrain.ts'),
  },
  {
    path: ['provider', 'heuristic'],
    summary: 'Show or change the request heuristic of a running provider.',
    json: { shape: 'heuristic', form: 'one' },
    load: () => import('./provider/heuristic.ts'),
  },
  {
    path: ['site', 'add'],
    summary: 'Use a cluster over ssh: copy the program there and start a provider.',
    json: { shape: 'site', form: 'one' },
    load: () => import('./site/add.ts'),
  },
  {
    path: ['site', 'list'],
    summary: 'List sites and their connections.',
    json: { shape: 'site', form: 'array' },
    load: () => import('./site/list.ts'),
  },
  {
    path: ['site', 'show'],
    summary: 'Show a site and the processes that run there.',
    json: { shape: 'site', form: 'one' },
    load: () => import('./site/show.ts'),
  },
  {
    path: ['site', 'connect'],
    summary: 'Reconnect to sites, for example after a reboot.',
    json: { shape: 'site', form: 'array' },
    load: () => import('./site/connect.ts'),
  },
  {
    path: ['site', 'remove'],
    summary: 'Remove a site once it has no work left, and end its processes.',
    json: { shape: 'removed_site', form: 'one' },
    load: () => import('./site/remove.ts'),
  },
  {
    path: ['request', 'list'],
    summary: 'List allocation requests, with the reason for each.',
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
    summary: 'Withdraw queued requests of an embedded cluster, or end running ones.',
    json: { shape: 'allocation', form: 'array' },
    load: () => import('./cluster/cancel.ts'),
  },
  {
    path: ['cluster', 'score'],
    summary: 'Show how well users of an embedded cluster estimate their walltimes.',
    json: { shape: 'cluster_scores', form: 'one' },
    load: () => import('./cluster/score.ts'),
  },
  {
    path: ['reservation', 'request'],
    summary: 'Reserve an amount of a resource, or list alternatives.',
    json: { shape: 'reservation_placement', form: 'one' },
    load: () => import('./reservation/request.ts'),
  },
  {
    path: ['reservation', 'co-allocate'],
    summary: 'Reserve several resources for the same time, all or none.',
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
    summary: 'Move or resize a reservation that has not started.',
    json: { shape: 'reservation_placement', form: 'one' },
    load: () => import('./reservation/renegotiate.ts'),
  },
  {
    path: ['reservation', 'confirm'],
    summary: 'Confirm holds: make them reservations.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/confirm.ts'),
  },
  {
    path: ['reservation', 'cancel'],
    summary: 'Cancel reservations and holds.',
    json: { shape: 'reservation', form: 'array' },
    load: () => import('./reservation/cancel.ts'),
  },
  {
    path: ['reservation', 'claim'],
    summary: 'Start to use a reservation.',
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
    summary: 'Check whether a claim is valid now; for resource managers.',
    json: { shape: 'reservation_verdict', form: 'one' },
    load: () => import('./reservation/verify.ts'),
  },
  {
    path: ['reservation', 'calendar'],
    summary: 'Draw when and how much of a resource is reserved.',
    json: { shape: 'reservation_calendar', form: 'array' },
    load: () => import('./reservation/calendar.ts'),
  },
  {
    path: ['reservation', 'resource'],
    summary: 'Register, list and change resources that can be reserved.',
    json: { shape: 'reservable_resource', form: 'array' },
    load: () => import('./reservation/resource.ts'),
  },
  {
    path: ['explain', 'task'],
    summary: 'Explain the state of a task.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/task.ts'),
  },
  {
    path: ['explain', 'job'],
    summary: 'Explain the state of a job.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/job.ts'),
  },
  {
    path: ['explain', 'reservation'],
    summary: 'Explain the interval of a reservation, and its pre-acquired allocations.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/reservation.ts'),
  },
  {
    path: ['explain', 'machine'],
    summary: 'Explain why a machine gets no work.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/machine.ts'),
  },
  {
    path: ['explain', 'request'],
    summary: 'Explain the size, time and state of an allocation request.',
    json: { shape: 'explanation', form: 'one' },
    load: () => import('./explain/request.ts'),
  },
  {
    path: ['workflow', 'show'],
    summary: 'Check a workflow file and show its tasks, files and longest path; submits nothing.',
    json: { shape: 'workflow_file', form: 'one' },
    load: () => import('./workflow/show.ts'),
  },
  {
    path: ['workflow', 'convert'],
    summary: 'Convert a workflow file to another format.',
    json: { shape: 'converted_workflow', form: 'one' },
    load: () => import('./workflow/convert.ts'),
  },
  {
    path: ['sim', 'schedule'],
    summary: 'Plan a workflow on the processors listed in a file.',
    json: { shape: 'workflow_schedule', form: 'one' },
    load: () => import('./sim/schedule.ts'),
  },
  {
    path: ['sim', 'trace'],
    summary: 'Replay a workload log on a simulated cluster.',
    json: { shape: 'trace_replay', form: 'one' },
    load: () => import('./sim/trace.ts'),
  },
  {
    path: ['sim', 'job'],
    summary: 'Run grid jobs at random instants of a workload log on a simulated cluster.',
    json: { shape: 'job_simulation', form: 'one' },
    load: () => import('./sim/job.ts'),
  },
  {
    path: ['sim', 'study'],
    summary: 'Repeat a published study, or continue one that was interrupted.',
    json: { shape: 'study', form: 'one' },
    load: () => import('./sim/study.ts'),
  },
  {
    path: ['sim', 'study-chunk'],
    summary: 'Run one part of a study, as a task of a job does.',
    json: { shape: 'study_part', form: 'one' },
    load: () => import('./sim/study-chunk.ts'),
  },
  {
    path: ['sim', 'replay'],
    summary: 'Replay the debugging trace of a process, and compare its decisions.',
    json: { shape: 'machine_replay', form: 'one' },
    load: () => import('./sim/replay.ts'),
  },
  {
    path: ['sim', 'swarm'],
    summary: 'Simulate whole grids with random faults, and report each failure.',
    json: { shape: 'swarm', form: 'one' },
    load: () => import('./sim/swarm.ts'),
  },
  {
    path: ['web'],
    summary: 'Print the address of the web page, or serve the page if none runs.',
    json: { shape: 'page', form: 'one' },
    load: () => import('./web.ts'),
  },
  {
    path: ['accounting'],
    summary: 'Show what tasks of all jobs used: processor time, memory and failures.',
    json: { shape: 'accounting', form: 'one' },
    load: () => import('./accounting.ts'),
  },
  {
    path: ['ledger'],
    summary: 'Show how the processor-time of each allocation was used.',
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
    summary: 'Copy jobs, inputs, reservations, identity and sites into a new folder.',
    json: { shape: 'backup', form: 'one' },
    load: () => import('./backup.ts'),
  },
  {
    path: ['restore'],
    summary: 'Restore a backup into the home folder.',
    json: { shape: 'backup', form: 'one' },
    load: () => import('./restore.ts'),
  },
  {
    path: ['init'],
    summary: "Create this home folder's identity, or renew its certificates.",
    json: { shape: 'identity', form: 'one' },
    load: () => import('./init.ts'),
  },
  {
    path: ['identity', 'show'],
    summary: 'Show the identity of this home folder.',
    json: { shape: 'identity', form: 'one' },
    load: () => import('./identity/show.ts'),
  },
  {
    path: ['identity', 'issue'],
    summary: 'Issue certificates for another host or user.',
    json: { shape: 'identity', form: 'one' },
    load: () => import('./identity/issue.ts'),
  },
  {
    path: ['identity', 'revoke'],
    summary: "Revoke a user's certificate.",
    json: { shape: 'revoked', form: 'one' },
    load: () => import('./identity/revoke.ts'),
  },
  {
    path: ['addjob'],
    summary: 'Submit a job file (OurGrid\'s name for "job submit").',
    json: { shape: 'submission', form: 'one' },
    load: () => import('./addjob.ts'),
  },
  {
    path: ['waitforjob'],
    summary: 'Wait for jobs to end (OurGrid\'s name for "job wait").',
    json: { shape: 'job', form: 'array' },
    load: () => import('./job/wait.ts'),
  },
  {
    path: ['canceljob'],
    summary: 'Cancel running jobs (OurGrid\'s name for "job cancel").',
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
    summary: 'Run the server of the web page in the foreground.',
    load: () => import('./run/web.ts'),
  },
  {
    path: ['run', 'site'],
    summary: 'Keep the connection to one site, in the foreground.',
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
