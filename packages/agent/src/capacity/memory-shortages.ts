import type { HostFiles } from './host-files.ts';

/** Milliseconds for which a kill counts: a process that holds much memory takes its time to end. */
const recentMs = 10_000;

/**
 * Knows whether the kernel has killed a process of this host for lack of memory lately. The kernel does not say which
 * one, so this is evidence only together with a task's end by SIGKILL.
 */
export class MemoryShortages {
  private readonly host: Pick<HostFiles, 'read'>;
  private count = 0;
  private growthAt = -Infinity;

  constructor(host: Pick<HostFiles, 'read'>) {
    this.host = host;
    this.count = this.read();
  }

  /** Looks whether there was one since the last look. @param now ms, of a clock that is not set. */
  look(now: number): void {
    const count = this.read();
    if (count > this.count) this.growthAt = now;
    this.count = count;
  }

  /** Whether one was seen shortly before; looks for it first. */
  isRecent(now: number): boolean {
    this.look(now);
    return now - this.growthAt <= recentMs;
  }

  /** Kills for lack of memory since the host started; 0 where the kernel does not count them (before Linux 4.13). */
  private read(): number {
    const [, count = '0'] = /^oom_kill (\d+)$/m.exec(this.host.read('/proc/vmstat') ?? '') ?? [];
    return Number(count);
  }
}
