import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { StudySettings } from '@mutirao/sim/costa2005';

import type { CommandContext } from '../../context.ts';
import { readWhole, readWord } from '../numbers.ts';

/** What every command about a study takes. */
export interface StudyOptions {
  readonly quick?: true;
  readonly seed: string;
  readonly data?: string;
}

/** The studies that there are. */
export const studyNames: readonly string[] = [
  'ahead',
  'buc2020',
  'costa2005',
  'eager',
  'gonzalez2010',
  'heuristics',
  'kunrath2008',
  'moreira2009',
];

/** Reads what study is meant. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readSettings(name: string, { quick, seed }: StudyOptions): StudySettings {
  readWord('the study', name, studyNames);
  if (!/^[\w.-]{1,64}$/.test(seed))
    throw new MutiraoError('MUT_BAD_REQUEST', `--seed is "${seed}"; expected letters, digits, "-", "_" and "." only`);
  return { isQuick: quick === true, seed };
}

/** What may be less than the whole of costa2005's study. */
export interface ShortStudyOptions extends StudyOptions {
  readonly instants?: string;
  readonly maxTasks?: string;
}

/** Reads which part of the study costa2005 to run. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readShortSettings(options: ShortStudyOptions): StudySettings {
  const { instants, maxTasks, quick } = options;
  const own = instants !== undefined ? '--instants' : maxTasks !== undefined ? '--max-tasks' : undefined;
  if (quick === true && own !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `--quick has its own extent, and ${own} is given too; use one of them`);
  return {
    ...readSettings('costa2005', options),
    // Assumptions are varied at 20 instants, in addition to the study's own assumptions.
    ...(instants === undefined ? {} : { instants: readWhole('--instants', instants, { min: 20, max: 10_000 }) }),
    ...(maxTasks === undefined
      ? {}
      : { taskCountMax: readWhole('--max-tasks', maxTasks, { min: 1000, max: 100_000 }) }),
  };
}

/**
 * The folder of the logs. @param names of those that are needed. @throws {MutiraoError} MUT_DATA_MISSING where the user
 * names none.
 */
export function getData(
  { directory }: CommandContext,
  { data = process.env['MUTIRAO_DATA'] }: StudyOptions,
  names = logNames,
): string {
  if (data !== undefined && data !== '') return resolve(directory, data);
  throw new MutiraoError('MUT_DATA_MISSING', `the study needs logs that are not part of Mutirao: ${names.join(', ')}`);
}

/**
 * Checks that logs are there, before hours of work end at the first that is not. @throws {MutiraoError}
 * MUT_DATA_MISSING with the names of those that are not.
 */
export function checkLogs(data: string, files: readonly string[]): void {
  const missing = [...new Set(files)].filter((file) => !existsSync(join(data, file)));
  if (missing.length > 0)
    throw new MutiraoError('MUT_DATA_MISSING', `${data} lacks logs that the study needs: ${missing.join(', ')}`);
}

const logNames = ['SDSC-SP2-1998-4.2-cln', 'SDSC-BLUE-2000-4.2-cln', 'CTC-SP2-1996-3.1-cln', 'LANL-CM5-1994-4.1-cln'];
