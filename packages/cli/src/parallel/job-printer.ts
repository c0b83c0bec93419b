import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { printJobLogEntry, type JobLogEntry, type ParallelJob } from '@mutirao/formats/parallel';

import type { Output } from '../output/output.ts';

/** A job that has ended, with what its log says. */
export interface EndedJob {
  readonly job: ParallelJob;
  readonly entry: JobLogEntry;
  /** Undefined where it never began. */
  readonly files: { readonly stdout: string; readonly stderr: string } | undefined;
}

/** What is done with the output of a job. */
export interface PrinterOptions {
  readonly output: Output;
  readonly keepsOrder: boolean;
  readonly tags: boolean;
  readonly showsCommand: boolean;
  /** Absolute. */
  readonly resultsFolder: string | undefined;
  readonly jobLog: string | undefined;
  /** Names of columns, for the folders of results. */
  readonly names: readonly string[];
  /** The sequence of the first job, and of those after it. */
  readonly order: readonly number[];
}

/** Prints the output of jobs that have ended, writes it to files, and logs each job. */
export class JobPrinter {
  readonly #options: PrinterOptions;
  readonly #held = new Map<number, EndedJob>();
  #next = 0;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  take(ended: EndedJob): void {
    const { jobLog, keepsOrder, order } = this.#options;
    if (ended.files !== undefined && jobLog !== undefined) appendFileSync(jobLog, `${printJobLogEntry(ended.entry)}\n`);
    if (!keepsOrder) return this.#print(ended);
    this.#held.set(ended.job.sequence, ended);
    for (
      let held = this.#held.get(order[this.#next] ?? 0);
      held !== undefined;
      held = this.#held.get(order[this.#next] ?? 0)
    ) {
      this.#held.delete(held.job.sequence);
      this.#next += 1;
      this.#print(held);
    }
  }

  /** Prints what still waits for earlier jobs, which did not end. */
  close(): void {
    for (const ended of [...this.#held.values()].toSorted((one, other) => one.job.sequence - other.job.sequence))
      this.#print(ended);
    this.#held.clear();
  }

  #print({ job, entry, files }: EndedJob): void {
    const { resultsFolder } = this.#options;
    if (files === undefined) return;
    // As GNU parallel does: what is kept in files is not printed.
    if (resultsFolder === undefined) this.#show(job, entry.command, files);
    else this.#keep(resultsFolder, job, files);
    rmSync(files.stdout);
    rmSync(files.stderr);
  }

  #show(job: ParallelJob, command: string, files: NonNullable<EndedJob['files']>): void {
    const { output, showsCommand } = this.#options;
    if (showsCommand) output.writePrinted(Buffer.from(`${command}\n`), 'output');
    output.writePrinted(this.#tagged(readFileSync(files.stdout), job), 'output');
    output.writePrinted(this.#tagged(readFileSync(files.stderr), job), 'error');
  }

  #tagged(bytes: Buffer, { arguments: given }: ParallelJob): Buffer {
    if (!this.#options.tags || bytes.length === 0) return bytes;
    const lines = bytes.toString('latin1').split('\n');
    if (lines.at(-1) === '') lines.pop();
    const tag = Buffer.from(`${given.join(' ')}\t`).toString('latin1');
    return Buffer.from(lines.map((line) => `${tag}${line}\n`).join(''), 'latin1');
  }

  #keep(folder: string, { arguments: given, sequence }: ParallelJob, files: NonNullable<EndedJob['files']>): void {
    const names = given.flatMap((text, index) => [
      nameFolder(this.#options.names[index] ?? String(index + 1)),
      nameFolder(text),
    ]);
    const path = join(folder, ...names);
    mkdirSync(path, { recursive: true });
    copyFileSync(files.stdout, join(path, 'stdout'));
    copyFileSync(files.stderr, join(path, 'stderr'));
    writeFileSync(join(path, 'seq'), String(sequence));
  }
}

/** An argument as the name of a folder, as GNU parallel writes it. */
function nameFolder(text: string): string {
  const name = text.replaceAll('\\', '\\\\').replaceAll('/', '\\_').replaceAll('\t', '\\t');
  return name === '.' || name === '..' || name === '' ? `\\${name}` : name;
}
