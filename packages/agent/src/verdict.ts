import { MutiraoError } from '@mutirao/api/errors';
import { faultOfCode, faultOfErrno, noSpace, type Phase, type ClassifiedError } from '@mutirao/core/bag';
import type { Verdict } from '@mutirao/core/machines/agent';
import { describeError } from '@mutirao/core/shared';

/**
 * What went wrong with a replica, and whose fault it is: the task's own is a failure; any other says nothing about the
 * task.
 */
export function getVerdict(error: unknown, phase: Phase): Verdict {
  const { code, fault } = classifyError(error, phase);
  const detail = describeError(error);
  return { outcome: fault === 'task' || fault === 'user' ? 'failed' : 'broken', reason: code, detail };
}

/** An error of the machine's own folders, which any task would meet. */
export function machineError(error: unknown): MutiraoError {
  const errno = getErrno(error);
  const code = errno === 'ENOSPC' || errno === 'EDQUOT' ? 'MUT_DISK_FULL' : 'MUT_MACHINE_UNFIT';
  return new MutiraoError(code, describeError(error), { cause: error });
}

function classifyError(error: unknown, phase: Phase): ClassifiedError {
  const code = error instanceof MutiraoError ? error.code : '';
  if (code === 'MUT_DISK_FULL') return { code: noSpace, fault: 'machine' };
  if (code !== '' && faultOfCode(code) !== 'unknown') return { code, fault: faultOfCode(code) };
  const errno = getErrno(error);
  const placed = faultOfErrno(phase, errno);
  return placed.fault === 'unknown' && code !== '' ? { code, fault: 'unknown' } : placed;
}

/** The error of the operating system that is behind an error; empty where none is. */
export function getErrno(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code = 'code' in error ? String(error.code) : '';
  if (/^E[A-Z0-9]+$/.test(code)) return code;
  return getErrno(error.cause);
}
