import { resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { StudySettings } from '@mutirao/sim/costa2005';

import type { CommandContext } from '../../context.ts';
import { readWord } from '../numbers.ts';

/** What every command about a study takes. */
export interface StudyOptions {
  readonly quick?: true;
  readonly seed: string;
  readonly data?: string;
}

/** Reads what study is meant. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readSettings(name: string, { quick, seed }: StudyOptions): StudySettings {
  readWord('the study', name, ['costa2005']);
  if (!/^[\w.-]{1,64}$/.test(seed)) throw new MutiraoError('MUT_BAD_REQUEST', `--seed is "${seed}"; want letters, digits, "-", "_" and "." only`);
  return { isQuick: quick === true, seed };
}

/** The folder of the logs; undefined, and told, where the user names none. */
export function findData({ directory, output }: CommandContext, { data = process.env['MUTIRAO_DATA'] }: StudyOptions): string | undefined {
  if (data !== undefined && data !== '') return resolve(directory, data);
  output.note('error: the study needs logs that are not part of Mutirao');
  output.note('Get SDSC-SP2-1998-4.2-cln, SDSC-BLUE-2000-4.2-cln and CTC-SP2-1996-3.1-cln of the Parallel Workloads Archive '
    + '(www.cs.huji.ac.il/labs/parallel/workload) and set MUTIRAO_DATA to a folder that holds them as swf/NAME.swf.gz.');
  return undefined;
}
