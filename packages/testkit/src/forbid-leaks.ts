import { setTimeout as sleep } from 'node:timers/promises';

/** The part of AVA's `test` that is needed here. */
interface Hooks {
  before(implementation: () => void): void;
  readonly after: {
    always(
      title: string,
      implementation: (t: { deepEqual(actual: unknown, expected: unknown, message: string): unknown }) => Promise<void>,
    ): void;
  };
}

/** What keeps a process alive and belongs to whoever opened it. Timers that do not keep it alive do not count. */
const kinds = new Set(['PipeWrap', 'ProcessWrap', 'TCPServerWrap', 'TCPSocketWrap', 'Timeout', 'TTYWrap', 'UDPWrap']);

/**
 * Fails a test file that leaves a socket, a server, a child process or a timer behind.
 *
 * Call it once, before the tests of the file. It gives what was just closed a few seconds to be gone.
 */
export function forbidLeaks(test: Hooks): void {
  let before = new Map<string, number>();
  test.before(() => {
    before = countOpen();
  });
  test.after.always('nothing is left open', async (t) => {
    let left = leaked(before);
    for (const end = performance.now() + 5000; left.length > 0 && performance.now() < end; left = leaked(before))
      await sleep(20);
    t.deepEqual(left, [], 'left open by the tests of this file');
  });
}

function countOpen(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (kinds.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** What is open now beyond what was, as `2 TCPSocketWrap`. */
function leaked(before: ReadonlyMap<string, number>): string[] {
  return [...countOpen()]
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} ${kind}`);
}
