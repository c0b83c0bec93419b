import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const tailBytes = 4096;
const wordsMax = 300;

/**
 * What a process wrote last to its output: the error that a log of Mutirao ends with, or the last line of any other;
 * undefined where it wrote nothing.
 */
export function readLastWords(file: string): string | undefined {
  const lines = readTail(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const words = lines.map(fatalWords).findLast((fatal) => fatal !== undefined) ?? lines.at(-1);
  // What a process writes may hold anything, and is shown in a table.
  return words?.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, wordsMax);
}

function readTail(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return ''; // It could not be made, or was removed.
  }
  try {
    const bytes = Buffer.alloc(tailBytes);
    const { size } = fstatSync(descriptor);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, tailBytes, Math.max(0, size - tailBytes))).toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}

function fatalWords(line: string): string | undefined {
  try {
    const { level, code, msg } = JSON.parse(line) as {
      readonly level?: unknown;
      readonly code?: unknown;
      readonly msg?: unknown;
    };
    return level === 'fatal' && typeof msg === 'string'
      ? `${typeof code === 'string' ? `${code} ` : ''}${msg}`
      : undefined;
  } catch {
    return undefined;
  }
}
