import { constants, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { KeptStream, type StreamTail } from './kept-stream.ts';
import type { PipeStock, ReadPipe } from './pipe-stock.ts';
import { quoteWord } from './shell-words.ts';

/**
 * Most that is read at the end of a task from a pipe that somebody else still fills; a pipe holds at most 1 MiB for an
 * ordinary user.
 */
const drainMax = 1024 * 1024;

/** A task's two streams: standard output and standard error. */
export type TaskStreams = readonly [TaskStream, TaskStream];

/** Opens both streams, or none. @throws Error of the file system. */
export function openStreams(stock: Pick<PipeStock, 'take' | 'release'>): TaskStreams {
  const out = new TaskStream(stock);
  try {
    return [out, new TaskStream(stock)];
  } catch (error) {
    out.close();
    throw error;
  }
}

/** For all streams: what is read is copied out before anything else is read. */
const scratch = Buffer.allocUnsafe(64 * 1024);

/**
 * A stream of the tasks of one launcher: a pipe, and what is kept of what the present task writes into it.
 *
 * A task may open a pipe again, as /dev/stdout, without losing what was printed. What is left of an earlier task can
 * reach the pipe only while it holds it open, and `drain` sees that.
 */
export class TaskStream {
  private readonly stock: Pick<PipeStock, 'take' | 'release'>;
  private readonly pipe: ReadPipe;
  private readonly shellWord: string;
  private kept = new KeptStream(0);
  private follower: Socket | undefined;

  constructor(stock: Pick<PipeStock, 'take' | 'release'>) {
    this.stock = stock;
    this.pipe = stock.take();
    this.shellWord = quoteWord(this.pipe.path);
  }

  /** What a task opens for writing, as a word of a shell. */
  get word(): string {
    return this.shellWord;
  }

  /** Bytes that were read since `begin`. */
  get writtenBytes(): number {
    return this.kept.writtenBytes;
  }

  /** A new task writes from now on. @param bytesMax that are kept. */
  begin(bytesMax: number): void {
    if (this.kept.writtenBytes > 0 || this.kept.bytesMax !== bytesMax) this.kept = new KeptStream(bytesMax);
  }

  /** What the present task has written so far. */
  get tail(): StreamTail {
    return this.kept;
  }

  /**
   * Reads as the task writes, for a task that runs longer than a pipe may take to fill. Otherwise `drain` reads all.
   *
   * @returns whether it follows; false if no further file can be opened, and then it reads the available part.
   */
  follow(): boolean {
    if (this.follower !== undefined) return true;
    const file = this.openAgain();
    if (file === undefined) {
      this.readPart();
      return false;
    }
    const { kept } = this;
    const read = (count: number): boolean => {
      kept.add(scratch.subarray(0, count));
      return true;
    };
    const follower = new Socket({
      fd: file,
      readable: true,
      writable: false,
      onread: { buffer: scratch, callback: read },
    });
    follower.on('error', () => undefined); // `drain` meets it again.
    this.follower = follower;
    return true;
  }

  /** By our own descriptor, which outlives the pipe's name. */
  private openAgain(): number | undefined {
    try {
      return openSync(`/proc/self/fd/${this.pipe.file}`, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch {
      return undefined;
    }
  }

  /** Whether anything was written; reads a part of it. */
  hasBytes(): boolean {
    if (this.kept.writtenBytes === 0) this.readPart();
    return this.kept.writtenBytes > 0;
  }

  /** Reads what is in the pipe now. Whether no process has it open for writing any more: then all is read. */
  drain(): boolean {
    this.follower?.destroy();
    this.follower = undefined;
    for (let total = 0; total < drainMax; ) {
      const count = this.readPart();
      if (count === undefined) return false;
      if (count === 0) return true;
      total += count;
    }
    return false;
  }

  /** Whether the task wrote more than is kept. */
  get isCut(): boolean {
    return this.kept.isCut;
  }

  /** What is kept of what the task wrote. */
  bytes(): Uint8Array {
    return this.kept.bytes();
  }

  /** Bytes that were read; 0 at the end of the file, undefined where a writer has written nothing more. */
  private readPart(): number | undefined {
    try {
      const count = readSync(this.pipe.file, scratch, 0, scratch.length, null);
      if (count > 0) this.kept.add(scratch.subarray(0, count));
      return count;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      return undefined;
    }
  }

  /** A process that still writes into it gets SIGPIPE. */
  close(): void {
    this.follower?.destroy();
    this.follower = undefined;
    this.stock.release(this.pipe);
  }
}
