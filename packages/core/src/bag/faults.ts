/**
 * Whose fault it is that a replica ended without success.
 *
 * `task`: its command, its names, links, permissions or limits. `user`: files at home that were changed, removed or cannot be written. `machine`: another task would meet
 * it there as well. `site`: the machine went away, or its owner lets it take nothing. `unknown`: nobody can say from one case.
 */
export type Fault = 'task' | 'user' | 'machine' | 'site' | 'unknown';

/** What a replica was doing when it went wrong. */
export type Phase = 'staging' | 'launching' | 'running' | 'collecting' | 'accepting';

/** One way in which a replica goes wrong. */
export interface FaultRow {
  readonly phase: Phase;
  /** What happens, for the documentation. */
  readonly happens: string;
  /** A code of the error registry. */
  readonly code: string;
  readonly fault: Fault;
  /** Errors of the operating system that are reported under this code; left out for a code that no such error causes. */
  readonly errnos?: readonly string[];
}

/** Names that the operating system refuses: too long, a file where a folder should be, links in a circle. */
const nameErrnos = ['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP', 'EINVAL', 'EILSEQ'] as const;
const fullErrnos = ['ENOSPC', 'EDQUOT'] as const;
/** The machine lacks something that any task needs, or its disk fails. */
const machineErrnos = ['EROFS', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ESTALE', 'ENODEV', 'ENXIO', 'ETIMEDOUT', 'EUCLEAN'] as const;

/**
 * All ways in which a replica goes wrong at a machine or at home, in the order of its life.
 *
 * docs/faults.md is written from it.
 */
export const faultRows: readonly FaultRow[] = [
  { phase: 'staging', happens: 'an input has a name that is too long, or two inputs are in each other\'s way (a file where a folder must be)', code: 'MUT_INPUT_UNPLACEABLE', fault: 'task', errnos: nameErrnos },
  { phase: 'staging', happens: 'a folder that the task\'s own user closed is in an input\'s way', code: 'MUT_INPUT_UNPLACEABLE', fault: 'task', errnos: ['EACCES', 'EPERM'] },
  { phase: 'staging', happens: 'a link leads an input out of the playpen or the storage', code: 'MUT_PATH_ESCAPES', fault: 'task' },
  { phase: 'staging', happens: 'the inputs are more than the machine\'s storage ever holds', code: 'MUT_STORAGE_FULL', fault: 'task' },
  { phase: 'staging', happens: 'an input was changed at home after the job was submitted', code: 'MUT_INPUT_CHANGED', fault: 'user' },
  { phase: 'staging', happens: 'an input is not at home any more, or cannot be read', code: 'MUT_INPUT_MISSING', fault: 'user' },
  { phase: 'staging', happens: 'an input vanished or was written to on its way (the next run reads it again, and reports one of the two above)', code: 'MUT_CONTENT_NOT_FOUND', fault: 'unknown' },
  { phase: 'staging', happens: 'an input does not have the bytes that were announced', code: 'MUT_CONTENT_MISMATCH', fault: 'unknown' },
  { phase: 'staging', happens: 'an input has more bytes than were announced', code: 'MUT_CONTENT_TOO_LARGE', fault: 'unknown' },
  { phase: 'staging', happens: 'a transfer broke again and again', code: 'MUT_TRANSFER_FAILED', fault: 'site' },
  { phase: 'staging', happens: 'the machine\'s disk is full', code: 'MUT_NO_SPACE', fault: 'machine', errnos: fullErrnos },
  { phase: 'staging', happens: 'the machine\'s file system is read-only or fails, or it has no more files or memory', code: 'MUT_MACHINE_UNFIT', fault: 'machine', errnos: machineErrnos },
  { phase: 'staging', happens: 'a machine driven by templates does not take files', code: 'MUT_TEMPLATE_FAILED', fault: 'machine' },
  { phase: 'staging', happens: 'anything else', code: 'MUT_STAGING_FAILED', fault: 'unknown' },
  { phase: 'launching', happens: 'no shell, or no further process, can be started', code: 'MUT_LAUNCH_FAILED', fault: 'machine', errnos: [...machineErrnos, 'EACCES', 'EPERM', 'ENOENT'] },
  { phase: 'launching', happens: 'the machine\'s disk is full', code: 'MUT_NO_SPACE', fault: 'machine', errnos: fullErrnos },
  { phase: 'launching', happens: 'the task takes more processors than the machine has', code: 'MUT_PROCESSORS_MAX', fault: 'site' },
  { phase: 'launching', happens: 'the machine takes no new work', code: 'MUT_DRAINING', fault: 'site' },
  { phase: 'launching', happens: 'machines did not set the processors of a gang aside in time', code: 'MUT_GANG_NOT_HELD', fault: 'site' },
  { phase: 'launching', happens: 'the folder of --chdir is another one on the machine, or is not there', code: 'MUT_WORK_FOLDER', fault: 'task' },
  { phase: 'launching', happens: 'anything else', code: 'MUT_STAGING_FAILED', fault: 'unknown' },
  { phase: 'running', happens: 'the command ends with another status than 0, or by a signal', code: 'MUT_COMMAND_FAILED', fault: 'task' },
  { phase: 'running', happens: 'a command is not found or cannot be executed', code: 'MUT_COMMAND_NOT_FOUND', fault: 'task' },
  { phase: 'running', happens: 'the task holds more memory than its limit', code: 'MUT_MEMORY_MAX', fault: 'task' },
  { phase: 'running', happens: 'the task runs longer than its limit', code: 'MUT_RUN_TIME_MAX', fault: 'task' },
  { phase: 'running', happens: 'the task prints more than its limit', code: 'MUT_OUTPUT_MAX', fault: 'task' },
  { phase: 'running', happens: 'the command fails while the machine\'s disk is full', code: 'MUT_NO_SPACE', fault: 'machine' },
  { phase: 'running', happens: 'the agent is stopped', code: 'MUT_AGENT_STOPPED', fault: 'site' },
  { phase: 'running', happens: 'a machine driven by templates does not answer', code: 'MUT_TEMPLATE_FAILED', fault: 'machine' },
  { phase: 'running', happens: 'a member of a gang is lost', code: 'MUT_GANG_LOST', fault: 'site' },
  { phase: 'running', happens: 'a machine gives up the processors of a gang', code: 'MUT_GANG_BROKEN', fault: 'site' },
  { phase: 'running', happens: 'members of a gang do not reach each other', code: 'MUT_GANG_CHANNEL_FAILED', fault: 'machine' },
  { phase: 'collecting', happens: 'an output is not there', code: 'MUT_OUTPUT_MISSING', fault: 'task', errnos: ['ENOENT'] },
  { phase: 'collecting', happens: 'an output cannot be read, has a path that is too long, or is a FIFO, socket or device', code: 'MUT_OUTPUT_UNREADABLE', fault: 'task', errnos: ['EACCES', 'EPERM', 'ENXIO', ...nameErrnos] },
  { phase: 'collecting', happens: 'a link in an output leads out of the playpen or nowhere, or to a folder that it is in', code: 'MUT_OUTPUT_LINK', fault: 'task' },
  { phase: 'collecting', happens: 'the path of an output leads out of the playpen or the storage', code: 'MUT_PATH_ESCAPES', fault: 'task' },
  { phase: 'collecting', happens: 'an output is written to while it is read', code: 'MUT_OUTPUT_CHANGED', fault: 'task' },
  { phase: 'collecting', happens: 'an output folder holds too many files', code: 'MUT_OUTPUT_FILES_MAX', fault: 'task' },
  { phase: 'collecting', happens: 'the machine\'s disk is full', code: 'MUT_NO_SPACE', fault: 'machine', errnos: fullErrnos },
  { phase: 'collecting', happens: 'the machine\'s file system fails, or it has no more files or memory', code: 'MUT_MACHINE_UNFIT', fault: 'machine', errnos: machineErrnos.filter((errno) => errno !== 'ENXIO') },
  { phase: 'collecting', happens: 'a transfer broke again and again', code: 'MUT_TRANSFER_FAILED', fault: 'site' },
  { phase: 'collecting', happens: 'the provider cannot be reached', code: 'MUT_UNREACHABLE', fault: 'site' },
  { phase: 'collecting', happens: 'the provider does not answer in time', code: 'MUT_DEADLINE_EXCEEDED', fault: 'site' },
  { phase: 'collecting', happens: 'the provider has too much to do', code: 'MUT_OVERLOADED', fault: 'site' },
  { phase: 'collecting', happens: 'the provider stops', code: 'MUT_STOPPING', fault: 'site' },
  { phase: 'collecting', happens: 'the provider has no room while the broker is away', code: 'MUT_SPOOL_FULL', fault: 'site' },
  { phase: 'collecting', happens: 'a machine driven by templates does not give files', code: 'MUT_TEMPLATE_FAILED', fault: 'machine' },
  { phase: 'collecting', happens: 'anything else', code: 'MUT_STAGING_FAILED', fault: 'unknown' },
  { phase: 'accepting', happens: 'the place of an output at home cannot be written', code: 'MUT_OUTPUT_FORBIDDEN', fault: 'user' },
  { phase: 'accepting', happens: 'an output leads out of its place at home', code: 'MUT_PATH_ESCAPES', fault: 'task' },
  { phase: 'accepting', happens: 'the check does not accept the result, or takes too long', code: 'MUT_CHECK_FAILED', fault: 'task' },
  { phase: 'accepting', happens: 'the bytes of an output did not arrive', code: 'MUT_CONTENT_NOT_FOUND', fault: 'site' },
  { phase: 'accepting', happens: 'the bytes of an output are not those that the machine announced', code: 'MUT_CONTENT_MISMATCH', fault: 'machine' },
  { phase: 'accepting', happens: 'too few machines agree on the result', code: 'MUT_NO_MAJORITY', fault: 'task' },
];

/** The code and the fault of an error of the operating system. */
export type PlacedError = Pick<FaultRow, 'code' | 'fault'>;

/** What an error of the operating system means in a phase; `unknown` for one that no row names. */
export function faultOfErrno(phase: Phase, errno: string): PlacedError {
  return faultRows.find((row) => row.phase === phase && row.errnos?.includes(errno) === true) ?? { code: 'MUT_STAGING_FAILED', fault: 'unknown' };
}

/** The fault of each code that machines report, which is the same in each phase. */
const faultsOfCodes = new Map<string, Fault>();
for (const { phase, code, fault } of faultRows) if (phase !== 'accepting' && !faultsOfCodes.has(code)) faultsOfCodes.set(code, fault);

/** Whose fault the end of a replica is that its machine reports with this code. */
export function faultOfCode(code: string): Fault {
  return faultsOfCodes.get(code) ?? 'unknown';
}

/** A task is given up when it ended so often for reasons that nobody can place. */
export const doubtsMax = 5;

/** A task is given up when its machine was taken away so often while it ran. No task is preempted so often, while one that ends its own agent or allocation would run for ever. */
export const stopsMax = 100;

/** What the grid does about each fault, for the documentation. */
export const consequences: Readonly<Record<Fault, string>> = {
  task: 'counts as a failure: runs again on another machine where there is one, as often as `--retries` says; machines keep their standing; requests stop with the job\'s last task',
  user: 'counts as a failure, as above; machines keep their standing',
  machine: 'runs again elsewhere without counting as a failure, 20 times at most; the task avoids the machine, which gets nothing for 10 s at once when its disk is full, else after three bad reports in a row, and longer each time',
  site: `runs again elsewhere without counting as a failure; nobody is blamed. A task whose machine was taken away ${stopsMax} times while it ran is given up`,
  unknown: `runs again elsewhere, and fails with this reason after ${doubtsMax} times; the task avoids the machine, which is left alone only after tasks of two jobs, or of one that has finished tasks, ended so there`,
};
