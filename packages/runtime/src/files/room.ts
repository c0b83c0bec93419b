import { statfsSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import { describeBytes, type Bytes, type Duration, describeError } from '@mutirao/core/shared';
import type { Timers } from '../driver/timers.ts';

const codesOfFull = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'MUT_DISK_FULL']);

/** Whether an error, or what caused it, is that a disk is full or a quota used up. */
export function isFullDisk(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && codesOfFull.has(String(cause.code))) return true;
  }
  return false;
}

/** Free space for files below a folder; Infinity if it is unknown. */
export function freeBytes(folder: string): Bytes {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

/** What a process keeps an eye on. */
export interface RoomOptions {
  /** What the process writes. */
  readonly folder: string;
  /** With less than this left, new work is refused, so that what was promised can still be written down. */
  readonly freeMin: Bytes;
  /** Pause before something for which there was no room is tried again. */
  readonly pause: Duration;
  readonly timers: Timers;
  /** Why the process's journal cannot be written now; undefined while it can. */
  journalTrouble(): string | undefined;
}

/** The free space on the disks of a process: whether there is any, what waits for it, and the words for it. */
export class Room {
  readonly #options: RoomOptions;
  /** What waits, each with why. */
  readonly #waiting = new Map<object, string>();

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** What is wrong; undefined while there is room. Cost: one call of the system. */
  trouble(): string | undefined {
    const stalled = this.#options.journalTrouble();
    if (stalled !== undefined) return stalled;
    for (const reason of this.#waiting.values()) return reason;
    const { folder, freeMin } = this.#options;
    const free = freeBytes(folder);
    return free < freeMin
      ? `the disk of ${folder} has ${describeBytes(free)} left; expected ${describeBytes(freeMin)}`
      : undefined;
  }

  /** Called before new work is taken. @throws {MutiraoError} MUT_DISK_FULL where it has to be refused. */
  demand(): void {
    const trouble = this.trouble();
    if (trouble !== undefined) throw new MutiraoError('MUT_DISK_FULL', `nothing new is taken: ${trouble}`);
  }

  /** Resolves when this many bytes fit and leave the space that new work needs. Never rejects. */
  async whenFree(bytes: Bytes): Promise<void> {
    const { folder, freeMin } = this.#options;
    await this.retryWhileDiskFull(() => {
      const free = freeBytes(folder);
      if (free >= bytes + freeMin) return Promise.resolve();
      return Promise.reject(
        new MutiraoError(
          'MUT_DISK_FULL',
          `the disk of ${folder} has ${describeBytes(free)} left; ${describeBytes(bytes)} wait for room there`,
        ),
      );
    });
  }

  /**
   * Does something that writes, again and again for as long as a disk is full.
   *
   * @param isWanted asked before each further try; when it answers no, the error is thrown. @throws what `act` throws
   * for any other reason.
   */
  async retryWhileDiskFull<T>(act: () => Promise<T>, isWanted: () => boolean = () => true): Promise<T> {
    const key = {};
    try {
      for (;;) {
        try {
          return await act();
        } catch (error) {
          if (!isFullDisk(error) || !isWanted()) throw error;
          this.#waiting.set(key, describeError(error));
        }
        await new Promise<void>((resolve) => {
          this.#options.timers.start(this.#options.pause, resolve);
        });
      }
    } finally {
      this.#waiting.delete(key);
    }
  }
}
