import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves as soon as `holds` answers true, asking again and again; for tests across processes only.
 *
 * @throws Error naming `what` when it does not come true within `deadlineMs`.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 180_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain: ${what}`);
    await sleep(5);
  }
}
