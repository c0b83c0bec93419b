import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';
import { waitScript } from '../../../src/machines/ssh-scripts.ts';

test('who waits for an agent ends when nobody reads any more, though the agent lives', async (t) => {
  // The reader goes after the first line; what the waiter does then is what it does when the connection breaks.
  const { isTimedOut } = await runCommand({
    command: '/bin/sh', args: ['-c', '/bin/sh -c "$@" 2>&1 >/dev/null | head -n 1', 'reader', ...waitScript(temporaryFolder(t), String(process.pid))], deadlineMs: 15_000,
  });
  t.false(isTimedOut);
});
