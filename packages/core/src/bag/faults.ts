/**
 * Whose fault it is that a replica ended without success.
 *
 * `task`: its command, its names, links, permissions or limits. `user`: files at home that were changed, removed or
 * cannot be written. `machine`: another task would meet it there as well. `site`: the machine went away, or its owner
 * lets it take nothing. `misconduct`: the machine states or reports what no honest one does. `unknown`: one case does
 * not show it.
 */
export type Fault = 'task' | 'user' | 'machine' | 'misconduct' | 'site' | 'unknown';

/** What a replica was doing when it went wrong. */
export type Phase = 'staging' | 'launching' | 'running' | 'collecting' | 'accepting';

/** One way in which a replica goes wrong. */
export interface FaultRow {
  readonly phase: Phase;
  /** A code of the error registry. */
  readonly code: string;
  readonly fault: Fault;
  /**
   * Errors of the operating system that are reported under this code; left out for a code that no such error causes.
   */
  readonly errnos?: readonly string[];
}

/** Names that the operating system refuses: too long, a file where a folder should be, links in a circle. */
const nameErrnos = ['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP', 'EINVAL', 'EILSEQ'] as const;
const fullErrnos = ['ENOSPC', 'EDQUOT'] as const;
/** The machine lacks something that any task needs, or its disk fails. */
const machineErrnos = [
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'ESTALE',
  'ENODEV',
  'ENXIO',
  'ETIMEDOUT',
  'EUCLEAN',
] as const;

/**
 * All ways in which a replica goes wrong at a machine or at home, in the order of its life.
 *
 * The table in docs/guides/troubleshooting.md is written from it.
 */
export const faultRows: readonly FaultRow[] = [
  {
    phase: 'staging',
    code: 'MUT_INPUT_UNPLACEABLE',
    fault: 'task',
    errnos: nameErrnos,
  },
  {
    phase: 'staging',
    code: 'MUT_INPUT_UNPLACEABLE',
    fault: 'task',
    errnos: ['EACCES', 'EPERM'],
  },
  {
    phase: 'staging',
    code: 'MUT_PATH_ESCAPES',
    fault: 'task',
  },
  {
    phase: 'staging',
    code: 'MUT_STORAGE_FULL',
    fault: 'task',
  },
  {
    phase: 'staging',
    code: 'MUT_INPUT_CHANGED',
    fault: 'user',
  },
  {
    phase: 'staging',
    code: 'MUT_INPUT_MISSING',
    fault: 'user',
  },
  {
    phase: 'staging',
    code: 'MUT_INPUT_UNUSABLE',
    fault: 'user',
  },
  {
    phase: 'staging',
    code: 'MUT_CONTENT_NOT_FOUND',
    fault: 'unknown',
  },
  {
    phase: 'staging',
    code: 'MUT_CONTENT_MISMATCH',
    fault: 'unknown',
  },
  {
    phase: 'staging',
    code: 'MUT_CONTENT_TOO_LARGE',
    fault: 'unknown',
  },
  { phase: 'staging', code: 'MUT_TRANSFER_FAILED', fault: 'site' },
  {
    phase: 'staging',
    code: 'MUT_NO_SPACE',
    fault: 'machine',
    errnos: fullErrnos,
  },
  {
    phase: 'staging',
    code: 'MUT_MACHINE_UNFIT',
    fault: 'machine',
    errnos: machineErrnos,
  },
  {
    phase: 'staging',
    code: 'MUT_TEMPLATE_FAILED',
    fault: 'machine',
  },
  { phase: 'staging', code: 'MUT_STAGING_FAILED', fault: 'unknown' },
  {
    phase: 'launching',
    code: 'MUT_LAUNCH_FAILED',
    fault: 'machine',
    errnos: [...machineErrnos, 'EACCES', 'EPERM', 'ENOENT'],
  },
  {
    phase: 'launching',
    code: 'MUT_NO_SPACE',
    fault: 'machine',
    errnos: fullErrnos,
  },
  {
    phase: 'launching',
    code: 'MUT_PROCESSORS_MAX',
    fault: 'site',
  },
  {
    phase: 'launching',
    code: 'MUT_RESOURCES_MAX',
    fault: 'site',
  },
  { phase: 'launching', code: 'MUT_DRAINING', fault: 'site' },
  {
    phase: 'launching',
    code: 'MUT_GANG_NOT_READY',
    fault: 'site',
  },
  {
    phase: 'launching',
    code: 'MUT_WORK_FOLDER',
    fault: 'task',
  },
  {
    phase: 'launching',
    code: 'MUT_AUTHORITY_EXPOSED',
    fault: 'site',
  },
  { phase: 'launching', code: 'MUT_STAGING_FAILED', fault: 'unknown' },
  {
    phase: 'running',
    code: 'MUT_COMMAND_FAILED',
    fault: 'task',
  },
  {
    phase: 'running',
    code: 'MUT_COMMAND_NOT_FOUND',
    fault: 'task',
  },
  { phase: 'running', code: 'MUT_MEMORY_MAX', fault: 'task' },
  { phase: 'running', code: 'MUT_OUT_OF_MEMORY', fault: 'task' },
  { phase: 'running', code: 'MUT_LAUNCH_FAILED', fault: 'machine' },
  { phase: 'running', code: 'MUT_RUN_TIME_MAX', fault: 'task' },
  { phase: 'running', code: 'MUT_OUTPUT_MAX', fault: 'task' },
  {
    phase: 'running',
    code: 'MUT_NO_SPACE',
    fault: 'machine',
  },
  { phase: 'running', code: 'MUT_AGENT_STOPPED', fault: 'site' },
  {
    phase: 'running',
    code: 'MUT_TEMPLATE_FAILED',
    fault: 'machine',
  },
  { phase: 'running', code: 'MUT_GANG_LOST', fault: 'site' },
  { phase: 'running', code: 'MUT_GANG_BROKEN', fault: 'site' },
  {
    phase: 'running',
    code: 'MUT_GANG_CHANNEL_FAILED',
    fault: 'machine',
  },
  {
    phase: 'collecting',
    code: 'MUT_OUTPUT_MISSING',
    fault: 'task',
    errnos: ['ENOENT'],
  },
  {
    phase: 'collecting',
    code: 'MUT_OUTPUT_UNREADABLE',
    fault: 'task',
    errnos: ['EACCES', 'EPERM', 'ENXIO', ...nameErrnos],
  },
  {
    phase: 'collecting',
    code: 'MUT_OUTPUT_LINK',
    fault: 'task',
  },
  {
    phase: 'collecting',
    code: 'MUT_PATH_ESCAPES',
    fault: 'task',
  },
  {
    phase: 'collecting',
    code: 'MUT_OUTPUT_CHANGED',
    fault: 'task',
  },
  {
    phase: 'collecting',
    code: 'MUT_OUTPUT_FILES_MAX',
    fault: 'task',
  },
  {
    phase: 'collecting',
    code: 'MUT_NO_SPACE',
    fault: 'machine',
    errnos: fullErrnos,
  },
  {
    phase: 'collecting',
    code: 'MUT_MACHINE_UNFIT',
    fault: 'machine',
    errnos: machineErrnos.filter((errno) => errno !== 'ENXIO'),
  },
  { phase: 'collecting', code: 'MUT_TRANSFER_FAILED', fault: 'site' },
  { phase: 'collecting', code: 'MUT_UNREACHABLE', fault: 'site' },
  {
    phase: 'collecting',
    code: 'MUT_DEADLINE_EXCEEDED',
    fault: 'site',
  },
  { phase: 'collecting', code: 'MUT_OVERLOADED', fault: 'site' },
  { phase: 'collecting', code: 'MUT_STOPPING', fault: 'site' },
  {
    phase: 'collecting',
    code: 'MUT_SPOOL_FULL',
    fault: 'site',
  },
  {
    phase: 'collecting',
    code: 'MUT_TEMPLATE_FAILED',
    fault: 'machine',
  },
  { phase: 'collecting', code: 'MUT_STAGING_FAILED', fault: 'unknown' },
  {
    phase: 'accepting',
    code: 'MUT_OUTPUT_FORBIDDEN',
    fault: 'user',
  },
  { phase: 'accepting', code: 'MUT_PATH_ESCAPES', fault: 'task' },
  {
    phase: 'accepting',
    code: 'MUT_CHECK_FAILED',
    fault: 'task',
  },
  {
    phase: 'accepting',
    code: 'MUT_CONTENT_NOT_FOUND',
    fault: 'site',
  },
  {
    phase: 'accepting',
    code: 'MUT_CONTENT_MISMATCH',
    fault: 'machine',
  },
  {
    phase: 'accepting',
    code: 'MUT_UNSAFE_ATTRIBUTE',
    fault: 'misconduct',
  },
  {
    phase: 'accepting',
    code: 'MUT_BAD_REPORT',
    fault: 'misconduct',
  },
  {
    phase: 'accepting',
    code: 'MUT_NO_MAJORITY',
    fault: 'task',
  },
];

/** The code and the fault of an error of the operating system. */
export type ClassifiedError = Pick<FaultRow, 'code' | 'fault'>;

/** What an error of the operating system means in a phase; `unknown` for one that no row names. */
export function faultOfErrno(phase: Phase, errno: string): ClassifiedError {
  return (
    faultRows.find((row) => row.phase === phase && row.errnos?.includes(errno) === true) ?? {
      code: 'MUT_STAGING_FAILED',
      fault: 'unknown',
    }
  );
}

/** The fault of each code that machines report, which is the same in each phase. */
const faultsOfCodes = new Map<string, Fault>();
for (const { phase, code, fault } of faultRows)
  if (phase !== 'accepting' && !faultsOfCodes.has(code)) faultsOfCodes.set(code, fault);

/** Whose fault the end of a replica is that its machine reports with this code. */
export function faultOfCode(code: string): Fault {
  return faultsOfCodes.get(code) ?? 'unknown';
}

/** Whose fault it is that home does not take the result of a replica, for this reason. */
export function faultAtHome(code: string): Fault {
  return faultRows.find((row) => row.phase === 'accepting' && row.code === code)?.fault ?? 'unknown';
}

/** Whether an end with this code is held against its machine alone, and not against its task. */
export function isMisconduct(code: string): boolean {
  return faultAtHome(code) === 'misconduct';
}

/** A task is given up when it ended this often for unknown reasons. */
export const doubtsMax = 5;

/**
 * A task is given up when its machine was taken away so often while it ran. No task is preempted so often, while one
 * that ends its own agent or allocation would run for ever.
 */
export const stopsMax = 100;
