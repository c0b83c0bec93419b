import { isatty } from 'node:tty';

import { showJson, showPrinted, showText } from '@mutirao/core/shared';

import { writeStandardError, writeStandardOutput } from './write-standard.ts';

/** How a command speaks: tables for people, one JSON document, or identifiers only. */
export type OutputMode = 'table' | 'json' | 'quiet';

/** Where a command writes; the real one is the terminal, that of a test keeps the lines. */
export interface Output {
  readonly mode: OutputMode;
  /** Columns of the terminal that standard error is; 100 if it is not a terminal. */
  readonly columns: number;
  /**
   * Writes text of our own to standard output as it is; text from outside goes through `writeLine`, `tell` or
   * `writePrinted`. Throws where that cannot be done, which ends the command.
   */
  write(text: string | Uint8Array): void;
  /**
   * Writes a line to standard error: notices, warnings, progress. What would control a terminal, ends of lines among
   * it, is shown as an escape.
   */
  note(line: string): void;
  /**
   * Writes what a task printed: unchanged to files and pipes; on a terminal its lines and colors, and every other
   * control sequence as an escape. Throws as `write`.
   */
  writePrinted(bytes: Uint8Array, to: 'output' | 'error'): void;
  /** Draws on the terminal that standard error is; undefined if it is not a terminal. */
  readonly progress: ((text: string) => void) | undefined;
}

/** Writes one line to standard output, with what would control a terminal shown as an escape. */
export function writeLine(output: Output, line: string): void {
  output.write(`${showText(line)}\n`);
}

/** Writes a JSON document; one line of it where it is an event of a stream. */
export function writeJson(output: Output, value: unknown, indent: 0 | 2 = 2): void {
  output.write(`${showJson(JSON.stringify(value, undefined, indent))}\n`);
}

/** The terminal (or pipe) that the process was started with. */
export function processOutput(mode: OutputMode): Output {
  const terminal = terminalOutput(writeStandardError);
  return {
    mode,
    columns: (process.stderr.columns as number | undefined) ?? 100,
    write: writeStandardOutput,
    note: terminal.note,
    writePrinted: (bytes, to) => {
      writePrinted(
        bytes,
        to === 'output'
          ? { isTerminal: isatty(1), write: writeStandardOutput }
          : { isTerminal: isatty(2), write: writeStandardError },
      );
    },
    progress: process.stderr.isTTY ? terminal.progress : undefined,
  };
}

/** A stream that the process was started with. */
export interface PrintedTo {
  readonly isTerminal: boolean;
  write(content: string | Uint8Array): void;
}

/** Writes what a task printed. */
export function writePrinted(bytes: Uint8Array, { isTerminal, write }: PrintedTo): void {
  write(isTerminal ? showPrinted(Buffer.from(bytes).toString('utf8')) : bytes);
}

/** Writes notes and a bar to one terminal: a note comes above the bar, on a line of its own. */
export function terminalOutput(
  write: (text: string) => void,
): Required<Pick<Output, 'note'>> & { progress(text: string): void } {
  let bar = '';
  return {
    note: (text) => {
      const line = showText(text);
      write(bar === '' ? `${line}\n` : `\r\u001b[2K${line}\n${bar}`);
    },
    progress: (text) => {
      write(text);
      bar = text.endsWith('\n') ? '' : text;
    },
  };
}
