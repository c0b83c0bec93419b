import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { prepareHome } from '@mutirao/runtime/files';

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

/** Opens the folder that the user gave, or makes one in `here/` of the usual home folder, which the nodes of a cluster share as a rule. */
export function openHereHome(given: string | undefined, usualHome: string): HereHome {
  prepareHome(given ?? usualHome);
  if (given !== undefined) return { path: given, isTemporary: false };
  const folder = join(usualHome, 'here');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { path: mkdtempSync(join(folder, prefix)), isTemporary: true };
}

/** Removes a temporary home; an agent that is just ending on a node may still write there, which is told. */
export function closeHereHome({ path, isTemporary }: HereHome, output: Pick<Output, 'note'>): void {
  if (!isTemporary) return;
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    output.note(`warning: ${path} cannot be removed: ${error instanceof Error ? error.message : String(error)}`);
  }
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
