import { folderCases } from './folders.ts';
import { outputCases } from './outputs.ts';
import { processCases } from './processes.ts';
import { streamCases } from './streams.ts';
import type { WorldCase } from './world-case.ts';

/** All cases that an account can meet. */
export function worldCases(account: 'root' | 'ordinary'): readonly WorldCase[] {
  return [...streamCases, ...processCases, ...folderCases, ...outputCases].filter(
    (aCase) => (aCase.account ?? account) === account,
  );
}
