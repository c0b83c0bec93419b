// The user units of examples/deploy: systemd finds no fault with them, and they start a Mutirao program that accepts
// the configuration next to it.
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '@mutirao/testkit';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}examples/deploy`;
const units = readdirSync(folder).filter((name) => name.endsWith('.service'));

/** A user's home with the program where the units look for it, and the configuration. */
function homeOfUser(t: ExecutionContext): string {
  const home = temporaryFolder(t);
  mkdirSync(join(home, '.local/bin'), { recursive: true });
  cpSync(folder, join(home, '.config/mutirao'), { recursive: true });
  writeFileSync(
    join(home, '.local/bin/mutirao'),
    `#!/bin/sh\nexec ${process.execPath} ${root}packages/cli/bin/mutirao.js "$@"\n`,
  );
  chmodSync(join(home, '.local/bin/mutirao'), 0o755);
  return home;
}

async function verify(home: string, file: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['--user', '--man=no', 'verify', file], {
    env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home },
  });
  return stdout + stderr;
}

for (const unit of units) {
  test.serial(`systemd takes ${unit}`, async (t) => {
    t.is(await verify(homeOfUser(t), join(folder, unit)), '');
  });

  test.serial(`systemd asks only the program of ${unit} to stop, and none of the tasks that it started`, (t) => {
    t.regex(readFileSync(join(folder, unit), 'utf8'), /^KillMode=mixed$/m);
  });

  test.serial(`${unit} starts a Mutirao program with a configuration that it takes`, async (t) => {
    const home = homeOfUser(t);
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(readFileSync(join(folder, unit), 'utf8')) ?? [];
    const [program = '', ...args] = line.replaceAll('%h', home).replaceAll('%i', 'beta').split(' ');
    const environment = { PATH: process.env.PATH, HOME: home };
    const { stdout: help } = await promisify(execFile)(program, [...args, '--help'], { env: environment });
    t.regex(help, new RegExp(`^Usage: mutirao ${String(args[0])} ${String(args[1])} `));
    if (!args.includes('--config')) return;
    const configuration = args.at(args.indexOf('--config') + 1) ?? '';
    const settings = JSON.parse(readFileSync(configuration, 'utf8')) as object;
    for (const name of Object.keys(settings))
      t.true(help.includes(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} `), name);
    // It reads the file: an option that it does not have is refused.
    writeFileSync(configuration, JSON.stringify({ ...settings, noSuchOption: 1 }));
    const refused = await t.throwsAsync<Error & { code: number; stderr: string }>(
      promisify(execFile)(program, args, { env: environment, timeout: 20_000 }),
    );
    t.is(refused.code, 2);
    t.regex(refused.stderr, /noSuchOption/);
  });
}

test.serial('systemd says what is wrong with a unit', async (t) => {
  const home = homeOfUser(t);
  const wrong = join(home, 'wrong.service');
  writeFileSync(
    wrong,
    readFileSync(join(folder, 'mutirao-broker.service'), 'utf8')
      .replace('Restart=on-failure', 'Restart=sometimes')
      .replace('.local/bin/mutirao', '.local/bin/nothing'),
  );
  const said = await verify(home, wrong).catch((error: unknown) => (error as { stderr: string }).stderr);
  t.regex(said, /sometimes/);
  t.regex(said, /nothing/);
});
