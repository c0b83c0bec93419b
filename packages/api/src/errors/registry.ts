/** Names of the gRPC statuses that carry our errors. */
export type StatusName = 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'ALREADY_EXISTS' | 'PERMISSION_DENIED' | 'UNAUTHENTICATED' | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION' | 'UNAVAILABLE' | 'DEADLINE_EXCEEDED' | 'INTERNAL' | 'UNIMPLEMENTED' | 'ABORTED' | 'CANCELLED' | 'DATA_LOSS';

/** What a code means to a caller. */
export interface ErrorEntry {
  /** Name of the gRPC status that carries it. */
  readonly status: StatusName;
  /** Whether the same call may go through later. */
  readonly retryable: boolean;
  /** One sentence: what to do. */
  readonly advice: string;
}

/** Every stable code, in the order of the alphabet. After adding one, run scripts/generate: it writes docs/errors.md and errors.proto. */
export const registry = {
  MUT_AGENT_STOPPED: { status: 'UNAVAILABLE', retryable: false, advice: 'The agent was told to stop; the task runs again elsewhere.' },
  MUT_ALLOCATION_ENDED: { status: 'UNAVAILABLE', retryable: false, advice: 'The allocation was released or ended early; its tasks run again elsewhere.' },
  MUT_ALREADY_RUNNING: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'Another process uses this home folder; stop it, or start with another MUTIRAO_HOME.' },
  MUT_BAD_CONFIG: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Correct the flag, the environment variable or the line of the configuration file that the message names; --help lists them all.' },
  MUT_BAD_DURATION: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Write a duration as 90s, 1h30m or HH:MM:SS.' },
  MUT_BAD_REQUEST: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Correct the value that the message names.' },
  MUT_BAD_SELECTOR: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Write a selector as 5, 1-10, 1-10:2, 1,3,5-8, last or all.' },
  MUT_BAD_SIZE: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Write a size as 4096, 64K, 2GiB or 1.5GB.' },
  MUT_CANCELLED: { status: 'CANCELLED', retryable: false, advice: 'The work was cancelled; submit it again if that was a mistake.' },
  MUT_CHECK_FAILED: { status: 'ABORTED', retryable: false, advice: 'The task\'s check did not accept the result; its words are in the replica\'s detail.' },
  MUT_CLAIM_NOT_YOURS: { status: 'PERMISSION_DENIED', retryable: false, advice: 'A claim is used by the user whom it names; ask for a reservation of your own.' },
  MUT_CLUSTER_RESTARTED: { status: 'ABORTED', retryable: true, advice: 'The cluster process was started anew and what ran in it ended; submit the request again.' },
  MUT_COMMAND_FAILED: { status: 'ABORTED', retryable: false, advice: 'At least one process of the command ended with a status other than 0; read its output.' },
  MUT_COMMAND_NOT_FOUND: { status: 'NOT_FOUND', retryable: false, advice: 'Name a command that is on the machine, or bring it along with put or store; standard error says which one is missing.' },
  MUT_CONTENT_MISMATCH: { status: 'DATA_LOSS', retryable: true, advice: 'The bytes are not those that were announced; see that the file does not change while it is read, and send it again.' },
  MUT_CONTENT_NOT_FOUND: { status: 'NOT_FOUND', retryable: false, advice: 'Upload the content before naming it by its hash.' },
  MUT_CONTENT_TOO_LARGE: { status: 'RESOURCE_EXHAUSTED', retryable: false, advice: 'Send less, or raise the limit that the message names.' },
  MUT_CREDENTIAL_COPIED: { status: 'PERMISSION_DENIED', retryable: false, advice: 'Another agent uses the name or the credential; each machine of an allocation attaches once. If that was not you, end the allocation.' },
  MUT_DATA_MISSING: { status: 'UNAVAILABLE', retryable: false, advice: 'Get the logs that the message names from the Parallel Workloads Archive (www.cs.huji.ac.il/labs/parallel/workload) and set MUTIRAO_DATA to a folder that holds them as swf/NAME.swf.gz.' },
  MUT_DEADLINE_EXCEEDED: { status: 'DEADLINE_EXCEEDED', retryable: true, advice: 'The answer took too long; try again, with a later deadline if the work is large.' },
  MUT_DISK_FULL: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'Make room on the disk that the message names.' },
  MUT_DRAINING: { status: 'UNAVAILABLE', retryable: false, advice: 'The machine takes no new work; the task runs elsewhere.' },
  MUT_FILE_NOT_FOUND: { status: 'NOT_FOUND', retryable: false, advice: 'Put the file where the message says, or correct the path.' },
  MUT_INPUT_CHANGED: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'Put the file back as it was when the job was submitted and retry the job, or submit it again to use the file as it is now.' },
  MUT_INPUT_MISSING: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Put the file where the message says, or correct the path; relative paths begin at the job\'s home directory.' },
  MUT_INTERNAL: { status: 'INTERNAL', retryable: false, advice: 'This is a bug of Mutirao; report it with the log.' },
  MUT_JDF_DIALECT: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Rewrite the job as a JDF of OurGrid 3 to 4.2; docs/jdf.md says how.' },
  MUT_JDF_NO_REMOTE: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give the task a "remote:" line, or the job one before its first task.' },
  MUT_JDF_NO_TASK: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Add at least one "task:" to the job.' },
  MUT_JDF_SYNTAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Correct the file at the line and column that the message names; docs/jdf.md has the grammar.' },
  MUT_JOURNAL_CORRUPT: { status: 'DATA_LOSS', retryable: false, advice: 'Move the journal away and restore a copy of it; without one, start with an empty home folder.' },
  MUT_JOURNAL_FAILED: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'Make room on the disk of the home folder, see that it can be written, and start the process again; nothing that was promised is lost.' },
  MUT_JOURNAL_NEWER: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'A later release of Mutirao wrote this journal; start that release, or use another home folder.' },
  MUT_LAUNCH_FAILED: { status: 'UNAVAILABLE', retryable: false, advice: 'The machine could not start the task, which runs again elsewhere; see the agent\'s log and its folder.' },
  MUT_LOOPBACK_ONLY: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'Use 127.0.0.1, localhost or ::1; this is not served to other hosts.' },
  MUT_MACHINES_DIALECT: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Rewrite the list as workers (SDF) or grid machines (GDF); docs/machines.md has the forms.' },
  MUT_MACHINES_SYNTAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Correct the file at the line and column that the message names; docs/machines.md has the forms.' },
  MUT_MACHINE_LEFT: { status: 'UNAVAILABLE', retryable: false, advice: 'The machine said good-bye; its tasks run again elsewhere.' },
  MUT_MACHINE_LOST: { status: 'UNAVAILABLE', retryable: false, advice: 'The machine went away without a word; its tasks run again elsewhere.' },
  MUT_MACHINE_MOVED: { status: 'UNAVAILABLE', retryable: false, advice: 'Another broker uses the machine now, since this one wanted nothing.' },
  MUT_MACHINE_QUARANTINED: { status: 'ABORTED', retryable: false, advice: 'The machine was caught with wrong results and gets nothing more; "mutirao machine trust" shows the evidence, "mutirao machine pardon" forgives it.' },
  MUT_MEMORY_MAX: { status: 'RESOURCE_EXHAUSTED', retryable: false, advice: 'Raise the memory limit of the job, or make the task use less.' },
  MUT_NODE_LOST: { status: 'UNAVAILABLE', retryable: true, advice: 'A node of the cluster cannot be reached, and what ran there is over; it is connected to again by itself, and the cluster\'s log says why not.' },
  MUT_NOT_FOUND: { status: 'NOT_FOUND', retryable: false, advice: 'Check the number; things of other users are not shown. "mutirao job list" and its kin list yours.' },
  MUT_NOT_OWNER: { status: 'PERMISSION_DENIED', retryable: false, advice: 'Only the owner may do this; files of other users are uploaded as blobs, and their jobs are their own.' },
  MUT_NOT_PACKED: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'Make the executable that is carried to sites with scripts/pack, or name one with --program.' },
  MUT_NO_MAJORITY: { status: 'ABORTED', retryable: false, advice: 'Too few machines agree on the task\'s result: where outputs differ rightly, in time stamps say, give a check that prints what is to be compared.' },
  MUT_NO_SPACE: { status: 'RESOURCE_EXHAUSTED', retryable: false, advice: 'Make room on the disk of the machine; the task runs again elsewhere.' },
  MUT_OUTPUT_FILES_MAX: { status: 'RESOURCE_EXHAUSTED', retryable: false, advice: 'Pack the files of the output folder into one, with tar for example.' },
  MUT_OUTPUT_FORBIDDEN: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Send the output to a folder that you may write and that is not Mutirao\'s own.' },
  MUT_OUTPUT_MAX: { status: 'RESOURCE_EXHAUSTED', retryable: false, advice: 'Raise the output limit of the job, or write to a file and fetch that.' },
  MUT_OUTPUT_MISSING: { status: 'NOT_FOUND', retryable: false, advice: 'See that the command writes the file where the job says; its standard error may tell why it did not.' },
  MUT_OVERLOADED: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'Wait a little and try again.' },
  MUT_PATH_ESCAPES: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Use a relative path that stays inside its folder, without "..", and no symbolic link that leads out.' },
  MUT_PATH_LEAVES_ROOT: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Keep the path inside the playpen or the storage: no ".." beyond it.' },
  MUT_PEER_TOO_SLOW: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'The other side reads too slowly and too much waits for it; see whether it is overloaded or stopped.' },
  MUT_PROCESSORS_MAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Ask for no more processors per task than a machine has.' },
  MUT_PROTOCOL: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'The other side broke the rules of the stream; check that both run the same release.' },
  MUT_REATTACH: { status: 'UNAVAILABLE', retryable: true, advice: 'The agent dials again at once and tells what it holds; nothing is to be done.' },
  MUT_RELEASED: { status: 'CANCELLED', retryable: false, advice: 'The request was released before it ended by itself.' },
  MUT_REPLACED: { status: 'ABORTED', retryable: false, advice: 'Another agent has attached under this machine\'s name. Give each machine a name of its own with --machine-id.' },
  MUT_REQUESTS_MAX: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'Wait until one of your requests at this cluster ends, or release one.' },
  MUT_REQUIREMENTS_SYNTAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Write requirements as in "os == linux && mem >= 512"; docs/jdf.md has the grammar.' },
  MUT_RESERVATION_EXCEEDED: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Ask for no more processors and no more time than the reservation has, which the message names.' },
  MUT_RESERVATION_OVER: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'The reservation is over; ask for a new one.' },
  MUT_RUN_TIME_MAX: { status: 'DEADLINE_EXCEEDED', retryable: false, advice: 'Raise the run time limit of the job, or make the task shorter.' },
  MUT_SITE_BUSY: { status: 'FAILED_PRECONDITION', retryable: true, advice: 'Wait until the site\'s provider is idle, or add --now to end what it does.' },
  MUT_SITE_EXISTS: { status: 'ALREADY_EXISTS', retryable: false, advice: 'Choose another name, or take the old site away first with "mutirao site remove".' },
  MUT_SITE_PROGRAM: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'The host cannot run this Mutirao: it needs Linux with glibc 2.28 or newer on the same kind of processor, and a home folder where programs may be run.' },
  MUT_SPOOL_FULL: { status: 'RESOURCE_EXHAUSTED', retryable: true, advice: 'The provider has no room for more outputs while their broker is away; they wait at their machines. Start the broker, or give the provider more disk or a larger --spool-bytes.' },
  MUT_SSH_DENIED: { status: 'PERMISSION_DENIED', retryable: false, advice: 'See that "ssh -o BatchMode=yes" to the host works by hand: it must let you in by a key, without asking for anything.' },
  MUT_SSH_HOST_KEY: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'Connect once by hand with ssh, compare the host\'s key with what its people publish, and accept it; where it has changed, find out why first.' },
  MUT_STAGING_FAILED: { status: 'UNAVAILABLE', retryable: false, advice: 'The machine could not put the inputs in place; the task runs again elsewhere. The detail says what went wrong.' },
  MUT_STOPPING: { status: 'UNAVAILABLE', retryable: true, advice: 'The process is stopping; try again when it is back.' },
  MUT_STORAGE_FULL: { status: 'RESOURCE_EXHAUSTED', retryable: false, advice: 'Give the agent a larger storage, or the task smaller inputs.' },
  MUT_SWF_SYNTAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give a log in the Standard Workload Format: lines of 18 numbers, plain or gzipped.' },
  MUT_TASK_LOST_OFTEN: { status: 'ABORTED', retryable: false, advice: 'The task may be what takes its machines down; see its memory use, then retry it.' },
  MUT_TEMPLATE_FAILED: { status: 'UNAVAILABLE', retryable: true, advice: 'Run the template by hand with the machine\'s name in its place; docs/machines.md says what each must do.' },
  MUT_TEMPLATE_NO_VALUE: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give the values with --array or --each-line, or write {{}} for a literal {}.' },
  MUT_TOKEN_UNSAFE: { status: 'FAILED_PRECONDITION', retryable: false, advice: 'Make the file that the message names readable by you alone (chmod 600), or the folder (chmod 700); a token that you remove is made anew.' },
  MUT_TRACE_EMPTY: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give a trace with at least one request that fits the machine; the message says what was dropped and why.' },
  MUT_TRACE_SYNTAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Give a debugging trace as a process of this release writes it with --trace, plain or gzipped.' },
  MUT_TRANSFER_FAILED: { status: 'UNAVAILABLE', retryable: true, advice: 'The other side of the transfer failed or never came; it is tried again.' },
  MUT_UNAUTHENTICATED: { status: 'UNAUTHENTICATED', retryable: false, advice: 'Use the token file of the server (MUTIRAO_HOME/token), readable by you alone; from another host, a certificate of its authority (docs/security.md).' },
  MUT_UNIMPLEMENTED: { status: 'UNIMPLEMENTED', retryable: false, advice: 'The server does not offer this; see that both sides run the same release.' },
  MUT_UNREACHABLE: { status: 'UNAVAILABLE', retryable: true, advice: 'Check that the process runs and the address is right; start a grid with "mutirao up".' },
  MUT_UNTRUSTED: { status: 'UNAUTHENTICATED', retryable: false, advice: 'The other side did not prove that it is the host at this address: see the host names and dates of its certificate, and whose authority signed it (docs/security.md).' },
  MUT_WALLTIME_ENDED: { status: 'UNAVAILABLE', retryable: false, advice: 'The allocation reached its walltime; its tasks run again elsewhere.' },
  MUT_WALLTIME_MAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Ask for no more than the walltime that the message names.' },
  MUT_WIDTH_MAX: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Ask for no more than the processors that the message names.' },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the registry. */
export type ErrorCode = keyof typeof registry;

/** Whether a text is a code of the registry. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(registry, text);
}
