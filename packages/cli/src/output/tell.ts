import { writeJson, writeLine, type Output } from './output.ts';

/** One answer in its three forms; only the one that is wanted gets made. */
export interface Answer {
  json(): unknown;
  /** Lines for people. */
  table(): readonly string[];
  /** Identifiers, one a line. */
  quiet(): readonly (string | number)[];
}

/** Writes an answer in the form that the user asked for. */
export function tell(output: Output, answer: Answer): void {
  if (output.mode === 'json') {
    writeJson(output, answer.json());
    return;
  }
  for (const line of output.mode === 'quiet' ? answer.quiet() : answer.table()) writeLine(output, String(line));
}
