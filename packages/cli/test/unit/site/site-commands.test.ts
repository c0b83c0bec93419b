import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';
import { findProviderOptions } from '../../../src/commands/site/add.ts';
import { shapes } from '../../../src/json/shapes.ts';
import { writeSite, writeState, type SiteRecord } from '../../../src/site/site-record.ts';

const uni: SiteRecord = {
  name: 'uni',
  ssh: 'ana@front',
  sshOptions: ['Port=2222'],
  manager: 'embedded',
  processors: 8,
  providerOptions: ['--heuristic', 'adaptive'],
  folder: '.mutirao',
  setup: '',
  program: '',
  address: '127.0.0.1:4711',
  isSynced: true,
  addedUnixMs: 1,
};
const host = {
  system: 'Linux x86_64',
  base: '/home/ana/.mutirao',
  providerPid: 77,
  providerAddress: '127.0.0.1:1234',
  program: 'abcdef',
  isOutdated: false,
};
const broker = {
  listProviders: () =>
    Promise.resolve({
      providers: [
        {
          providerId: 'lab',
          address: 'h:1',
          connected: true,
          lastError: '',
          machines: 1,
          drainingReason: '',
          runningTasks: 0,
        },
      ],
    }),
};

test('a site whose connector is gone is stopped, whatever it reported last', async (t) => {
  const home = temporaryFolder(t);
  writeSite(home, uni);
  writeState(home, 'uni', { pid: 2 ** 22 + 1, status: 'connected', sinceUnixMs: 5, detail: '', code: '', host });
  const { out } = await runCommandLine(['site', 'show', 'uni', '--json'], { home });
  t.like(JSON.parse(out), { status: 'stopped', provider_pid: 77, address: '127.0.0.1:4711', code: '' });
  t.regex(
    (await runCommandLine(['site', 'list'], { home })).out,
    /^uni +ana@front +embedded +stopped .*"mutirao site connect uni"/m,
  );
});

test('a site that was never connected is listed, and a record that cannot be read is passed over', async (t) => {
  const home = temporaryFolder(t);
  writeSite(home, uni);
  mkdirSync(join(home, 'sites', 'half-made'));
  writeFileSync(join(home, 'sites', 'half-made', 'site.json'), '{');
  const { out, status } = await runCommandLine(['site', 'list', '--json'], { home });
  t.is(status, 0);
  const [document] = JSON.parse(out) as Record<string, unknown>[];
  t.deepEqual(Object.keys(document ?? {}).sort(), Object.keys(shapes.site).sort());
  t.like(document, { since_unix_ms: null, provider_pid: null, folder: '.mutirao' });
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['a name with a slash', ['a/b', '--ssh', 'h', '--manager', 'none'], /the name is "a\/b"/],
  [
    'an unknown manager',
    ['uni', '--ssh', 'h', '--manager', 'lsf'],
    /--manager is "lsf"; expected one of slurm, grid-engine, oar, embedded, none, commands/,
  ],
  [
    'processors without an embedded cluster',
    ['uni', '--ssh', 'h', '--manager', 'slurm', '--processors', '4'],
    /goes with --manager embedded/,
  ],
  ['no processors', ['uni', '--ssh', 'h', '--manager', 'embedded', '--processors', '0'], /Expected an integer/],
  [
    'the name of a provider',
    ['lab', '--ssh', 'h', '--manager', 'none'],
    /the broker has a provider "lab" already, at h:1/,
  ],
  ['a program that is not there', ['x', '--ssh', 'h', '--manager', 'none', '--program', 'nix'], /nix is not there/],
  [
    'an isolation that there is not',
    ['x', '--ssh', 'h', '--manager', 'none', '--isolation', 'bwrap'],
    /--isolation is "bwrap"; expected auto, bubblewrap, account=NAME or none/,
  ],
  [
    'a program that is none',
    ['x', '--ssh', 'h', '--manager', 'none', '--program', '/etc/passwd'],
    /\/etc\/passwd is not an executable of Linux/,
  ],
];
for (const [what, words, pattern] of refused) {
  test(`site add refuses ${what}`, async (t) => {
    const { status, err } = await runCommandLine(['site', 'add', ...words], { home: temporaryFolder(t), broker });
    t.is(status, 2);
    t.regex(err, pattern);
  });
}

test('site add refuses the name of a site, and other commands an unknown name', async (t) => {
  const home = temporaryFolder(t);
  writeSite(home, uni);
  const { status, err } = await runCommandLine(['site', 'add', 'uni', '--ssh', 'h', '--manager', 'none'], {
    home,
    broker,
  });
  t.deepEqual([status, err.split('\n')[0]], [2, 'error: MUT_SITE_EXISTS there is a site "uni" already (ana@front)']);
  for (const word of ['show', 'remove', 'connect']) {
    const other = await runCommandLine(['site', word, 'nix'], { home });
    t.deepEqual(
      [other.status, other.err.split('\n')[0]],
      [2, 'error: MUT_NOT_FOUND no site is named "nix"; there are uni'],
      word,
    );
  }
});

test('how agents of a site keep tasks apart is an option of its provider, before those that are passed on', (t) => {
  t.deepEqual(findProviderOptions({ passedOn: ['--heuristic', 'static'] }, { isolation: 'account=tasks' }), [
    '--isolation',
    'account=tasks',
    '--heuristic',
    'static',
  ]);
  t.deepEqual(findProviderOptions({ passedOn: undefined }, {}), []);
});
