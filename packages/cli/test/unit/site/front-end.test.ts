import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runCommand, startProcess } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';

import { FrontEnd } from '../../../src/site/front-end.ts';
import type { SiteRecord } from '../../../src/site/site-record.ts';

const site: SiteRecord = {
  name: 'uni',
  ssh: 'ana@login',
  sshOptions: [],
  manager: 'slurm',
  processors: 0,
  providerOptions: [],
  folder: '.mutirao',
  setup: '',
  program: '',
  address: '',
  isSynced: true,
  addedUnixMs: 0,
};

interface Front {
  readonly frontEnd: FrontEnd;
  /** A file of the site's folder there. */
  at(name: string): string;
}

/** A site whose host is this one, with a login's home of its own. */
function aFront(t: ExecutionContext, env: NodeJS.ProcessEnv = {}): Front {
  const home = temporaryFolder(t);
  mkdirSync(join(home, '.mutirao/front/uni'), { recursive: true });
  const connection = {
    run: async ([command = '', ...args]: readonly string[]) => {
      const { status, stdout, stderr } = await runCommand({
        command,
        args,
        env: { ...process.env, ...env, HOME: home },
        deadlineMs: 30_000,
      });
      return { status, stdout: stdout.toString(), stderr: stderr.toString() };
    },
  };
  return {
    frontEnd: new FrontEnd(connection, site, '/home/ana/.mutirao'),
    at: (name) => join(home, '.mutirao/front/uni', name),
  };
}

test('what was started on another login host of the same home folder is neither taken for dead nor removed', async (t) => {
  const { frontEnd, at } = aFront(t);
  await frontEnd.look('abc');
  writeFileSync(at('provider.pid'), '4242 abc login2\n');
  await t.throwsAsync(frontEnd.look('abc'), {
    code: 'MUT_UNREACHABLE',
    message: new RegExp(
      `^ana@login led to ${hostname()}, and the provider of uni was started on login2, .*front/uni/provider.pid ` +
        'removed$',
    ),
  });
  await t.throwsAsync(frontEnd.remove(), { message: /its provider was started on login2/ });
  t.is(readFileSync(at('provider.pid'), 'utf8'), '4242 abc login2\n');
});

test('half an answer is refused, and nothing is done on it', async (t) => {
  const whole = [
    'base=/home/ana/.mutirao',
    'system=Linux x86_64',
    'owner=0123456789abcdef ana@home:/home/ana/.mutirao',
  ];
  const answers = (lines: readonly string[]): FrontEnd =>
    new FrontEnd(
      { run: () => Promise.resolve({ status: 0, stdout: `${lines.join('\n')}\n`, stderr: '' }) },
      site,
      '/home/ana/.mutirao',
    );
  for (const [index, name] of ['base', 'system', 'owner'].entries()) {
    await t.throwsAsync(answers(whole.toSpliced(index, 1)).look('abc'), {
      code: 'MUT_UNREACHABLE',
      message: `ana@login gave an answer without "${name}"`,
    });
    await t.throwsAsync(answers(whole.with(index, `title${whole[index] ?? ''}`)).look('abc'), {
      code: 'MUT_UNREACHABLE',
    });
  }
  await t.throwsAsync(answers(['base=front', ...whole.slice(1)]).look('abc'), {
    message: 'ana@login gave an answer with a wrong "base": "front"',
  });
  await t.throwsAsync(answers(['pid=', 'info={}']).start('provider', 'abc', 'provider.json', []), {
    message: /a wrong "pid"/,
  });
  await t.throwsAsync(answers(['pid=7']).start('provider', 'abc', 'provider.json', []), { message: /without "info"/ });
});

test('dead processes of this host are not listed, and removing leaves nothing', async (t) => {
  const { frontEnd, at } = aFront(t);
  await frontEnd.look('abc');
  writeFileSync(at('provider.pid'), `${process.pid} abc ${hostname()}\n`);
  writeFileSync(at('cluster.pid'), `${process.pid} abc\n`);
  t.deepEqual((await frontEnd.look('abc')).processes, {});
  await frontEnd.remove();
  t.false(existsSync(at('')));
});

test('a folder that others still write to is removed once they are done', async (t) => {
  const commands = temporaryFolder(t);
  // As when an agent on another host makes a file between the reading of its folder and the removal.
  writeFileSync(
    join(commands, 'rm'),
    `#!/bin/sh\nif mkdir ${commands}/once 2>/dev/null; then echo 'Directory not empty' >&2; exit 1; fi\nexec ` +
      '/bin/rm "$@"\n',
  );
  chmodSync(join(commands, 'rm'), 0o755);
  const { frontEnd, at } = aFront(t, { PATH: `${commands}:${process.env.PATH ?? ''}` });
  await frontEnd.look('abc');
  await frontEnd.remove();
  t.true(existsSync(join(commands, 'once')));
  t.false(existsSync(at('')));
});

test('former executables go but those that run, that a site was started with, or that have just come', async (t) => {
  const { frontEnd, at } = aFront(t);
  await frontEnd.look('new');
  const programs = at('../../programs');
  const names = ['former', 'new', 'running', 'just come', 'of-another-site'];
  for (const name of names) {
    mkdirSync(join(programs, name));
    copyFileSync('/bin/sleep', join(programs, name, 'mutirao'));
    if (name !== 'just come') utimesSync(join(programs, name), 1, 1);
  }
  const running = startProcess({
    command: join(programs, 'running/mutirao'),
    args: ['60'],
    env: {},
    onExit: () => undefined,
  });
  t.teardown(() => {
    process.kill(running.pid ?? 0, 'SIGKILL');
  });
  mkdirSync(at('../lab'));
  writeFileSync(at('../lab/provider.pid'), '4242 of-another-site login2\n');
  await frontEnd.clean('new');
  t.deepEqual(readdirSync(programs).sort(), ['just come', 'new', 'of-another-site', 'running']);
});
