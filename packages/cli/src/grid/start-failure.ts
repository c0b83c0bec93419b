import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { isErrorCode, MutiraoError } from '@mutirao/api/errors';
import { describeBytes, type Bytes } from '@mutirao/core/shared';
import { freeBytes } from '@mutirao/runtime/files';

import type { GridRecord } from './record.ts';

/** Characters of a log that an error repeats. */
const shownMax = 400;

/** With less than this left, a log may have lost its end, and a record could not be written. */
const roomMin = 64 * 1024;

/**
 * How a grid in the background ended before it was ready.
 *
 * @param status of its process; undefined if unknown. @param free bytes that may still be written in the folder of its log.
 */
export function describeEnd(
  log: string,
  status: number | undefined,
  free: Bytes = freeBytes(dirname(log)),
): MutiraoError {
  const text = readLog(log);
  const [, code, message] = /^error: (MUT_[A-Z_]+) (.*)$/m.exec(text) ?? [];
  // What would say so has no room either.
  if (code === undefined && free < roomMin)
    return new MutiraoError(
      'MUT_DISK_FULL',
      `the grid did not start: the disk of ${dirname(log)} has ${describeBytes(free)} left`,
    );
  const ending = status === undefined ? 'ended' : `ended with status ${status}`;
  return new MutiraoError(
    code !== undefined && isErrorCode(code) ? code : 'MUT_UNREACHABLE',
    message ?? `the grid did not start: its process ${ending}. Log: ${log}, ${quoteEnd(log)}`,
  );
}

/**
 * Why the grid is not ready at the deadline: what is running, what is starting, and what has not been started.
 *
 * @param grid its record; undefined while there is none.
 */
export function describeDelay(log: string, seconds: number, grid: GridRecord | undefined): MutiraoError {
  const started = Object.keys(grid?.processes ?? {});
  const starting = grid?.starting ?? [];
  const running = started.filter((name) => !starting.includes(name));
  const parts = [
    running.length === 0 ? 'nothing is running yet' : `running: ${running.join(', ')}`,
    ...(starting.length === 0 ? [] : [`started but not listening yet: ${starting.join(', ')}`]),
    ...(started.includes('broker') ? [] : ['not started yet: broker']),
  ];
  return new MutiraoError(
    'MUT_UNREACHABLE',
    `the grid was not ready after ${seconds} s (${parts.join('; ')}); this host may be busy. It continues to start in ` +
      `the background: "mutirao status" shows when it is ready, "mutirao down" stops it. Log: ${log}, ${quoteEnd(log)}`,
  );
}

/** What a log ends with, in words that are never empty. */
export function quoteEnd(log: string): string {
  const text = readLog(log).trim();
  return text === '' ? 'which is empty' : `which ends with: ${text.slice(-shownMax)}`;
}

function readLog(log: string): string {
  try {
    return readFileSync(log, 'utf8');
  } catch {
    return '';
  }
}
