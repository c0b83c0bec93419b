import { lstatSync } from 'node:fs';
import { fsPath } from '@mutirao/runtime/files';

/** File systems store times in steps of some milliseconds: two changes closer than this may look like one. */
const clockGrainMax = 50;

/**
 * All of a file's status that changes when it is written to, linked or replaced; empty when it does not exist or cannot
 * be looked at. A link is not followed.
 */
export function getStamp(file: string): string {
  try {
    const { size, mtimeNs, ctimeNs, ino } = lstatSync(fsPath(file), { bigint: true });
    return `${ctimeNs} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return '';
  }
}

/** Whether any later change of the file would show in a stamp that was taken now. */
export function isSynced(stamp: string): boolean {
  const changedAt = Number(stamp.slice(0, stamp.indexOf(' '))) / 1e6;
  return Math.abs(Date.now() - changedAt) > clockGrainMax;
}
