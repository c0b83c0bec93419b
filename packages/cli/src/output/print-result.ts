import { showText } from '@mutirao/core/shared';

import { writeJson, type Output } from './output.ts';
import { OutputClosed } from './write-standard.ts';

/** One answer in its three forms; only the one that is wanted gets made. */
export interface Answer {
  json(): unknown;
  /** Lines for people. */
  table(): readonly string[];
  /** Identifiers, one a line. */
  quiet(): readonly (string | number)[];
}

/**
 * Writes an answer in the form that the user asked for. Where nobody reads it, the command goes on: its work is done,
 * and its exit status counts.
 */
export function printResult(output: Output, answer: Answer): void {
  try {
    if (output.mode === 'json') writeJson(output, answer.json());
    else writeLines(output, output.mode === 'quiet' ? answer.quiet() : answer.table());
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
  }
}

/**
 * In one piece, since each piece is a call of the system. A line stays one line, whatever machines and tasks have put
 * into it.
 */
function writeLines(output: Output, lines: readonly (string | number)[]): void {
  if (lines.length > 0) output.write(`${lines.map((line) => showText(String(line))).join('\n')}\n`);
}
