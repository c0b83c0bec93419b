import { nameOfBytes } from '@mutirao/api/codecs';

/** Functions at the start of a script that separate its answer from the output of templates and login shells. */
export function framing(token: string): string {
  return (
    `mask=$(umask); umask 077\nanswer() { printf '\\n@%s\\n' '${token}'; }\nfinish() { printf '\\n@%s.\\n' ` +
    `'${token}'; }\n`
  );
}

/** What stands between `answer` and `finish`; undefined where either is missing, as when the connection broke. */
export function readAnswer(output: Buffer, token: string): Buffer | undefined {
  const begin = output.indexOf(`\n@${token}\n`);
  const end = output.lastIndexOf(`\n@${token}.\n`);
  return begin < 0 || end < begin
    ? undefined
    : output.subarray(begin + token.length + 3, Math.max(begin + token.length + 3, end));
}

/** How a task ended, according to the script that ran it. */
export interface ReportedEnd {
  /** As a shell reports it. */
  readonly status: number;
  /** Bytes written to each stream, kept or not. */
  readonly outBytes: number;
  readonly errBytes: number;
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
}

/**
 * Reads `STATUS OUT-BYTES ERR-BYTES KEPT-OUT KEPT-ERR`, a line end, and the two streams as far as they are kept;
 * undefined for anything else.
 */
export function readEnd(answer: Buffer): ReportedEnd | undefined {
  const lineEnd = answer.indexOf('\n');
  const match = /^(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$/.exec(
    answer.subarray(0, Math.max(0, lineEnd)).toString('latin1').trim(),
  );
  if (match === null) return undefined;
  const [status = 0, outBytes = 0, errBytes = 0, outKept = 0, errKept = 0] = match.slice(1).map(Number);
  const body = answer.subarray(lineEnd + 1);
  if (body.length !== outKept + errKept) return undefined;
  return {
    status,
    outBytes,
    errBytes,
    standardOutput: new Uint8Array(body.subarray(0, outKept)),
    standardError: new Uint8Array(body.subarray(outKept)),
  };
}

/** A file that a task left. */
export interface ReportedFile {
  readonly outputIndex: number;
  /** Its name among the files to fetch. */
  readonly number: number;
  readonly size: number;
  readonly mode: number;
  /** Below the output where that is a folder; empty for a file. */
  readonly path: string;
  /** What is in it, where it came along. */
  readonly inline: Uint8Array | undefined;
}

/** Why an output cannot be brought. */
export type OutputFault = 'missing' | 'escapes' | 'other' | 'many' | 'link' | 'unreadable';

/** What became of a replica's outputs. */
export type ReportedOutputs =
  | { readonly kind: 'files'; readonly files: readonly ReportedFile[] }
  /** One of them cannot be brought. */
  | { readonly kind: OutputFault; readonly outputIndex: number }
  | { readonly kind: 'garbled' };

const faults: Readonly<Record<string, OutputFault>> = {
  M: 'missing',
  E: 'escapes',
  N: 'other',
  L: 'many',
  K: 'link',
  R: 'unreadable',
};

/**
 * Reads `F OUTPUT NUMBER SIZE MODE INLINE`, a line end, the path, a NUL and INLINE bytes for each file; or one letter
 * and OUTPUT for a fault.
 */
export function readOutputs(answer: Buffer): ReportedOutputs {
  const files: ReportedFile[] = [];
  for (let at = 0; at < answer.length; ) {
    const lineEnd = answer.indexOf('\n', at);
    const line = answer.toString('latin1', at, lineEnd < 0 ? answer.length : lineEnd);
    const fault = /^([MENLKR]) (\d+)$/.exec(line);
    const kind = faults[fault?.[1] ?? ''];
    if (kind !== undefined) return { kind, outputIndex: Number(fault?.[2]) };
    const reported = lineEnd < 0 ? undefined : readFile(answer, line, lineEnd + 1);
    if (reported === undefined) return { kind: 'garbled' };
    files.push(reported.file);
    at = reported.end;
  }
  return { kind: 'files', files };
}

/** Reads a file's line and, from `start`, what follows it. */
function readFile(
  answer: Buffer,
  line: string,
  start: number,
): { readonly file: ReportedFile; readonly end: number } | undefined {
  const [, outputIndex, number, size, mode = '', kept = ''] = /^F (\d+) (\d+) +(\d+) (\S+) (-|\d+)$/.exec(line) ?? [];
  const nul = answer.indexOf(0, start);
  const end = nul + 1 + (kept === '-' ? 0 : Number(kept));
  if (kept === '' || nul < 0 || end > answer.length) return undefined;
  const inline = kept === '-' ? undefined : new Uint8Array(answer.subarray(nul + 1, end));
  return {
    file: {
      outputIndex: Number(outputIndex),
      number: Number(number),
      size: Number(size),
      mode: getMode(mode),
      path: nameOfBytes(answer.subarray(start, nul)),
      inline,
    },
    end,
  };
}

/** The mode that `ls -l` shows as `-rwxr-x---`. */
function getMode(shown: string): number {
  let mode = 0;
  for (let index = 0; index < 9; index++) if (/[rwxst]/.test(shown[index + 1] ?? '-')) mode |= 0o400 >> index;
  return mode;
}
