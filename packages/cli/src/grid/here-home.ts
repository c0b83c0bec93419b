import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describeLeft, prepareHome, removeTreeLater } from '@mutirao/runtime/files';

import type { Output } from '../output/output.ts';
import { findGridRecord, isSupervised } from './record.ts';

/** The home folder of one submission's own grid. */
export interface HereHome {
  /** Absolute. */
  readonly path: string;
  /** Whether it goes when the submission ends. */
  readonly isTemporary: boolean;
}

const prefix = 'job-';
/** How often a removal is tried again. */
const roundsMax = 5;

/**
 * Opens the folder that the user gave, or makes one in `here/` of the usual home folder, which the nodes of a cluster
 * share as a rule.
 */
export function openHereHome(given: string | undefined, usualHome: string): HereHome {
  prepareHome(given ?? usualHome);
  if (given !== undefined) return { path: given, isTemporary: false };
  const folder = join(usualHome, 'here');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { path: mkdtempSync(join(folder, prefix)), isTemporary: true };
}

/** Removes a temporary home; an agent that is just ending on a node may still write there, which is reported. */
export async function closeHereHome(
  { path, isTemporary }: HereHome,
  { output, sleep }: { readonly output: Pick<Output, 'note'>; readonly sleep: (delay: number) => Promise<unknown> },
): Promise<void> {
  if (!isTemporary) return;
  let removal = await removeTreeLater(path);
  for (let round = 0; round < roundsMax && !removal.isComplete; round++) {
    await sleep(100);
    removal = await removeTreeLater(path);
  }
  if (!removal.isComplete) output.note(`warning: ${path} cannot be removed: ${describeLeft(removal)}`);
}

/** Temporary homes whose submission was killed: its job could go on. */
export function listAbandoned(usualHome: string): string[] {
  let names: string[];
  try {
    names = readdirSync(join(usualHome, 'here'));
  } catch {
    return [];
  }
  const paths = names.filter((name) => name.startsWith(prefix)).map((name) => join(usualHome, 'here', name));
  return paths.filter((path) => {
    const grid = findGridRecord(path);
    return grid !== undefined && !isSupervised(grid);
  });
}
