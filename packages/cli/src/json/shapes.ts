/** A field of a JSON document: its type as docs/cli-json.md names it, and what it means. */
export type Field = readonly [type: string, meaning: string];

/** The fields of a JSON document, in the order in which they are printed. */
export type Shape = Readonly<Record<string, Field>>;

/** A value with exactly the fields of a shape: one left out, or one too many, does not compile. */
export type JsonOf<S extends Shape> = { readonly [K in keyof S]: unknown };

const instant = 'integer or null';

const jobFields = {
  job_id: ['integer', 'The number of the job at its broker.'],
  label: ['string', 'What the user calls it; may be empty.'],
  user_id: ['string', 'Whom it belongs to.'],
  status: ['string', '`running`, `finished`, `failed` or `cancelled`.'],
  submitted_unix_ms: ['integer', 'When the broker accepted it.'],
  ended_unix_ms: [instant, 'When its last task ended.'],
  task_count: ['integer', 'Tasks in all.'],
  ready_count: ['integer', 'Tasks that wait for a machine.'],
  running_count: ['integer', 'Tasks with a replica on a machine.'],
  finished_count: ['integer', 'Tasks whose result was accepted.'],
  failed_count: ['integer', 'Tasks given up.'],
  cancelled_count: ['integer', 'Tasks cancelled.'],
  replica_count: ['integer', 'Replicas placed so far.'],
  cancel_reason: ['string', 'Why it was cancelled; empty otherwise.'],
} satisfies Shape;

const ledgerFields = {
  requested_processor_ms: ['integer', 'Width times walltime that was asked for.'],
  held_processor_ms: ['integer', 'Held by this broker: used + losers + killed + idle.'],
  used_processor_ms: ['integer', 'Spent on replicas whose result was accepted.'],
  losers_processor_ms: ['integer', 'Spent on replicas that a sister overtook, or whose result was not accepted.'],
  killed_processor_ms: ['integer', 'Spent on replicas that were cancelled, or lost with their machine.'],
  idle_processor_ms: ['integer', 'Held while no replica ran.'],
} satisfies Shape;

/** Every JSON document of the command line. docs/cli-json.md is written from here, and a test compares. */
export const shapes = {
  allocation: {
    cluster: ['string', 'Name of the cluster.'],
    request_id: ['string', 'What the cluster calls the request.'],
  },
  cancelled_job: {
    job_id: ['integer', 'The job that was cancelled.'],
  },
  event: {
    sequence: ['integer', 'Position in the log of all events; pass it to `--after` to go on from here.'],
    at_unix_ms: ['integer', 'When it happened.'],
    type: ['string', 'A lower-case fact about a noun, such as `tasks.finished`.'],
    job_id: ['integer or null', 'The job that it is about.'],
    task_indexes: ['array of integer', 'The tasks that it is about.'],
    machine_id: ['string', 'The machine that it is about; may be empty.'],
    reason: ['string', 'A code of the error registry, or a sentence; may be empty.'],
  },
  explanation: {
    summary: ['string', 'One sentence that answers the question.'],
    details: ['array of string', 'Sentences, the most telling first.'],
  },
  grid: {
    home: ['string', 'The home folder of the grid.'],
    pid: ['integer', 'The process that supervises it.'],
    started_unix_ms: ['integer', 'When it was started.'],
    broker: ['string', 'Address of the broker.'],
    clusters: ['array of object', '`name`, `processors`, and the addresses `cluster` and `provider` of each.'],
    machines: ['integer', 'Time-shared lab machines.'],
  },
  job: jobFields,
  job_details: {
    ...jobFields,
    processors: ['integer', 'Processors that each task holds.'],
    replicas_max: ['integer', 'Most replicas of one task that run at once.'],
    failures_max: ['integer', 'Failures of a task before it is given up.'],
    home_directory: ['string', 'Folder where `check` runs.'],
    deadline_unix_ms: [instant, 'When the user wants it done.'],
    environment: ['object', 'Environment variables of its tasks.'],
    run_time_ms_max: ['integer', 'Limit on a replica; 0 is none.'],
    memory_bytes_max: ['integer', 'Limit on a replica; 0 is none.'],
    output_bytes_max: ['integer', 'Limit on standard output and error together; 0 is none.'],
    groups: ['array of object', 'Task groups: `task_count`, `command`, `check`, `requirements`, `input_count`, `output_count`, `no_op`.'],
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
  },
  machine_share: {
    machine_id: ['string', 'Name of the GridMachine.'],
    accepted_count: ['integer', 'Replicas whose result was accepted.'],
    other_count: ['integer', 'Replicas that ended otherwise, or run still.'],
    used_ms: ['integer', 'Time in which the accepted ones ran.'],
    other_ms: ['integer', 'Time in which the others ran.'],
    waited_ms_mean: ['integer or null', 'Mean time from placing a replica to its start: the way there, staging, waiting for a processor.'],
  },
  output: {
    job_id: ['integer', 'The job.'],
    task_index: ['integer', 'The task.'],
    replica_id: ['integer', 'The replica whose output it is.'],
    standard_output: ['string', 'As UTF-8.'],
    standard_error: ['string', 'As UTF-8.'],
    truncated: ['boolean', 'Whether the output limit cut it.'],
    files: ['array of object', 'Files brought home: `path`, `local_path`, `sha256`, `size_bytes`.'],
  },
  provider: {
    provider_id: ['string', 'Name of the provider.'],
    address: ['string', 'Where it listens.'],
    connected: ['boolean', 'Whether the broker has a stream to it.'],
    machines: ['integer', 'GridMachines that it offers now.'],
    last_error: ['string', 'Why the last connection failed; may be empty.'],
  },
  queue: {
    cluster: ['string', 'Name of the cluster.'],
    at_unix_ms: ['integer', 'When it was read.'],
    processors: ['integer', 'Processors in all.'],
    processors_free: ['integer', 'Processors that no request holds.'],
    requests: ['array of queued_request', 'Running and queued ones, then those that ended lately.'],
  },
  queued_request: {
    request_id: ['string', 'What the cluster calls it.'],
    user_id: ['string', 'Whose it is.'],
    width_processors: ['integer', 'Processors asked for.'],
    walltime_ms: ['integer', 'Upper limit of run time asked for.'],
    status: ['string', '`queued`, `running` or `ended`.'],
    submitted_unix_ms: ['integer', 'When it was submitted.'],
    starts_unix_ms: [instant, 'When it started; for a queued one, the latest instant that it was promised.'],
    ended_unix_ms: [instant, 'When it ended.'],
    end_reason: ['string', 'Why it ended; may be empty.'],
  },
  replica: {
    replica_id: ['integer', 'The number of the replica at its broker.'],
    machine_id: ['string', 'Where it ran.'],
    request_id: ['string', 'The allocation request that it ran in; may be empty.'],
    placed_unix_ms: ['integer', 'When the broker sent it.'],
    started_unix_ms: [instant, 'When its command started.'],
    ended_unix_ms: [instant, 'When it ended.'],
    outcome: ['string', '`succeeded`, `failed`, `cancelled`, `limited` or `broken`; empty while it runs.'],
    exit_status: ['integer', 'As a shell reports it.'],
    accepted: ['boolean', 'Whether its result is the task\'s.'],
    reason: ['string', 'A code of the error registry; may be empty.'],
    detail: ['string', 'More about the reason; may be empty.'],
  },
  request: {
    provider_id: ['string', 'Whose request it is.'],
    request_id: ['string', 'The provider\'s number for it.'],
    manager_request_id: ['string', 'What the resource manager calls it; empty until submitted.'],
    status: ['string', '`drafted`, `submitting`, `queued`, `running`, `ended`, `rejected` or `vanished`.'],
    width_processors: ['integer', 'Processors asked for.'],
    walltime_ms: ['integer', 'Upper limit of run time asked for.'],
    submitted_unix_ms: [instant, 'When it was submitted.'],
    started_unix_ms: [instant, 'When it started.'],
    ended_unix_ms: [instant, 'When it ended.'],
    seen_unix_ms: [instant, 'When the status was last seen at the resource manager.'],
    heuristic: ['string', 'What chose it.'],
    reasons: ['array of string', 'Why it is what it is, the deciding one first.'],
  },
  resource: {
    provider_id: ['string', 'Name of the provider.'],
    resource_kind: ['string', '`cluster` (space-shared) or `machines` (time-shared).'],
    processors: ['integer', 'Processors of the resource.'],
    requests_max: ['integer', 'Most requests of ours at once.'],
    walltime_ms_max: ['integer', 'Longest walltime that may be asked for.'],
    width_processors_max: ['integer', 'Most processors that a request may ask for.'],
    walltime_granularity_ms: ['integer', 'Walltimes are multiples of it.'],
    heuristic: ['string', 'The request heuristic.'],
    queued_requests: ['integer', 'Requests of ours in its queue.'],
    machines: ['integer', 'GridMachines that it offers now.'],
    draining: ['boolean', 'Whether it takes no more work.'],
    reasons: ['array of string', 'Why it asks for what it asks for, or for nothing.'],
  },
  retried: {
    job_id: ['integer', 'The job.'],
    retried_count: ['integer', 'Tasks that run again.'],
  },
  status: {
    jobs: ['array of job', 'Jobs that run, and the last that ended.'],
    providers: ['array of provider', 'The providers.'],
    machines: ['object', '`machine_count`, `processors`, `running_count`.'],
  },
  submission: {
    job_id: ['integer', 'The new job\'s number.'],
    task_count: ['integer', 'Tasks that were accepted.'],
  },
  task: {
    job_id: ['integer', 'Its job.'],
    task_index: ['integer', 'Position in the job, from 0.'],
    value: ['string', 'What `{}` stands for.'],
    status: ['string', '`waiting`, `ready`, `running`, `verifying`, `finished`, `failed` or `cancelled`.'],
    failure_count: ['integer', 'Failures so far.'],
    replicas: ['array of replica', 'Its replicas, first placed first.'],
  },
  told: {
    provider_id: ['string', 'The provider that was told.'],
    address: ['string', 'Where it listens.'],
  },
} satisfies Record<string, Shape>;

/** The name of a JSON document. */
export type ShapeName = keyof typeof shapes;
