import { inheritanceCases } from './inheritance.ts';
import { oddOutputCases } from './odd-outputs.ts';
import { oddStreamCases } from './odd-streams.ts';
import { programCases } from './programs.ts';
import { folderCases } from './folders.ts';
import { outputCases } from './outputs.ts';
import { processCases } from './processes.ts';
import { streamCases } from './streams.ts';
import type { WorldCase } from './world-case.ts';

/** All cases that an account can meet. */
export function worldCases(account: 'root' | 'ordinary'): readonly WorldCase[] {
  return [
    ...streamCases,
    ...processCases,
    ...folderCases,
    ...outputCases,
    ...inheritanceCases,
    ...programCases,
    ...oddStreamCases,
    ...oddOutputCases,
  ].filter((aCase) => (aCase.account ?? account) === account);
}
