import { accountingShapes } from './accounting-shapes.ts';
import { backupShapes } from './backup-shapes.ts';
import { simulationShapes } from './simulation-shapes.ts';
import { gatheredShapes } from './gathered-shapes.ts';
import { machineShapes } from './machine-shapes.ts';
import { providerQueueShapes } from './provider-queue-shapes.ts';
import { scoreShapes } from './score-shapes.ts';
import { reservationShapes } from './reservation-shapes.ts';
import { trustShapes } from './trust-shapes.ts';

/** A field of a JSON document: its type as docs/reference/json.md names it, and what it means. */
export type Field = readonly [type: string, meaning: string];

/** The fields of a JSON document, in the order in which they are printed. */
export type Shape = Readonly<Record<string, Field>>;

/** A value with exactly the fields of a shape: one left out, or one too many, does not compile. */
export type JsonOf<S extends Shape> = { readonly [K in keyof S]: unknown };

const instant = 'integer or null';

const jobFields = {
  job_id: ['integer', 'The number of the job at its broker.'],
  label: ['string', 'What the user calls it; may be empty.'],
  user_id: ['string', 'The user that it belongs to.'],
  status: ['string', '`running`, `finished`, `failed` or `cancelled`.'],
  submitted_unix_ms: ['integer', 'When the broker accepted it.'],
  ended_unix_ms: [instant, 'When its last task ended.'],
  open: ['boolean', 'Whether more tasks may be added, and it does not end before it is closed.'],
  task_count: ['integer', 'Tasks in all.'],
  waiting_count: ['integer', 'Tasks that wait for other tasks of the job, or are held.'],
  held_count: ['integer', 'Those of them that only wait for their release.'],
  ready_count: ['integer', 'Tasks that wait for a machine.'],
  dispatched_count: [
    'integer',
    'Tasks at a machine that have not begun there: their inputs are brought, or they wait for its processors.',
  ],
  running_count: ['integer', 'Tasks that run, or whose results are verified.'],
  finished_count: ['integer', 'Tasks whose result was accepted.'],
  failed_count: ['integer', 'Tasks given up.'],
  cancelled_count: ['integer', 'Tasks cancelled.'],
  replica_count: ['integer', 'Replicas dispatched so far.'],
  cancel_reason: ['reason or null', 'Why it was cancelled; null otherwise, and where nobody said why.'],
  extra_vote_count: ['integer', 'Results beyond the first of each task that votes took.'],
  doubtful_count: ['integer', 'Finished tasks whose result rests on a machine that was caught when the job was over.'],
  doubtful_task_indexes: ['array of integer', 'The first 100 of them.'],
  priority: ['integer', 'Of two jobs the one of the higher priority is served first; 0 unless stated.'],
  running_max: ['integer or null', 'Most of its tasks that run at once; null without a limit.'],
  awaited: [
    'array of object',
    'Jobs that it still waits for: `job_id`, and `condition` (`started`, `ended`, `succeeded`, `failed` or `each`).',
  ],
  begin_unix_ms: [instant, 'No task starts before this time; null when it has passed or none was given.'],
  expire_unix_ms: [instant, 'Tasks that have not started by this time are cancelled; null when none was given.'],
  awaited_reservation_id: [
    'integer or null',
    'The reservation that its tasks wait for while none of them is at a machine; null where they wait for none. ' +
      'The status is `running` all the same.',
  ],
  awaited_from_unix_ms: [
    instant,
    'When that reservation begins or began; null where it is over and the tasks wait until the job is retried ' +
      'or cancelled.',
  ],
} satisfies Shape;

const ledgerFields = {
  requested_processor_ms: ['integer', 'Width times walltime that was asked for.'],
  held_processor_ms: ['integer', 'Held by this broker: used + losers + killed + idle.'],
  used_processor_ms: ['integer', 'Spent on replicas whose result was accepted.'],
  losers_processor_ms: ['integer', 'Spent on replicas that a sibling overtook, or whose result was not accepted.'],
  killed_processor_ms: ['integer', 'Spent on replicas that were cancelled, or lost with their machine.'],
  idle_processor_ms: ['integer', 'Held while no replica ran.'],
} satisfies Shape;

const providerFields = {
  provider_id: ['string', 'Name of the provider.'],
  address: ['string', 'Where it listens.'],
  connected: ['boolean', 'Whether the broker has a stream to it.'],
  machines: ['integer', 'GridMachines that it offers now.'],
  last_error: ['string', 'Why the last connection failed; may be empty.'],
  draining_since_unix_ms: [instant, 'Since when its owner drains it; null while it takes work.'],
  draining_reason: ['string', 'The words of the owner who drains it; may be empty.'],
  running_tasks: ['integer', 'Tasks that were dispatched to it and have not ended.'],
} satisfies Shape;

/** Every JSON document of the command line. docs/reference/json.md is written from here, and a test compares. */
export const shapes = {
  allocation: {
    cluster: ['string', 'Name of the cluster.'],
    request_id: ['string', 'What the cluster calls the request.'],
  },
  appended_tasks: {
    job_id: ['integer', 'The open job.'],
    first_task_index: ['integer', 'Index of the first appended task; the tasks of a job count from 0.'],
    task_count: ['integer', 'Number of appended tasks.'],
  },
  closed_job: {
    job_id: ['integer', 'The job that was closed.'],
    task_count: ['integer', 'The tasks that it has.'],
    was_open: ['boolean', 'Whether it was open until now.'],
  },
  cancelled_job: {
    job_id: ['integer', 'The job that was cancelled.'],
    ended_before: ['string or null', 'How it had ended before it could be cancelled; null where it was cancelled now.'],
    cancelled_tasks: ['integer or null', 'How many single tasks were cancelled; null where the whole job was.'],
  },
  held_tasks: {
    job_id: ['integer', 'The job.'],
    held_count: ['integer', 'Tasks that are held from now on.'],
  },
  released_tasks: {
    job_id: ['integer', 'The job.'],
    released_count: ['integer', 'Tasks that may be started from now on.'],
  },
  forgotten_jobs: {
    job_ids: ['array of integer', 'The forgotten jobs, the oldest first.'],
  },
  updated_job: {
    job_id: ['integer', 'The job.'],
    priority: ['integer or null', 'Its new priority; null where that was left as it was.'],
    running_max: ['integer or null', 'Its new limit, 0 for none; null where that was left as it was.'],
  },
  event: {
    sequence: ['integer', 'Position in the log of all events; pass it to `--after` to go on from here.'],
    at_unix_ms: ['integer', 'When it happened.'],
    type: ['string', 'A lower-case fact about a noun, such as `tasks.finished`.'],
    job_id: ['integer or null', 'The job that it is about; null where it is about what jobs run on.'],
    task_indexes: ['array of integer', 'The tasks that it is about, the first 1,000,000 of them.'],
    task_count: ['integer', 'How many tasks it is about.'],
    machine_id: ['string', 'The machine that it is about; may be empty.'],
    provider_id: ['string', 'The provider that it is about; may be empty.'],
    request_id: ['string', 'The allocation request of that provider that it is about; may be empty.'],
    reason: ['string', 'A code of the error registry, or a sentence; may be empty.'],
  },
  page: {
    url: [
      'string',
      'Address of the page, with the token that it wants behind `#`; whoever has it can do on the grid what you can.',
    ],
    pid: ['integer', 'The process that serves it.'],
  },
  explanation: {
    summary: ['reason', 'Answers the question.'],
    waiting: ['reason or null', 'Why the object waits; null where it does not wait.'],
    details: ['array of reason', 'The most important first.'],
  },
  grid: {
    home: ['string', 'The home folder of the grid.'],
    pid: ['integer', 'The process that supervises it.'],
    started_unix_ms: ['integer', 'When it was started.'],
    broker: ['string', 'Address of the broker.'],
    clusters: ['array of object', '`name`, `processors`, and the addresses `cluster` and `provider` of each.'],
    machines: ['integer', 'Time-shared lab machines.'],
    reservations: ['string', 'Address of its reservation manager; empty where it has none.'],
    page: ['string', 'Address of its page, with the token that it wants; empty where it has none.'],
  },
  heuristic: {
    provider_id: ['string', 'Name of the provider.'],
    address: ['string', 'Where it listens.'],
    heuristic: [
      'string',
      'The request heuristic that decides from now on; `auto` for the best that this release knows, which ' +
        'requests name.',
    ],
    default_task_time_ms: [
      'integer',
      'Assumed run time of a task before any has finished; for `initial`, `adaptive` and `mixed`.',
    ],
  },
  identity: {
    folder: ['string', 'Where its files are.'],
    authority_sha256: ['string', 'Fingerprint of the authority that signed the certificates, in hexadecimal.'],
    signs: ['boolean', "Whether the folder has the authority's key, so that certificates can be made with it."],
    user_id: ['string', 'The user that the certificate names; empty without a certificate.'],
    user_serial: ['string', 'Its serial number, in hexadecimal.'],
    user_until_unix_ms: ['integer or null', 'When it expires.'],
    hosts: ['array of string', "Names and addresses in the host's certificate; empty where there is none."],
    host_serial: ['string', 'Its serial number, in hexadecimal.'],
    host_until_unix_ms: ['integer or null', 'When it expires.'],
  },
  job: jobFields,
  job_details: {
    ...jobFields,
    task_time_ms_half: [instant, 'Time within which half of its tasks end; null where it is not known, as the next.'],
    task_time_ms_ninetieth: [instant, 'Time within which nine tenths of them end.'],
    timed_count: ['integer', 'Runs that ended, by which these times are known.'],
    cut_off_count: ['integer', 'Runs that were cut off before they could end, and of which that much is known.'],
    slot_count: ['integer', 'Its replicas that run now.'],
    remaining_ms_min: [
      instant,
      'How long what is open takes at least, if it keeps these slots; null where nothing of it runs or no task ' +
        'has ended, as the next.',
    ],
    remaining_ms_max: [instant, 'How long it takes at most, as far as is known.'],
    planned_end_unix_ms: [instant, 'When it ends by the plan of the whole grid; null where nothing of it is planned.'],
    trouble: ['string', 'Why the broker takes nothing new, a full disk for example; empty while all is well.'],
    processors: ['integer', 'Processors that each task holds.'],
    replicas_max: ['integer', 'Most replicas of one task that run at once.'],
    failures_max: ['integer', 'Failures of a task before it is given up.'],
    memory_growth: [
      'number or null',
      'A task that used more memory than it asked for runs again with this many times as much, as `--retry-memory` ' +
        'sets it; null where it does not.',
    ],
    memory_auto: ['boolean', 'Whether tasks request the memory that earlier ones used, as with `--memory auto`.'],
    failed_tasks_max: [
      'integer or null',
      'Failed tasks that stop the job, as `--failures-max` sets it; null where they do not.',
    ],
    verification: ['string', 'As `--verify` takes it; empty where checks alone decide.'],
    scheduler: ['string', '`wqr`, `workqueue`, `storage-affinity`, `sufferage`, `min-min` or `plan`.'],
    site_selection: [
      'string or null',
      'Which resource tasks join that take several processors, as `--site-selection` takes it; null where its user ' +
        "says nothing and the grid's default decides.",
    ],
    replication_budget: [
      'string',
      'What its replicas may cost: `none` (no cap), `idle`, or per cent of what results took (`20%`).',
    ],
    home_directory: ['string', 'Folder where `check` runs.'],
    work_folder: [
      'string or null',
      'Folder of home that its tasks start in (`--in-place`, `--chdir`); null where each has an empty folder.',
    ],
    deadline_unix_ms: [instant, 'When the user wants it done.'],
    environment: ['object', 'Environment variables of its tasks.'],
    run_time_ms_max: ['integer', 'Limit on a replica; 0 is none.'],
    memory_bytes_max: ['integer', 'Limit on a replica; 0 is none.'],
    output_bytes_max: ['integer', 'Limit on standard output and error together; 0 is none.'],
    groups: [
      'array of object',
      'Task groups: `task_count`, `command`, `check`, `requirements`, `input_count`, `output_count`, `no_op`.',
    ],
  },
  job_report: {
    job_id: ['integer', 'The job.'],
    file: ['string', 'Where the report is.'],
    size_bytes: ['integer', 'Its size.'],
  },
  ...machineShapes,
  lease: {
    broker_id: ['string', 'Whose tasks they are.'],
    connected: ['boolean', 'Whether the broker is there.'],
    leased_tasks: ['integer', 'Leased tasks that have not been started.'],
    unstocked_tasks: ['integer', 'Those of them whose inputs are not all at the provider.'],
    horizon_ms: ['integer', 'For how long after the broker went away they may be started.'],
    standby_since_unix_ms: [instant, 'Since when the provider stands in for the broker; null while it does not.'],
    standby_until_unix_ms: [instant, 'Until when it may start tasks.'],
    spooled_reports: ['integer', 'Reports of machines that are kept until the broker has them.'],
    spooled_ends: ['integer', 'Replicas whose ends they report.'],
    spooled_bytes: ['integer', 'Bytes of outputs that are kept for it.'],
  },
  quota: {
    connector: ['string', 'Who counts: `broker`, `reservations`, or `provider NAME`.'],
    kind: ['string', 'What is counted: see docs/reference/configuration.md.'],
    used: ['number', 'What you have of it, in the unit of the kind: a count, bytes, or hours.'],
    allowed: ['number or null', 'What you may have; null for no limit.'],
  },
  ledger: {
    job_id: ['integer or null', 'The job asked for; null for all that this broker has held.'],
    rows: ['array of ledger_row', 'One per allocation, and one per provider of time-shared machines.'],
    total: ['ledger_total', 'The sums of the rows.'],
  },
  ledger_row: {
    provider_id: ['string', 'The provider.'],
    request_id: ['string', 'Its allocation request; empty for time-shared machines.'],
    ended: ['boolean', 'Whether it can still grow.'],
    ...ledgerFields,
  },
  ledger_total: ledgerFields,
  job_simulation: {
    trace: ['trace', 'The log of the local users.'],
    policy: ['string', 'Queue policy of the machine.'],
    load_factor: ['number', 'What submission times were multiplied by.'],
    heuristic: ['string', 'What chose the requests.'],
    seed: ['string', 'The same seed, the same runs.'],
    runs: ['array of simulated_run', 'Every run.'],
    turnaround_s: [
      'object',
      '`mean`, and `half_interval_95`: half of the 95 % confidence interval, null for a single run.',
    ],
    waste_processor_s: ['object', 'As `turnaround_s`.'],
    requests_made: ['object', 'As `turnaround_s`.'],
    ended_after_log_count: ['integer', 'Runs that ended after the last local request.'],
  },
  machine: {
    machine_id: ['string', 'Name of the GridMachine.'],
    provider_id: ['string', 'Who offers it.'],
    status: ['string', '`idle`, `busy`, `draining` or `quarantined`.'],
    processors: ['integer', 'Replicas of one processor that it runs at once.'],
    running_count: ['integer', 'Replicas that run on it.'],
    waiting_count: ['integer', 'Replicas sent ahead that wait there.'],
    finished_count: ['integer', 'Replicas that succeeded on it.'],
    failed_count: ['integer', 'Replicas that failed on it.'],
    joined_unix_ms: ['integer', 'When it came.'],
    until_unix_ms: [instant, 'When its allocation ends; null where it stays.'],
    request_id: ['string', 'The request that it was allocated by; may be empty.'],
    attributes: ['object', 'What requirements can ask for.'],
    credibility: [
      'number or null',
      'The probability of a result of it to be right, at least; null where the broker is of an earlier release.',
    ],
  },
  machine_replay: {
    file: ['string', 'The trace as it was named.'],
    machine: ['string', '`broker`, `provider`, `agent` or `cluster`.'],
    release: ['string', 'The release that wrote the trace.'],
    began_unix_ms: ['integer', 'When the process took over its state.'],
    span_ms: ['integer', 'From then to the last turn that was run.'],
    turn_count: ['integer', 'Turns that were run.'],
    compared_count: ['integer', 'Turns whose outcome was compared.'],
    input_counts: ['object', 'Inputs of these turns, by their kind.'],
    change_count: ['integer', 'Changes that the replay decided.'],
    command_count: ['integer', 'Commands that it decided.'],
    end: ['string', 'How the process ended: `stopped`, `failed`, or `cut` where the trace does not say.'],
    end_error: ['string', 'Why it failed; empty otherwise.'],
    half_line_dropped: ['boolean', 'Whether the last line was cut and left out.'],
    same: ['boolean', 'Whether all was the same and no invariant was broken.'],
    problem: ['replay_problem or null', 'The first thing that was not.'],
    story: ['array of string or null', 'The lines of `--about`; null without it.'],
  },
  machine_share: {
    machine_id: ['string', 'Name of the GridMachine.'],
    accepted_count: ['integer', 'Replicas whose result was accepted.'],
    other_count: ['integer', 'Replicas that ended otherwise, or run still.'],
    used_ms: ['integer', 'Time in which the accepted ones ran.'],
    other_ms: ['integer', 'Time in which the others ran.'],
    waited_ms_mean: [
      'integer or null',
      'Mean time from dispatching a replica to its start: the way there, staging, waiting for a processor.',
    ],
  },
  output: {
    job_id: ['integer', 'The job.'],
    task_index: ['integer', 'The task.'],
    replica_id: ['integer', 'The replica whose output it is.'],
    standard_output: ['string', 'As UTF-8.'],
    standard_error: ['string', 'As UTF-8.'],
    truncated: ['boolean', 'Whether the output limit cut it.'],
    files: [
      'array of object',
      'Files brought home: `path`, `local_path`, `sha256`, `size_bytes`, `gathered_in` (the index of the ' +
        'archives that hold it; null for a file of its own).',
    ],
  },
  output_part: {
    job_id: ['integer', 'The job.'],
    task_index: ['integer', 'The task.'],
    status: ['string', 'Status of the task now.'],
    replica_id: ['integer or null', 'The replica that wrote this output; null when none has started.'],
    machine_id: ['string', 'Where it runs; may be empty.'],
    standard_output_offset: ['integer', 'Offset of these bytes in the stream.'],
    standard_output_base64: ['string', 'The bytes.'],
    standard_error_offset: ['integer', 'Offset of these bytes in the stream.'],
    standard_error_base64: ['string', 'The bytes.'],
  },
  provider: providerFields,
  listed_provider: {
    ...providerFields,
    heuristic: [
      'string or null',
      'The request heuristic that decides now; null where it is away, gives no answer or asks for nothing.',
    ],
  },
  queue: {
    cluster: ['string', 'Name of the cluster.'],
    at_unix_ms: ['integer', 'When it was read.'],
    processors: ['integer', 'Processors in all.'],
    processors_free: ['integer', 'Processors that no request holds.'],
    requests: ['array of queued_request', 'Running and queued ones, then those that ended lately.'],
    reservations: ['array of honoured_reservation', 'Processors that are set aside, by start.'],
    nodes: [
      'array of object',
      'Nodes with memory and GPUs, empty for a cluster of processors: `name`, `processors`, `processors_free`, ' +
        '`memory_bytes` and `memory_bytes_free` (null if unknown), `gpus` (`gpu_id`, `kind`, `is_free`), `is_away`.',
    ],
  },
  queued_request: {
    request_id: ['string', 'What the cluster calls it.'],
    user_id: ['string', 'Whose it is.'],
    width_processors: ['integer', 'Processors asked for.'],
    slot: [
      'object or null',
      'What the request is a whole number of: `processors` of one node, `memory_bytes`, `gpus` and `gpu_kind` (null ' +
        'for any); null for single processors.',
    ],
    walltime_ms: ['integer', 'Upper limit of run time asked for.'],
    status: ['string', '`queued`, `running` or `ended`.'],
    submitted_unix_ms: ['integer', 'When it was submitted.'],
    starts_unix_ms: [
      instant,
      'When it started; for a queued one, the latest instant that it was promised, or in a queue by scores, the ' +
        'one that is planned.',
    ],
    ended_unix_ms: [instant, 'When it ended.'],
    end_reason: ['string', 'Why it ended; may be empty.'],
    reservation_id: ['integer or null', 'The reservation that it runs inside.'],
    ranked_unix_ms: [
      instant,
      'When it counts as submitted, of a queued one in a queue by scores: the earliest goes first.',
    ],
  },
  replica: {
    replica_id: ['integer', 'The number of the replica at its broker.'],
    machine_id: ['string', 'Where it ran.'],
    request_id: ['string', 'The allocation request that it ran in; may be empty.'],
    dispatched_unix_ms: ['integer', 'When the broker sent it.'],
    started_unix_ms: [instant, 'When its command started.'],
    ended_unix_ms: [instant, 'When it ended.'],
    outcome: ['string', '`succeeded`, `failed`, `cancelled`, `limited` or `broken`; empty while it runs.'],
    exit_status: ['integer', 'As a shell reports it.'],
    accepted: ['boolean', "Whether its result is the task's."],
    reason: ['string', 'A code of the error registry; may be empty.'],
    detail: ['reason or null', 'More about the reason; null where there is nothing to say.'],
  },
  replay_problem: {
    kind: ['string', '`difference` to what the process recorded, `invariant` (broken) or `failure` of the step.'],
    turn: ['integer', 'The turn, counted from 1.'],
    line: ['integer', 'The line of the trace where its inputs stand.'],
    at_unix_ms: ['integer', 'When it was.'],
    message: ['string', 'What is wrong, in one sentence.'],
    path: ['string', 'The first place that differs, as in `commands[3].demand`; empty where none does.'],
    expected: ['string', 'JSON of what the process recorded there, in the form that traces have; empty for nothing.'],
    found: ['string', 'The same of what the replay decided.'],
    inputs: ['array of object', 'The inputs of the turn, in the form that traces have.'],
  },
  error: {
    code: ['string', 'A code of the error registry; see reference/errors.md.'],
    message: ['string', 'What is wrong, with the value found and the value expected.'],
    advice: ['string', 'What to do about it.'],
    retryable: ['boolean', 'Whether the same command may succeed later.'],
    field: ['string', 'The field of the request that is wrong; may be empty.'],
    reason: ['reason or null', 'Why, for programs; null where only the message says it.'],
  },
  reason: {
    code: ['string', 'Stable, for programs; see reference/reasons.md. Empty for a sentence without one.'],
    parameters: ['object', 'What the sentence is made of; the last word of a name is its unit.'],
    text: ['string', 'One sentence for people.'],
  },
  request: {
    provider_id: ['string', 'Whose request it is.'],
    request_id: ['string', "The provider's number for it."],
    manager_request_id: ['string', 'What the resource manager calls it; empty until submitted.'],
    status: ['string', '`drafted`, `submitting`, `queued`, `running`, `ended`, `rejected` or `vanished`.'],
    width_processors: ['integer', 'Processors asked for.'],
    walltime_ms: ['integer', 'Upper limit of run time asked for.'],
    submitted_unix_ms: [instant, 'When it was submitted.'],
    started_unix_ms: [instant, 'When it started.'],
    ended_unix_ms: [instant, 'When it ended.'],
    seen_unix_ms: [instant, 'When the status was last seen at the resource manager.'],
    heuristic: ['string', 'What chose it, by its own name where `auto` decides.'],
    reasons: ['array of reason', 'Why it is what it is, the deciding one first.'],
  },
  resource: {
    provider_id: ['string', 'Name of the provider.'],
    resource_kind: ['string', '`cluster` (space-shared) or `machines` (time-shared).'],
    processors: ['integer', 'Processors of the resource.'],
    requests_max: ['integer', 'Most requests that this provider has at once.'],
    walltime_ms_max: ['integer', 'Longest walltime that may be asked for.'],
    width_processors_max: ['integer', 'Most processors that a request may ask for.'],
    walltime_granularity_ms: ['integer', 'Walltimes are multiples of it.'],
    heuristic: ['string', 'The request heuristic that decides now.'],
    default_task_time_ms: [
      'integer',
      'Assumed run time of a task before any has finished; for `initial`, `adaptive` and `mixed`.',
    ],
    heuristic_switched: ['boolean', 'Whether it was switched to while the provider ran.'],
    queued_requests: ['integer', 'Requests of this provider in the queue of its resource manager.'],
    machines: ['integer', 'GridMachines that it offers now.'],
    draining: ['boolean', 'Whether it takes no new work.'],
    draining_since_unix_ms: ['integer or null', 'Since when its owner drains it; null while it takes work.'],
    draining_reason: ['string', 'The words of the owner who drains it; may be empty.'],
    reasons: ['array of reason', 'Why it requests what it requests, or nothing.'],
    leases: ['array of lease', 'What brokers have leased to it, and what it keeps for those that are away.'],
    spool_trouble: ['string', 'Why reports or outputs wait at their machines; empty while they find room.'],
    queue_trouble: [
      'reason or null',
      'Why the queue of the resource is not known now; null while it is known, and where machines attach by ' +
        'themselves.',
    ],
  },
  retried: {
    job_id: ['integer', 'The job.'],
    retried_count: ['integer', 'Tasks that run again.'],
  },
  revoked: {
    serial: ['string', 'Serial number of the certificate, in hexadecimal.'],
    file: ['string', 'The list that it is in now.'],
  },
  status: {
    jobs: ['array of job', 'Jobs that run, and the last that ended.'],
    providers: ['array of provider', 'The providers.'],
    machines: ['object', '`machine_count`, `processors`, `running_count`.'],
    trouble: ['string', 'Why the broker takes nothing new, a full disk for example; empty while all is well.'],
  },
  ...reservationShapes,
  ...simulationShapes,
  submission: {
    job_id: ['integer', "The new job's number."],
    task_count: ['integer', 'Tasks that were accepted.'],
    resumed: ['resumed or null', 'What was taken over from an earlier job; null unless `--resume` is given.'],
    warnings: ['array of reason', 'What it requires that no known machine has.'],
  },
  resumed: {
    job_id: ['integer', 'The earlier job.'],
    taken_count: ['integer', 'Tasks that have its results and do not run.'],
    runs: ['array of object', '`task_index` and `reason` (a reason) of the first 1,000 tasks that run.'],
  },
  task: {
    job_id: ['integer', 'Its job.'],
    task_index: ['integer', 'Position in the job, from 0.'],
    value: ['string', 'What `{}` stands for.'],
    status: [
      'string',
      '`waiting`, `ready`, `dispatched` (at a machine, where it has not begun), `running`, `verifying`, `finished`, ' +
        '`failed` or `cancelled`.',
    ],
    failure_count: ['integer', 'Failures so far.'],
    waits_for: ['array of integer', 'The first of the tasks that it waits for and that have not finished.'],
    replicas: ['array of replica', 'Its replicas, first dispatched first.'],
    reused_from: [
      'object or null',
      '`job_id` and `task_index` of the task whose result it has, where it did not run since `--resume` took ' +
        'that over.',
    ],
  },
  simulated_run: {
    run: ['integer', 'Its number, from 0.'],
    instant_s: ['number', "When the job was submitted, in the log's seconds."],
    turnaround_s: ['number', "From the job's submission to its end."],
    waste_processor_s: ['number', 'Processor-time held less that of the tasks.'],
    task_processor_s: ['number', 'Processor-time of the tasks.'],
    requests_made: ['integer', 'Requests submitted, those withdrawn at the end included.'],
    ends_after_log: ['boolean', 'Whether it ended after the last local request.'],
  },
  site: {
    name: ['string', 'Of the site, and of its provider.'],
    ssh: ['string', 'Where ssh connects to.'],
    ssh_options: ['array of string', 'Options of ssh.'],
    manager: ['string', '`slurm`, `grid-engine`, `oar`, `embedded`, `none` or `commands`.'],
    status: [
      'string',
      '`connecting`, `copying`, `starting`, `connected`, `waiting` (for the next try), `failed`, or `stopped` ' +
        'when nobody keeps its connection.',
    ],
    since_unix_ms: [instant, 'When that began; null before the first try.'],
    detail: ['string', 'What went wrong, or a remark; may be empty.'],
    code: ['string', 'Of the error; empty without one.'],
    address: ['string', 'Here; leads to the provider. Empty before the first connection.'],
    provider_options: ['array of string', 'Further options of the provider.'],
    system: ['string', 'Of the host there, as `uname -sm` has it; empty before the first connection.'],
    folder: ['string', 'Where our files are there.'],
    provider_pid: [instant, "The provider's process there, as last seen."],
    provider_address: ['string', 'Where it listens there.'],
    program_sha256: ['string', 'Hash of the executable that it runs.'],
    outdated: ['boolean', 'Another release runs there until it is idle.'],
  },
  removed_site: {
    name: ['string', 'The site that was removed.'],
    ssh: ['string', 'Where ssh connected to.'],
  },
  ack: {
    provider_id: ['string', 'The provider that received the command.'],
    address: ['string', 'Where it listens.'],
  },
  ...backupShapes,
  ...trustShapes,
  ...accountingShapes,
  ...gatheredShapes,
  ...scoreShapes,
  ...providerQueueShapes,
} satisfies Record<string, Shape>;

/** The name of a JSON document. */
export type ShapeName = keyof typeof shapes;
