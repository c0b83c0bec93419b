// The Python package as a user gets it: the built wheel in an empty environment, its own tests against a real grid.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { Grid, temporaryFolder } from '@mutirao/testkit';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const minute = 60_000;

/** An environment that has the wheel and what it depends on, and the path of its Python. */
let python = '';
const folder = mkdtempSync(join(tmpdir(), 'mutirao-wheel-'));
test.after.always(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.before(async (t) => {
  t.timeout(5 * minute);
  await run(join(root, 'scripts/python-package'), [folder], { cwd: root });
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  t.truthy(wheel);
  t.truthy(readdirSync(folder).find((name) => name.endsWith('.tar.gz')));
  const environment = join(root, '.cache/python-package');
  await run('/usr/bin/python3', ['-m', 'venv', '--clear', environment]);
  python = join(environment, 'bin/python');
  const packages = [join(folder, wheel ?? ''), 'pytest==9.2.0', 'mypy==2.4.1', 'joblib==1.6.0', 'scikit-learn==1.9.1'];
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
});

test.serial('its tests pass against a grid', async (t) => {
  t.timeout(12 * minute);
  const MUTIRAO_COMMAND = `${process.execPath} ${join(root, 'packages/cli/bin/mutirao.js')}`;
  const { stdout } = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'], {
    cwd: join(root, 'clients/python'),
    env: { ...process.env, MUTIRAO_COMMAND },
  }).catch((error: unknown) => ({ stdout: (error as { stdout?: string }).stdout ?? String(error) }));
  t.regex(stdout, /\n[1-9]\d* passed in /);
  t.notRegex(stdout, /failed|error/);
});

test.serial('what it offers has types', async (t) => {
  t.timeout(5 * minute);
  const program =
    'import mutirao\ngrid = mutirao.connect()\nreveal_type(grid.bag("true").wait())\nreveal_type(grid.executor().submit(abs, 1).machine)\n';
  const { stdout } = await run(python, ['-m', 'mypy', '--strict', '-c', program], { cwd: temporaryFolder(t) });
  t.regex(stdout, /Revealed type is "(?:builtins\.)?str"/);
  t.regex(stdout, /Revealed type is "(?:builtins\.)?str \| None"/);
});

async function runExample(t: ExecutionContext, name: string): Promise<string> {
  const grid = await Grid.start({ machines: [2] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(1);
  const env = { ...process.env, MUTIRAO_HOME: grid.home };
  return (await run(python, [join(root, 'examples/python', name)], { env })).stdout;
}

test.serial('the example estimates pi', async (t) => {
  t.timeout(5 * minute);
  t.regex(await runExample(t, 'pi.py'), /^pi is about 3\.1\d+, from 2000000 points in 20 calls\n$/);
});

test.serial('the example searches parameters with scikit-learn', async (t) => {
  t.timeout(5 * minute);
  t.regex(await runExample(t, 'grid_search.py'), /^best of 9: \{'C': 10, 'gamma': 0\.001\}, score 0\.\d{3}\n$/);
});

test.serial('the tutorial runs from its first step to its last', async (t) => {
  t.timeout(5 * minute);
  const said = (await runExample(t, 'tutorial.py')).split('\n');
  t.is(said[0], 'processors: True');
  t.is(said[1], 'results: 1000');
  t.regex(said[2] ?? '', /^one call: 3\.238 on lab$/);
  t.is(said[3], 'failed: division by zero - it printed: dividing 0');
  t.is(said[4], 'attached: 100');
  t.is(said[5], "commands: ['0 0.1', '0 0.2', '1 0.1', '1 0.2']");
});
