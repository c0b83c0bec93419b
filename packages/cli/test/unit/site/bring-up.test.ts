import test from 'ava';
import { bringUp, type SiteHost, type UpSite, type Wanted } from '../../../src/site/bring-up.ts';
import type { FoundSite } from '../../../src/site/front-end.ts';
import type { SiteRecord } from '../../../src/site/site-record.ts';

const site: SiteRecord = {
  name: 'uni',
  ssh: 'ana@front',
  sshOptions: [],
  manager: 'slurm',
  processors: 0,
  providerOptions: ['--slurm-partition', 'short'],
  folder: '.mutirao',
  setup: '',
  program: '',
  address: '',
  isSynced: false,
  addedUnixMs: 0,
};
const nothing: FoundSite = {
  base: '/home/ana/.mutirao',
  system: 'Linux x86_64',
  hasProgram: false,
  processes: {},
  providerAddress: '',
  token: '',
};
const running: FoundSite = {
  ...nothing,
  hasProgram: true,
  processes: { provider: { pid: 7, program: 'new' } },
  providerAddress: 'unix:/there',
  token: 't',
};
const old: FoundSite = { ...running, hasProgram: false, processes: { provider: { pid: 7, program: 'old' } } };

interface Case {
  readonly found: FoundSite;
  readonly site?: Partial<SiteRecord>;
  readonly now?: boolean;
  readonly isIdle?: boolean;
}

/** What is done at a host where that was found, in order, and what comes of it. */
async function play({ found, now = false, isIdle = false, ...more }: Case): Promise<{ done: string[]; up: UpSite }> {
  const done: string[] = [];
  const did = <T>(what: string, value: T): Promise<T> => {
    done.push(what);
    return Promise.resolve(value);
  };
  const host: SiteHost = {
    look: () => Promise.resolve(found),
    install: () => did('install', undefined),
    start: (kind, program, info, options) =>
      did(`start ${kind} ${info} ${options.join(' ')}`, { pid: 9, program, address: options[1] ?? '', token: 't' }),
    stop: (kinds) => did(`stop ${kinds.join(' ')}`, undefined),
    forward: (remote) => did(`forward ${remote}`, 'unix:/here'),
    isIdle: () => did('ask', isIdle),
  };
  const program = { sha256: 'new', bytes: 1, system: 'Linux x86_64', packed: () => Promise.resolve('x.gz') };
  const wanted: Wanted = { site: { ...site, ...more.site }, program, now, onStep: () => undefined };
  return { up: await bringUp(host, wanted), done };
}

const socket = 'unix:/home/ana/.mutirao/front/uni/run';

test('at a new host the executable is carried over, the provider is started at a socket of its folder, and that is forwarded', async (t) => {
  const { done, up } = await play({ found: nothing });
  t.deepEqual(done, [
    'install',
    `start provider providers/uni/provider.json --listen ${socket}/provider --manager slurm --slurm-partition short`,
    `forward ${socket}/provider`,
  ]);
  t.like(up, { address: 'unix:/here', token: 't', processes: { provider: { pid: 9, program: 'new' } } });
});

test('what runs is left alone', async (t) => {
  const { done, up } = await play({ found: running });
  t.deepEqual(done, ['forward unix:/there']);
  t.false(up.facts.isOutdated);
});

test('an executable that is there is not carried again', async (t) => {
  const { done } = await play({ found: { ...running, processes: {} } });
  t.deepEqual(
    done.map((what) => what.split(' ')[0]),
    ['start', 'forward'],
  );
});

test('an embedded cluster is started before its provider, which receives its name', async (t) => {
  const { done } = await play({ found: running, site: { manager: 'embedded', processors: 4, providerOptions: [] } });
  t.deepEqual(done, [
    `start cluster clusters/uni/cluster.json --listen ${socket}/cluster --processors 4`,
    'forward unix:/there',
  ]);
  const again = await play({ found: nothing, site: { manager: 'embedded', processors: 4, providerOptions: [] } });
  t.deepEqual(again.done.slice(1, 3), [
    `start cluster clusters/uni/cluster.json --listen ${socket}/cluster --processors 4`,
    `start provider providers/uni/provider.json --listen ${socket}/provider --manager embedded --cluster uni`,
  ]);
});

test('a provider of another release is replaced when it is idle', async (t) => {
  const { done, up } = await play({ found: old, isIdle: true });
  t.deepEqual(
    done.map((what) => what.split(' ')[0]),
    ['forward', 'ask', 'stop', 'install', 'start', 'forward'],
  );
  t.false(up.facts.isOutdated);
});

test('a provider of another release that has work goes on, and a note says so', async (t) => {
  const { done, up } = await play({ found: old });
  t.deepEqual(
    done.map((what) => what.split(' ')[0]),
    ['forward', 'ask', 'forward'],
  );
  t.true(up.facts.isOutdated);
  t.is(up.facts.program, 'old');
});

test('a provider of another release is replaced at once when that is said', async (t) => {
  const { done } = await play({ found: old, now: true });
  t.deepEqual(
    done.map((what) => what.split(' ')[0]),
    ['stop', 'install', 'start', 'forward'],
  );
});

test('a host of another kind is refused before anything is carried', async (t) => {
  await t.throwsAsync(play({ found: { ...nothing, system: 'Linux aarch64' } }), {
    code: 'MUT_SITE_UNSUPPORTED_HOST',
    message: /ana@front is Linux aarch64; the executable is for Linux x86_64/,
  });
});

test('a provider of a former release is reached at its port until it is idle, and is then replaced by one at a socket', async (t) => {
  const former: FoundSite = { ...old, providerAddress: '127.0.0.1:1' };
  const busy = await play({ found: former, site: { address: '127.0.0.1:5' } });
  t.is(busy.done.at(-1), 'forward 127.0.0.1:1');
  t.is(busy.up.address, 'unix:/here');
  const idle = await play({ found: former, site: { address: '127.0.0.1:5' }, isIdle: true });
  t.is(idle.done.at(-1), `forward ${socket}/provider`);
});

test('a folder whose name is too long for sockets is refused before anything is started, and which one is wanted is said', async (t) => {
  await t.throwsAsync(play({ found: { ...nothing, base: `/home/${'a'.repeat(90)}` } }), {
    code: 'MUT_BAD_CONFIG',
    message: /has 119 bytes, and the kernel takes 107; expected a folder with a shorter name/,
  });
});
