import { chmodSync, copyFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** A log that has grown larger becomes `NAME.log.1`. */
export const logBytesMax = 16 * 1024 ** 2;

/**
 * Keeps the logs of a folder bounded: the content of a log that has grown too large replaces its former part, and the
 * log begins again.
 *
 * The processes go on appending to the file that they have open; a line that comes between the copy and the cut is
 * lost. Never throws: without space for the copy the log is cut all the same.
 */
export function boundLogs(folder: string, bytesMax = logBytesMax): void {
  for (const name of listLogs(folder)) {
    const path = join(folder, name);
    try {
      if (statSync(path).size <= bytesMax) continue;
      keepFormer(path);
      truncateSync(path, 0);
    } catch {
      /* It went meanwhile. */
    }
  }
}

function keepFormer(path: string): void {
  const former = `${path}.1`;
  try {
    copyFileSync(path, former);
    chmodSync(former, 0o600);
  } catch {
    dropHalf(former);
  }
}

/** A copy that a full disk cut short says nothing that is worth its room. */
function dropHalf(former: string): void {
  try {
    rmSync(former, { force: true });
  } catch {
    /* Something else is there, and stays. */
  }
}

function listLogs(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.log'));
  } catch {
    return [];
  }
}
