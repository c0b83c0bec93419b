// Command lines of GNU parallel, run by `mutirao parallel`.
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { parallelCases, temporaryFolder } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

/** Runs a script of bash in which `parallel` is ours. */
async function run(t: ExecutionContext, script: string): Promise<{ status: number; stdout: string; stderr: string }> {
  const home = temporaryFolder(t);
  const ours = `parallel() { MUTIRAO_HOME='${home}' '${process.execPath}' '${commandLine}' parallel "$@"; }`;
  const { status, stdout, stderr } = await runCommand({
    command: 'bash',
    args: ['-c', `${ours}; ${script}`],
    cwd: temporaryFolder(t),
    deadlineMs: 120_000,
    outputBytesMax: 1024 * 1024,
  });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

for (const { title, script, stdout, status } of parallelCases)
  test.serial(title, async (t) => {
    const ran = await run(t, script);
    t.is(ran.stdout, stdout, ran.stderr);
    t.is(ran.status, status, ran.stderr);
  });

test.serial('what is not supported is refused by its name, with status 255', async (t) => {
  for (const [script, message] of [
    ['parallel --pipe wc ::: a', /--pipe of GNU parallel is not supported/],
    ['parallel --jbos 3 echo ::: a', /there is no option --jbos; did you mean --jobs\?/],
    ["parallel echo '{= s/a/b/ =}' ::: a", /Perl expression/],
    ['parallel --resume echo ::: a', /--resume is given without --joblog/],
  ] as const) {
    const { status, stderr } = await run(t, script);
    t.is(status, 255, script);
    t.regex(stderr, message);
  }
});
