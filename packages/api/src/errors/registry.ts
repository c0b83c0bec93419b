/** Names of the gRPC statuses that carry our errors. */
export type StatusName =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
  | 'INTERNAL'
  | 'UNIMPLEMENTED'
  | 'ABORTED'
  | 'CANCELLED'
  | 'DATA_LOSS'
  | 'OUT_OF_RANGE';

/** What a code means to a caller. */
export interface ErrorEntry {
  /** Name of the gRPC status that carries it. */
  readonly status: StatusName;
  /** Whether the same call may go through later. */
  readonly retryable: boolean;
  /** One sentence: what to do. */
  readonly advice: string;
}

/**
 * Every stable code, in the order of the alphabet. After adding one, run scripts/generate: it writes
 * docs/reference/errors.md and errors.proto.
 */
export const registry = {
  MUT_ADDRESS_TAKEN: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Stop the process that listens there, or choose another port with the option that gave this one ' +
      '(--listen, --metrics, --port); port 0 means any free port.',
  },
  MUT_AGENT_STOPPED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'The agent was asked to stop; the task runs again elsewhere.',
  },
  MUT_ALLOCATION_ENDED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'The allocation was released or ended early; its tasks run again elsewhere.',
  },
  MUT_ALREADY_RUNNING: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Another process does this already; the message names it. Stop that one, or use another home folder ' +
      '(--home, MUTIRAO_HOME).',
  },
  MUT_ANSWER_TOO_LARGE: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Ask for less: for a part of it, or for an answer without the field that the message names.',
  },
  MUT_AUTHORITY_EXPOSED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Install bubblewrap on the machine, move the key with "mutirao init --authority FOLDER" to where the ' +
      "agent's account cannot read it, or run the agent under another account.",
  },
  MUT_BAD_CONFIG: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Correct the flag, the environment variable or the line of the configuration file that the message names; ' +
      '--help lists them all.',
  },
  MUT_BAD_DURATION: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Write a duration as 90s, 1h30m or HH:MM:SS.',
  },
  MUT_BAD_REPORT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'The machine reported what cannot be, or what it was not asked for, and gets nothing more; "mutirao ' +
      'machine trust" shows the evidence, "mutirao machine reset-trust" forgives it.',
  },
  MUT_BAD_REQUEST: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Correct the value that the message names.',
  },
  MUT_BAD_RESOURCE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Write GPUs as 1, 0.5 or 2:a100, and a named resource as NAME=AMOUNT, such as licence=2 or scratch=200G.',
  },
  MUT_BAD_SELECTOR: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Write numbers as 5, 1-10, 1-10:2 or 1,3,5-8; jobs and tasks may also be chosen with last and all.',
  },
  MUT_BAD_SIZE: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Write a size as 4096, 64K, 2GiB or 1.5GB.' },
  MUT_CANCELLED: {
    status: 'CANCELLED',
    retryable: false,
    advice:
      'The message says what was stopped and what goes on. "mutirao job list" shows your jobs; "mutirao job ' +
      'retry N" runs cancelled tasks again.',
  },
  MUT_CHECK_FAILED: {
    status: 'ABORTED',
    retryable: false,
    advice: "The task's check did not accept the result; its words are in the replica's detail.",
  },
  MUT_CLAIM_EARLY: {
    status: 'FAILED_PRECONDITION',
    retryable: true,
    advice: 'Show the claim again once the reservation has begun; the message says when.',
  },
  MUT_CLAIM_ELSEWHERE: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Show the claim at the resource that it names.',
  },
  MUT_CLAIM_FORGED: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'Show the claim as "mutirao reservation show" prints it, whole and unchanged, to the manager that signed it.',
  },
  MUT_CLAIM_LATE: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'The reservation is over; ask for a new one.',
  },
  MUT_CLAIM_NOT_YOURS: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice: 'Only the user that the claim names can use it; request a reservation of your own.',
  },
  MUT_CLAIM_SUPERSEDED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'The reservation has moved; show the new claim that "mutirao reservation show" prints.',
  },
  MUT_CLAIM_UNCONFIRMED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Confirm the hold before it lapses, then show the claim.',
  },
  MUT_CLAIM_USED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'The reservation is in use already; who repeats a claim after a failure sends the same client_request_id.',
  },
  MUT_CLUSTER_RESTARTED: {
    status: 'ABORTED',
    retryable: true,
    advice: 'The cluster process was started again and what ran in it ended; submit the request again.',
  },
  MUT_COMMAND_FAILED: {
    status: 'ABORTED',
    retryable: false,
    advice: 'At least one process of the command ended with a status other than 0; read its output.',
  },
  MUT_COMMAND_NOT_FOUND: {
    status: 'NOT_FOUND',
    retryable: false,
    advice:
      'Tasks start in an empty folder. Bring programs and scripts with --put or --store, or name a command that ' +
      'is installed on the machine; standard error says which one is missing.',
  },
  MUT_CONTENT_MISMATCH: {
    status: 'DATA_LOSS',
    retryable: true,
    advice:
      'The bytes are not those that were announced; see that the file does not change while it is read, and ' +
      'send it again.',
  },
  MUT_CONTENT_NOT_FOUND: {
    status: 'NOT_FOUND',
    retryable: false,
    advice: 'Upload the content before naming it by its hash.',
  },
  MUT_CONTENT_TOO_LARGE: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Send less, or raise the limit that the message names.',
  },
  MUT_CREDENTIAL_COPIED: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'Another agent uses the name or the credential; each machine of an allocation attaches once. If that was ' +
      'not you, end the allocation.',
  },
  MUT_CREDENTIAL_NAME: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'A credential is good for one machine alone. Start the agent with the --machine-id that the message ' +
      'names, or make an invitation for its own name with "mutirao machine invite NAME".',
  },
  MUT_DATA_MISSING: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice:
      'Get the logs that the message names from the Parallel Workloads Archive ' +
      '(www.cs.huji.ac.il/labs/parallel/workload) and set MUTIRAO_DATA to a folder that holds them as ' +
      'swf/NAME.swf.gz.',
  },
  MUT_DEADLINE_EXCEEDED: {
    status: 'DEADLINE_EXCEEDED',
    retryable: true,
    advice: 'The answer took too long; try again, with a later deadline if the work is large.',
  },
  MUT_DISK_FULL: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Make room on the disk that the message names.',
  },
  MUT_DRAINING: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'The machine takes no new work; the task runs elsewhere.',
  },
  MUT_END_BEFORE_START: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give an end after the start.' },
  MUT_FILE_NOT_FOUND: {
    status: 'NOT_FOUND',
    retryable: false,
    advice: 'Put the file where the message says, or correct the path.',
  },
  MUT_GANG_BROKEN: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'A machine of the gang was lost, or gave its processors up; the task runs again. The machine is named.',
  },
  MUT_GANG_CHANNEL_FAILED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice:
      'Members of a gang reach each other at the addresses that the message names; name the right ones with ' +
      '--gang-address where an agent starts.',
  },
  MUT_GANG_LOST: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'A machine of the gang is gone or out of reach; the task runs again on other machines.',
  },
  MUT_GANG_NOT_READY: {
    status: 'DEADLINE_EXCEEDED',
    retryable: false,
    advice:
      'The machines that the message names did not set the processors of a gang aside in time; see what they ' +
      'are busy with.',
  },
  MUT_GANG_UNSUITABLE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Leave out what the message names: a gang runs once at a time, on machines of one provider, and is ' +
      'neither voted on nor replicated.',
  },
  MUT_GROUP_ABORTED: {
    status: 'ABORTED',
    retryable: true,
    advice: 'Ask again; what a manager that did not answer still holds lapses by itself.',
  },
  MUT_HOLD_MAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Hold the place for no longer than the message names, and confirm it in time.',
  },
  MUT_HOME_UNUSABLE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Mend what the message names, or name another folder of your own with --home or MUTIRAO_HOME; it is made where it ' +
      'does not exist yet.',
  },
  MUT_INPUT_CHANGED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'To use the file as it is now, run "mutirao job retry JOB --current-inputs": tasks that have finished ' +
      'stay as they are. Or put the file back as it was, its time of change too (cp -p), and retry the job.',
  },
  MUT_INPUT_MISSING: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      "Put the file where the message says, or correct the path; relative paths begin at the job's home directory.",
  },
  MUT_INPUT_UNPLACEABLE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give inputs names of at most 255 bytes a part, and let none be a folder where another one is a file.',
  },
  MUT_INPUT_UNUSABLE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      "Bring a file that nothing writes to, such as a copy, and folders without files of Mutirao's own; the " +
      'message says which it is.',
  },
  MUT_INTERNAL: { status: 'INTERNAL', retryable: false, advice: 'This is a bug of Mutirao; report it with the log.' },
  MUT_INVITATION_REFUSED: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'An invitation is good once and for a limited time. Make another one with "mutirao machine invite NAME" ' +
      'where the provider runs, and give it to the agent with --invitation FILE, or --invitation - for standard ' +
      'input.',
  },
  MUT_ISOLATION_UNAVAILABLE: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Install bubblewrap (package "bubblewrap") and allow user namespaces, or set up sudo for --isolation ' +
      'account=NAME (docs/guides/isolation.md lists what hosts need), or start the agent with --isolation auto or none.',
  },
  MUT_JDF_DIALECT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Rewrite the job as a JDF of OurGrid 3 to 4.2; docs/reference/jdf.md says how.',
  },
  MUT_JDF_NO_REMOTE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give the task a "remote:" line, or the job one before its first task.',
  },
  MUT_JDF_NO_TASK: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Add at least one "task:" to the job.' },
  MUT_JDF_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Correct the file at the line and column that the message names; docs/reference/jdf.md has the grammar.',
  },
  MUT_JOB_CLOSED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Submit the tasks as a job of their own; only a job that was submitted open and not closed takes more.',
  },
  MUT_JOURNAL_CORRUPT: {
    status: 'DATA_LOSS',
    retryable: false,
    advice: 'Move the journal away and restore a copy of it; without one, start with an empty home folder.',
  },
  MUT_JOURNAL_FAILED: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice:
      'Make room on the disk of the home folder, see that it can be written, and start the process again; ' +
      'nothing that was promised is lost.',
  },
  MUT_JOURNAL_NEWER: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'A later release of Mutirao wrote this journal; start that release, or use another home folder.',
  },
  MUT_JOURNAL_POSITION: {
    status: 'OUT_OF_RANGE',
    retryable: false,
    advice:
      'The journal was restored or replaced: read again after sequence 0, with the instance that the answer names.',
  },
  MUT_KEY_REUSED: {
    status: 'ALREADY_EXISTS',
    retryable: false,
    advice:
      'Choose another key for another spec; to repeat a request say it exactly as before, its times written out ' +
      'and not counted from now.',
  },
  MUT_LAUNCH_FAILED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: "The machine could not start the task, which runs again elsewhere; see the agent's log and its folder.",
  },
  MUT_LOCAL_TIME: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give the time with its offset from UTC, as in the two that the message names.',
  },
  MUT_LOOPBACK_ONLY: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Use 127.0.0.1, localhost or ::1; this is not served to other hosts.',
  },
  MUT_MACHINES_DIALECT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Rewrite the list as workers (SDF) or grid machines (GDF); docs/reference/machine-lists.md has the forms.',
  },
  MUT_MACHINES_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Correct the file at the line and column that the message names; docs/reference/machine-lists.md has the forms.',
  },
  MUT_MACHINE_ATTACHED: {
    status: 'FAILED_PRECONDITION',
    retryable: true,
    advice:
      "An agent with this machine's credential is attached already; a second one is let in when the first has " +
      'gone. If you did not start two, somebody has copied the credential: "mutirao machine remove NAME", then ' +
      '"mutirao machine invite NAME".',
  },
  MUT_MACHINE_LEFT: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'The machine said good-bye; its tasks run again elsewhere.',
  },
  MUT_MACHINE_LOST: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'The machine went away without a word; its tasks run again elsewhere.',
  },
  MUT_MACHINE_MOVED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'Another broker uses the machine now, since this one wanted nothing.',
  },
  MUT_MACHINE_NAME_TAKEN_OVER: {
    status: 'ABORTED',
    retryable: false,
    advice:
      "Another agent has attached under this machine's name. Give each machine a name of its own with --machine-id.",
  },
  MUT_MACHINE_QUARANTINED: {
    status: 'ABORTED',
    retryable: false,
    advice:
      'The machine was caught with wrong results and gets nothing more; "mutirao machine trust" shows the ' +
      'evidence, "mutirao machine reset-trust" forgives it.',
  },
  MUT_MACHINE_QUOTA: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice:
      'One machine takes more than a machine may; the message names the quota. "mutirao quota" shows what is ' +
      'allowed, and the owner of the provider or broker can raise it with --quota.',
  },
  MUT_MACHINE_REMOVED: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'The machine\'s credential was withdrawn with "mutirao machine remove". "mutirao machine invite NAME" ' +
      'lets it join again.',
  },
  MUT_MACHINE_UNFIT: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: "The machine's own file system or limits failed, as the detail says; the task runs again elsewhere.",
  },
  MUT_MAINTENANCE_EXISTS: {
    status: 'ALREADY_EXISTS',
    retryable: false,
    advice:
      'Withdraw the maintenance ("mutirao reservation resource remove-maintenance") and announce it again, or ' +
      'give the ' +
      'other window another name (--id).',
  },
  MUT_MEMORY_MAX: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Ask for more memory (--memory), raise the limit (--limit-memory), or make the task use less.',
  },
  MUT_NODE_LOST: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice:
      'A node of the cluster cannot be reached, and what ran there is over; it is connected to again by itself, ' +
      "and the cluster's log says why not.",
  },
  MUT_NOT_CLAIMED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Only what is in use can be released; cancel the reservation instead.',
  },
  MUT_NOT_FOUND: {
    status: 'NOT_FOUND',
    retryable: false,
    advice:
      'Check the number or name; only your own jobs are shown. "mutirao job list" lists them, and "list" after ' +
      'another noun lists others.',
  },
  MUT_NOT_OWNER: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice: 'Only the owner may do this; files of other users are uploaded as blobs, and their jobs are their own.',
  },
  MUT_NOT_PACKED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Make the executable that is carried to sites with scripts/pack, or name one with --program.',
  },
  MUT_NO_CAPACITY_NOW: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Take one of the alternatives, or ask for it on demand: then it begins as soon as there is room.',
  },
  MUT_NO_COMMON_WINDOW: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice:
      'Give them more time between start and end, ask for less, or look at their calendars with "mutirao ' +
      'reservation calendar".',
  },
  MUT_NO_MAJORITY: {
    status: 'ABORTED',
    retryable: false,
    advice:
      "Too few machines agree on the task's result. If correct outputs differ, for example in time stamps, give a " +
      'check that prints the part to compare.',
  },
  MUT_NO_ROOM: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Take one of the alternatives, give it more time between start and end, or ask for less.',
  },
  MUT_NO_SPACE: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Make room on the disk of the machine; the task runs again elsewhere.',
  },
  MUT_OUTPUT_CHANGED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'See that nothing goes on writing to an output when the command has ended: wait in it for what runs in ' +
      'the background.',
  },
  MUT_OUTPUT_CONFLICT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Put {} or {#} into the place of the output, so that each task has one of its own, and write to other ' +
      'places than jobs that have not ended; --shared-places allows it where it is meant.',
  },
  MUT_OUTPUT_FILES_MAX: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Pack the files of the output folder into one, with tar for example.',
  },
  MUT_OUTPUT_FORBIDDEN: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: "Send the output to a folder that you may write and that is not Mutirao's own.",
  },
  MUT_OUTPUT_LINK: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      "Let links in an output lead to files and folders of the task's own, or remove them at the end of the " +
      'command; "cp -L" makes a copy of what is outside.',
  },
  MUT_OUTPUT_MAX: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Raise the output limit of the job, or write to a file and fetch that.',
  },
  MUT_OUTPUT_MISSING: {
    status: 'NOT_FOUND',
    retryable: false,
    advice: 'The command must write the file where the job says; its standard error may say why it did not.',
  },
  MUT_OUTPUT_UNREADABLE: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Let the command give read permission to its outputs, keep their paths below 4096 bytes, and remove ' +
      'FIFOs, sockets and devices; tar packs what has no other way.',
  },
  MUT_OUT_OF_MEMORY: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Ask for memory (--memory), so that fewer tasks share a machine, or make the task use less.',
  },
  MUT_OVERLOADED: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'Wait a little and try again.' },
  MUT_OVER_CAPACITY: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Ask for no more than the resource has, which the message names.',
  },
  MUT_OVER_OFFER: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Ask for no more than the owner offers, which the message names; "mutirao reservation resource list" shows it.',
  },
  MUT_PAGE_STALE: {
    status: 'ABORTED',
    retryable: false,
    advice: 'What you read has changed since its first page: read it again from the beginning, without a page_token.',
  },
  MUT_PATH_ESCAPES: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Use a relative path that stays inside its folder, without "..", and no symbolic link that leads out.',
  },
  MUT_PATH_LEAVES_ROOT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Keep the path inside the playpen or the storage: no ".." beyond it.',
  },
  MUT_PATH_UNUSABLE: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'See that this account may use the path that the message names, and that nothing else is in its place; or ' +
      'name another one.',
  },
  MUT_PEER_TOO_SLOW: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'The other side reads or sends too slowly; see whether it is overloaded or stopped, or the line too slow.',
  },
  MUT_PLATFORM_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Correct the file at the place that the message names; docs/guides/workflows.md says how processors are listed.',
  },
  MUT_PRE_ACQUIRE_NOT_SUPPORTED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Start the provider without --pre-acquire and --reservations: its cluster honours reservations by itself, ' +
      'and the provider passes claims on to it.',
  },
  MUT_PROCESSORS_MAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Request at most as many processors per task as one machine has. Start agents or cluster nodes with more ' +
      'processors, or use processors of several machines with --gang.',
  },
  MUT_PROTOCOL: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'The other side broke the rules of the stream; check that both run the same release.',
  },
  MUT_QUEUE_CLOSED: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice:
      'None needed: the provider submits again until the queue accepts jobs. If that takes long, ask the administrators ' +
      'of the cluster, or use another queue.',
  },
  MUT_REATTACH: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice: 'The agent reconnects at once and reports what it holds; you need not do anything.',
  },
  MUT_RELEASED: {
    status: 'CANCELLED',
    retryable: false,
    advice: 'The request was released before it ended by itself.',
  },
  MUT_REQUESTS_MAX: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Wait until one of your requests at this cluster ends, or release one.',
  },
  MUT_REQUIREMENTS_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Write requirements as in "os == linux && mem >= 512"; docs/reference/jdf.md has the grammar.',
  },
  MUT_RESERVATION_AMOUNT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give an amount as the message names it: 4 units, 30%, or a capacity such as 200KB/s.',
  },
  MUT_RESERVATION_BEGUN: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'What has begun cannot be moved; release or cancel it and ask for another.',
  },
  MUT_RESERVATION_DURATION: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give a duration of 1 ms or more, such as 2h.',
  },
  MUT_RESERVATION_EXCEEDED: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Ask for no more processors and no more time than the reservation has, which the message names.',
  },
  MUT_RESERVATION_OVER: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'The reservation is over; ask for a new one.',
  },
  MUT_RESERVATION_TOO_LONG: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Ask for no longer than the owner allows, which the message names, or for several reservations one after ' +
      'another.',
  },
  MUT_RESERVATION_UNSUPPORTED: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Reserve at a resource whose manager honours reservations: an embedded cluster that was started with ' +
      '--reservations.',
  },
  MUT_RESOURCES_MAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Ask for no more memory, GPUs or other resources per task than a machine has.',
  },
  MUT_RESOURCE_EXISTS: { status: 'ALREADY_EXISTS', retryable: false, advice: 'Choose another name for the resource.' },
  MUT_RESUME_OPEN: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Wait until that job has ended, or cancel it first.',
  },
  MUT_RESUME_OTHER: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice: 'Give the number of the job that this file was submitted as, or leave --resume out to run all of it.',
  },
  MUT_RUN_TIME_MAX: {
    status: 'DEADLINE_EXCEEDED',
    retryable: false,
    advice: 'Raise the run time limit of the job, or make the task shorter.',
  },
  MUT_SHARE_MAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Ask for a share of at most 100 %.' },
  MUT_SITE_BUSY: {
    status: 'FAILED_PRECONDITION',
    retryable: true,
    advice: "Wait until the site's provider is idle, or add --now to end what it does.",
  },
  MUT_SITE_EXISTS: {
    status: 'ALREADY_EXISTS',
    retryable: false,
    advice: 'Choose another name, or take the old site away first with "mutirao site remove".',
  },
  MUT_SITE_UNSUPPORTED_HOST: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'The host cannot run this Mutirao: it needs Linux with glibc 2.28 or newer on the same kind of processor, ' +
      'and a home folder where programs may be run.',
  },
  MUT_SPOOL_FULL: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice:
      'The provider has no room for more outputs while their broker is away; they wait at their machines. Start ' +
      'the broker, or give the provider more disk or a larger --spool-bytes.',
  },
  MUT_SSH_DENIED: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'See that "ssh -o BatchMode=yes" to the host works by hand: it must let you in by a key, without asking ' +
      'for anything.',
  },
  MUT_SSH_HOST_KEY: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      "Connect once by hand with ssh, compare the host's key with what its people publish, and accept it; where " +
      'it has changed, find out why first.',
  },
  MUT_SSH_SHELL: {
    status: 'FAILED_PRECONDITION',
    retryable: true,
    advice: 'See that "ssh -T" to the host runs a command by hand: its login shell has to be one that runs commands.',
  },
  MUT_STAGING_FAILED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice:
      'The machine could not put the inputs in place; the task runs again elsewhere. The detail says what went wrong.',
  },
  MUT_START_IN_PAST: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give a start that is still to come, or none for now.',
  },
  MUT_STOPPING: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice: 'The process is stopping; try again when it is back.',
  },
  MUT_STORAGE_FULL: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice: 'Give the agent a larger storage, or the task smaller inputs.',
  },
  MUT_SWF_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give a log in the Standard Workload Format: lines of 18 numbers, plain or gzipped.',
  },
  MUT_TASK_LOSS_LIMIT: {
    status: 'ABORTED',
    retryable: false,
    advice: 'The task may be what takes its machines down; see its memory use, then retry it.',
  },
  MUT_TEMPLATE_FAILED: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice:
      "Run the template by hand with the machine's name in its place; docs/reference/machine-lists.md says what each " +
      'must do.',
  },
  MUT_TEMPLATE_NO_VALUE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give the values with --array or --each-line, or write {{}} for a literal {}.',
  },
  MUT_TOKEN_UNSAFE: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Make the file that the message names readable by you alone (chmod 600), or the folder (chmod 700); a ' +
      'token that you remove is made again.',
  },
  MUT_TOO_MANY_MOVES: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice:
      'Take one of the alternatives: there is room only if more reservations of others moved than the owner allows.',
  },
  MUT_TRACE_EMPTY: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give a trace with at least one request that fits the machine; the message says what was dropped and why.',
  },
  MUT_TRACE_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give a debugging trace as a process of this release writes it with --trace, plain or gzipped.',
  },
  MUT_TRANSFER_FAILED: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice: 'The other side of the transfer failed or never came; it is tried again.',
  },
  MUT_UNAUTHENTICATED: {
    status: 'UNAUTHENTICATED',
    retryable: false,
    advice:
      'Use the token file of the server (MUTIRAO_HOME/token), readable by you alone; from another host, a ' +
      'certificate of its authority (docs/reference/security.md).',
  },
  MUT_UNIMPLEMENTED: {
    status: 'UNIMPLEMENTED',
    retryable: false,
    advice: 'The server does not offer this; see that both sides run the same release.',
  },
  MUT_UNKNOWN_RESOURCE: {
    status: 'NOT_FOUND',
    retryable: false,
    advice: 'Name a resource as "mutirao reservation resource list" shows it.',
  },
  MUT_UNKNOWN_UNIT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give the amount in a unit that the message names.',
  },
  MUT_UNREACHABLE: {
    status: 'UNAVAILABLE',
    retryable: true,
    advice:
      'Check that the process runs and that the address and home folder (--home, MUTIRAO_HOME) are right; ' +
      '"mutirao up" starts a grid on this machine.',
  },
  MUT_UNSAFE_ATTRIBUTE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'A path of the job uses what the machine states where that cannot be part of a name; the machine gets ' +
      'nothing more until its owner corrects the attribute (--attribute) and you forgive it with "mutirao ' +
      'machine reset-trust".',
  },
  MUT_UNTRUSTED: {
    status: 'UNAUTHENTICATED',
    retryable: false,
    advice:
      'The other side did not prove that it is the host at this address: see the host names and dates of its ' +
      'certificate, and whose authority signed it (docs/reference/security.md).',
  },
  MUT_USER_QUOTA: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: false,
    advice:
      'The message names the quota and what frees some of it; "mutirao quota" shows yours, and the owner of the ' +
      'process can raise them with --quota.',
  },
  MUT_USER_RATE: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Wait a few seconds and call less often; "mutirao quota" shows how many calls per second are allowed.',
  },
  MUT_USER_RESERVED_LIMIT: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice:
      'Ask for no more than one user may hold, which the message names, wait until one of your reservations of ' +
      'the resource is over, or give one back.',
  },
  MUT_WALLTIME_ENDED: {
    status: 'UNAVAILABLE',
    retryable: false,
    advice: 'The allocation reached its walltime; its tasks run again elsewhere.',
  },
  MUT_WALLTIME_MAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Ask for no more than the walltime that the message names. A task that needs longer has to be split, to ' +
      'go on from files that it wrote, or to run where longer walltimes are given.',
  },
  MUT_WEB_ORIGIN_FORBIDDEN: {
    status: 'PERMISSION_DENIED',
    retryable: false,
    advice:
      'Open the page by the address that "mutirao web" prints; other pages and other names of this host may not ' +
      'use it.',
  },
  MUT_WEB_STREAMS_MAX: {
    status: 'RESOURCE_EXHAUSTED',
    retryable: true,
    advice: 'Close pages of this grid that are open in other tabs or browsers.',
  },
  MUT_WIDTH_MAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Ask for no more than the processors that the message names.',
  },
  MUT_WINDOW_TOO_SHORT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Leave at least the duration between the earliest start and the latest end.',
  },
  MUT_WORKFLOW_COST: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give run times, sizes and costs as numbers of 0 or more.',
  },
  MUT_WORKFLOW_CYCLE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Take one of the edges away that the message names, so that some task can begin.',
  },
  MUT_WORKFLOW_DANGLING_EDGE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Let every edge lead from a task of the workflow to another one.',
  },
  MUT_WORKFLOW_DUPLICATE_EDGE: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Keep one edge between two tasks; its data is all that goes that way.',
  },
  MUT_WORKFLOW_DUPLICATE_TASK: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give every task an id of its own.',
  },
  MUT_WORKFLOW_EMPTY: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give the workflow at least one task.' },
  MUT_WORKFLOW_NO_COMMAND: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Give each task a command in the file, or one for all that have none with --task-command.',
  },
  MUT_WORKFLOW_NO_PRODUCER: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Let a task write the file, or name it among the inputs of the whole workflow.',
  },
  MUT_WORKFLOW_OUTPUT_CONFLICT: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Let one task write the file; two would overwrite each other.',
  },
  MUT_WORKFLOW_SYNTAX: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Correct the file at the place that the message names; docs/guides/workflows.md has the formats.',
  },
  MUT_WORKFLOW_UNKNOWN: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice:
      'Take out of the file what the message names, or correct its name; docs/reference/workflow-formats.md lists ' +
      'all that is read.',
  },
  MUT_WORKFLOW_UNSUPPORTED: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Change the file as the message says; it asks for something that is not done here.',
  },
  MUT_WORKFLOW_VERSION: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Convert the file to a version that the message names.',
  },
  MUT_WORKFLOW_WIDTH: {
    status: 'INVALID_ARGUMENT',
    retryable: false,
    advice: 'Let a task take whole numbers of processors, no more than there are.',
  },
  MUT_WORK_FOLDER: {
    status: 'FAILED_PRECONDITION',
    retryable: false,
    advice:
      'Submit from a folder on a file system that the machines share, or leave --in-place and --chdir out and ' +
      'bring files with --put and --get.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the registry. */
export type ErrorCode = keyof typeof registry;

/** Whether a text is a code of the registry. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(registry, text);
}
