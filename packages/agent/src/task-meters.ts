import type { Bytes, Duration } from '@mutirao/core/shared';
import { proportionalBytes, readPeak, type TaskUsage } from '@mutirao/runtime/processes';

/** What a task has used; 0 for what was not measured. */
export interface MeasuredUsage {
  readonly memoryPeak: Bytes;
  readonly processorTime: Duration;
}

interface Meter {
  memoryPeak: Bytes;
  processorTime: Duration;
  processesMost: number;
  /** By `performance.now()`: of large processes it takes long to read what they share. */
  memoryReadAfter: number;
}

/** Measures the tasks of slots from samples: the most memory at once, and processor time. */
export class TaskMeters {
  private readonly meters: (Meter | undefined)[] = [];

  /** A slot has a new task. */
  begin(slot: number): void {
    this.meters[slot] = { memoryPeak: 0, processorTime: 0, processesMost: 0, memoryReadAfter: 0 };
  }

  /**
   * Takes a sample. The memory that the task is known to hold now; at most that, where it is below `limit` or what was
   * seen before.
   *
   * The sum of what each process has resident is quickly read. Only where it is beyond the limit or the peak so far, the
   * memory that processes share is read, for a tenth of the time at most.
   *
   * @param limit 0 for none. @param isPart the task is not all that its processes did: only what they hold now is its
   * own.
   */
  note({ slot, residentBytes, processes, processorMs }: TaskUsage, limit: Bytes, isPart = false): Bytes {
    const meter = this.meters[slot];
    if (meter === undefined) return 0;
    meter.processesMost = Math.max(meter.processesMost, processes.length);
    if (!isPart) {
      meter.processorTime = Math.max(meter.processorTime, processorMs);
      for (const { pid } of processes) meter.memoryPeak = Math.max(meter.memoryPeak, readPeak(pid) ?? 0);
    }
    const from = performance.now();
    const isOver = limit > 0 && residentBytes > limit;
    if ((!isOver && residentBytes <= meter.memoryPeak) || from < meter.memoryReadAfter) return 0;
    const bytes = proportionalBytes(processes);
    const until = performance.now();
    meter.memoryReadAfter = until + 10 * this.meters.length * (until - from);
    meter.memoryPeak = Math.max(meter.memoryPeak, bytes);
    return bytes;
  }

  /** The most processes that a slot's task was seen to have. */
  getProcessesMost(slot: number): number {
    return this.meters[slot]?.processesMost ?? 0;
  }

  /** The most memory that a slot's task was seen to hold. */
  getPeak(slot: number): Bytes {
    return this.meters[slot]?.memoryPeak ?? 0;
  }

  /**
   * What a slot's task has used, now that it has ended; undefined where nothing was measured, as of a task of some
   * milliseconds.
   *
   * @param processorMs as its shell counted it; undefined where the shell is gone too.
   */
  finish(slot: number, processorMs: number | undefined): MeasuredUsage | undefined {
    const meter = this.meters[slot];
    this.meters[slot] = undefined;
    const memoryPeak = meter?.memoryPeak ?? 0;
    const processorTime = Math.max(meter?.processorTime ?? 0, processorMs ?? 0);
    // Clocks of the kernel count in hundredths of a second: nothing of neither means that nothing was measured.
    return memoryPeak === 0 && processorTime === 0 ? undefined : { memoryPeak, processorTime };
  }
}
