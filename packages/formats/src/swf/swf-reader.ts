import { FormatError, showFound } from '../format-error.ts';
import { parseFields } from './parse-fields.ts';
import { notKnown, type SwfLineCounts, type SwfRecord, type SwfTrace } from './swf-record.ts';

/** Fields of a line of the Standard Workload Format. */
const fieldCount = 18;
const newline = 0x0a;
const semicolon = 0x3b;
/** A longer line is not one of a log; the rest is dropped. */
const lineBytesMax = 1 << 20;

/**
 * Reads a log in the Standard Workload Format, a piece of the file at a time.
 *
 * Every line is counted as one of the kinds of `SwfLineCounts`; nothing is dropped in silence. Cost: linear in the
 * bytes, and a sort where records are out of order.
 *
 * @source the Parallel Workloads Archive's definition of the format, version 2.2.
 */
export class SwfReader {
  readonly #file: string;
  readonly #records: SwfRecord[] = [];
  readonly #header = new Map<string, string>();
  readonly #lines: SwfLineCounts = { record: 0, comment: 0, blank: 0, short: 0, nonNumeric: 0 };
  readonly #fields = new Float64Array(fieldCount);
  /** The beginning of a line whose end has not come. */
  #rest: Uint8Array = new Uint8Array(0);
  #longCount = 0;
  #outOfOrderCount = 0;
  #latest = notKnown;
  #isSorted = true;
  /** The first line that is neither record nor comment nor blank, and its number. */
  #firstBad: { readonly line: number; readonly text: string } | undefined;

  /** @param file as the user named it, for errors. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the next bytes of the (uncompressed) file. */
  push(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(newline, from); end >= 0; end = chunk.indexOf(newline, from)) {
      if (this.#rest.length > 0) {
        const whole = join(this.#rest, chunk.subarray(from, end));
        this.#rest = new Uint8Array(0);
        this.#readLine(whole, 0, whole.length);
      } else {
        this.#readLine(chunk, from, end);
      }
      from = end + 1;
    }
    if (from < chunk.length && this.#rest.length < lineBytesMax) this.#rest = join(this.#rest, chunk.subarray(from));
  }

  /** Ends the file. @throws {FormatError} MUT_SWF_SYNTAX when there are lines and none is a record or a comment. */
  finish(): SwfTrace {
    if (this.#rest.length > 0) this.#readLine(this.#rest, 0, this.#rest.length);
    this.#rest = new Uint8Array(0);
    if (this.#lines.record === 0 && this.#firstBad !== undefined) throw this.#notSwf(this.#firstBad);
    if (this.#outOfOrderCount > 0 || !this.#isSorted)
      this.#records.sort((one, other) => one.submittedAt - other.submittedAt);
    return {
      records: this.#records,
      header: this.#header,
      lines: this.#lines,
      longCount: this.#longCount,
      outOfOrderCount: this.#outOfOrderCount,
    };
  }

  #readLine(bytes: Uint8Array, from: number, end: number): void {
    const count = parseFields(bytes, from, end, this.#fields);
    if (count >= fieldCount) {
      this.#lines.record += 1;
      if (count > fieldCount) this.#longCount += 1;
      this.#addRecord(this.#fields);
    } else if (count === 0) {
      this.#lines.blank += 1;
    } else {
      this.#readOtherLine(decode(bytes, from, end), count);
    }
  }

  #readOtherLine(text: string, count: number): void {
    if (text.trimStart().charCodeAt(0) === semicolon) {
      this.#lines.comment += 1;
      const [, key, value] = /^[\s;]*([A-Za-z]\w*):\s*(.*?)\s*$/.exec(text) ?? [];
      if (key !== undefined && value !== undefined && !this.#header.has(key)) this.#header.set(key, value);
      return;
    }
    if (count > 0) this.#lines.short += 1;
    else this.#lines.nonNumeric += 1;
    const { record, comment, blank, short, nonNumeric } = this.#lines;
    this.#firstBad ??= { line: record + comment + blank + short + nonNumeric, text };
  }

  #addRecord(fields: Float64Array): void {
    const submittedAt = getMillis(fields[1] as number);
    this.#records.push({
      jobId: fields[0] as number,
      submittedAt,
      waitTime: getMillis(fields[2] as number),
      runTime: getMillis(fields[3] as number),
      allocatedProcessors: countOf(fields[4] as number),
      requestedProcessors: countOf(fields[7] as number),
      requestedTime: getMillis(fields[8] as number),
      status: fields[10] as number,
      userId: fields[11] as number,
      partitionId: fields[15] as number,
    });
    // One without submission time is at no wrong place.
    if (submittedAt === notKnown) this.#isSorted = false;
    else if (submittedAt < this.#latest) this.#outOfOrderCount += 1;
    else this.#latest = submittedAt;
  }

  #notSwf({ line, text }: { readonly line: number; readonly text: string }): FormatError {
    return new FormatError({
      code: 'MUT_SWF_SYNTAX',
      subject: this.#file,
      line,
      column: 1,
      found: showFound(text),
      expected: `${fieldCount} numbers, as in a log of the Standard Workload Format`,
    });
  }
}

/** Reads a whole log that is in memory. @throws {FormatError} as `SwfReader.finish`. */
export function parseSwf(content: Uint8Array | string, file: string): SwfTrace {
  const reader = new SwfReader(file);
  reader.push(typeof content === 'string' ? new TextEncoder().encode(content) : content);
  return reader.finish();
}

function getMillis(seconds: number): number {
  return seconds < 0 ? notKnown : Math.round(seconds * 1000);
}

function countOf(value: number): number {
  return value < 0 ? notKnown : Math.ceil(value);
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

function decode(bytes: Uint8Array, from: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(from, Math.min(end, from + lineBytesMax)));
}
