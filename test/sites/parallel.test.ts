// The cases of `mutirao parallel`, run by GNU parallel itself: what they expect is what it does.
import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { parallelCases, temporaryFolder } from '@mutirao/testkit';

for (const { title, script, stdout, status } of parallelCases)
  test.serial(`GNU parallel: ${title}`, async (t) => {
    const ran = await runCommand({
      command: 'bash',
      args: ['-c', `parallel() { command parallel --will-cite "$@"; }; ${script}`],
      cwd: temporaryFolder(t),
      deadlineMs: 60_000,
      outputBytesMax: 1024 * 1024,
    });
    t.is(ran.stdout.toString(), stdout);
    t.is(ran.status, status);
  });
