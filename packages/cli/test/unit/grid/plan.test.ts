import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ownProgram, type ProcessName } from '@mutirao/runtime/processes';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';
import { calledAs, findClusterNodes, findSettings } from '../../../src/commands/up.ts';
import { findClusterAddress } from '../../../src/grid/addresses.ts';
import {
  clusterName,
  embeddedManager,
  GridPlan,
  listFormerProviders,
  noManager,
  parseClusters,
} from '../../../src/grid/plan.ts';
import { parseSettings, refuseWithoutProcess } from '../../../src/grid/settings.ts';
import { claimHome, findGridRecord, isSupervised, type GridRecord } from '../../../src/grid/record.ts';

const record: GridRecord = { pid: 1, startedUnixMs: 0, broker: '', clusters: [], machines: 0, processes: {} };

/** What a command gives to its program, which is started in several words: from sources or from a bundle. */
function listArguments(name: ProcessName, command: readonly string[]): readonly string[] {
  return command.slice(ownProgram(name).length);
}

test('clusters are named and sized by a list', (t) => {
  t.deepEqual(parseClusters('8,4'), [8, 4]);
  t.deepEqual(parseClusters('0'), []);
  t.deepEqual([0, 1, 8].map(clusterName), ['alpha', 'beta', 'cluster9']);
  for (const text of ['8,', 'x', '-1', '8;4', '70000'])
    t.throws(() => parseClusters(text), { code: 'MUT_BAD_REQUEST' });
});

test('settings become options of all processes of a kind, after our own', (t) => {
  const settings = parseSettings(['cluster.walltime-max=10m', 'agent.kill-grace=1s']);
  const plan = new GridPlan('/home', { clusters: [8], machines: 0, machineProcessors: 1, settings });
  t.deepEqual(listArguments('cluster', plan.cluster('alpha', 8).command(undefined)), [
    '--home',
    '/home',
    '--id',
    'alpha',
    '--processors',
    '8',
    '--walltime-max',
    '10m',
  ]);
  t.deepEqual(plan.agent('lab/m1', 'h:1').command(undefined).slice(-4), ['--processors', '1', '--kill-grace', '1s']);
  t.throws(() => parseSettings(['walltime-max=10m']), { code: 'MUT_BAD_REQUEST' });
});

test('the processors of a cluster are divided among nodes with memory and GPUs', (t) => {
  const found = findClusterNodes({ clusters: '8', clusterNodes: 2, clusterMemory: '1G', clusterGpus: '1:a100' });
  const settings = parseSettings([]);
  const plan = new GridPlan('/home', { clusters: [8], ...found, machines: 0, machineProcessors: 1, settings });
  t.deepEqual(listArguments('cluster', plan.cluster('alpha', 8).command(undefined)).slice(4), [
    '--node',
    'n1=local:4:memory=1073741824:gpus=1:a100',
    '--node',
    'n2=local:4:memory=1073741824:gpus=1:a100',
  ]);
  t.deepEqual(findClusterNodes({ clusters: '8,4', clusterMemory: '1G' }).clusterNodes, {
    count: 1,
    properties: ':memory=1073741824',
  });
  t.deepEqual(findClusterNodes({ clusters: '8' }), {});
  const refuse = (options: Parameters<typeof findClusterNodes>[0], message: RegExp): void => {
    t.throws(() => findClusterNodes(options), { message });
  };
  refuse({ clusters: '8,4', clusterNodes: 3 }, /--cluster-nodes 3 does not divide 8 .* as in --clusters 9/);
  refuse({ clusters: '0', clusterMemory: '1G' }, /there is --cluster-memory, and --clusters is "0"/);
  refuse({ clusters: '8', clusterGpus: '1', reservations: true }, /--cluster-gpus and --reservations exclude/);
  refuse({ clusters: '8', clusterGpus: '0,1' }, /--cluster-gpus is "0,1"; expected how many each node has/);
  refuse({ clusters: '8', clusterMemory: 'much' }, /much/);
});

test('a cluster of a grid with reservations honours them, under its name', (t) => {
  const plan = new GridPlan('/home', {
    clusters: [8],
    machines: 0,
    machineProcessors: 1,
    hasReservations: true,
    settings: parseSettings([]),
  });
  t.deepEqual(listArguments('reservations', plan.reservations('local').command(undefined)), [
    '--home',
    '/home',
    '--id',
    'local',
  ]);
  t.deepEqual(listArguments('cluster', plan.cluster('alpha', 8, 'h:7').command(undefined)).slice(2), [
    '--id',
    'alpha',
    '--processors',
    '8',
    '--reservations',
    'h:7',
  ]);
  t.deepEqual(embeddedManager('h:1', 'alpha').slice(-2), ['--reservation-resource', 'alpha']);
  t.deepEqual(embeddedManager('h:1'), ['--manager', 'embedded', '--cluster', 'h:1']);
});

test('every process of a traced grid writes a file of its own', (t) => {
  const plan = new GridPlan('/home', {
    clusters: [8],
    machines: 1,
    machineProcessors: 1,
    settings: parseSettings([]),
    traces: '/traces',
  });
  const getFiles = ({ command }: { command(address: undefined): readonly string[] }): (string | undefined)[] =>
    command(undefined).filter((_word, index, all) => all[index - 1] === '--trace');
  t.deepEqual(getFiles(plan.broker([])), ['/traces/broker.jsonl']);
  t.deepEqual(getFiles(plan.cluster('alpha', 8)), ['/traces/cluster-alpha.jsonl']);
  t.deepEqual(getFiles(plan.agent('lab/m1', 'h:1')), ['/traces/agent-lab-m1.jsonl']);
});

test('the processes of a leashed grid watch their standard input', (t) => {
  const plan = new GridPlan('/home', {
    clusters: [],
    machines: 0,
    machineProcessors: 1,
    isLeashed: true,
    settings: parseSettings([]),
  });
  t.deepEqual(listArguments('provider', plan.provider('p', noManager).command(undefined)), [
    '--home',
    '/home',
    '--leash',
    '--id',
    'p',
    '--manager',
    'none',
  ]);
});

test('a process that is started again listens where it did', (t) => {
  const plan = new GridPlan('/home', { clusters: [], machines: 1, machineProcessors: 1, settings: parseSettings([]) });
  t.deepEqual(listArguments('broker', plan.broker([{ name: 'lab', address: 'h:1' }]).command('unix:/s/broker')), [
    '--home',
    '/home',
    '--provider',
    'lab=h:1',
    '--listen',
    'unix:/s/broker',
  ]);
});

test('of two grids that claim a home folder one wins', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'mutirao-claim-'));
  t.teardown(() => {
    rmSync(home, { recursive: true });
  });
  t.true(claimHome(home, record));
  t.false(claimHome(home, { ...record, pid: 2 }));
  t.is(findGridRecord(home)?.pid, 1);
});

test('a copy of a home folder does not take the processes of the original for its own; a home folder that was moved does', (t) => {
  const folder = temporaryFolder(t);
  const [home, copy, moved] = ['home', 'copy', 'moved'].map((name) => join(folder, name)) as [string, string, string];
  claimHome(home, record);
  cpSync(home, copy, { recursive: true });
  t.is(findGridRecord(copy), undefined);
  renameSync(home, moved);
  t.is(findGridRecord(moved)?.pid, record.pid);
});

test('a process id that belongs to another program is not a grid', (t) => {
  t.false(isSupervised({ ...record, pid: 999_999_999 }));
  t.false(isSupervised({ ...record, pid: 1 }));
});

test('a grid of another host, which shares the home folder, is taken to live, and is stopped there', async (t) => {
  const home = temporaryFolder(t);
  const elsewhere = { ...record, pid: 999_999_999, host: `not-${hostname()}` };
  t.true(isSupervised(elsewhere));
  claimHome(home, elsewhere);
  t.regex((await runCommandLine(['down'], { home })).err, /runs on not-.*; expected "mutirao down" there/);
});

test('up refuses sizes that make no grid', async (t) => {
  t.regex(
    (await runCommandLine(['up', '--clusters', '0', '--machines', '0'])).err,
    /MUT_BAD_REQUEST --clusters 0 --machines 0 leaves the grid without processors\. Leave one of them out/,
  );
  t.is((await runCommandLine(['up', '--machines', 'two'])).status, 2);
});

test('up refuses an unknown site selection before anything is started', async (t) => {
  for (const [text, message] of [
    ['min-ctt', /--site-selection "min-ctt" begins with no strategy; do you mean min-ct\?/],
    ['min-ct:2', /has the admissibility "2"; expected a number in 0\.\.1, or "adaptive"/],
    ['', /begins with no strategy; expected one of random/],
  ] as const) {
    const { status, err } = await runCommandLine(['up', '--site-selection', text]);
    t.is(status, 2, text);
    t.regex(err, message);
  }
});

test('down without a grid has nothing to do', async (t) => {
  const { status, err } = await runCommandLine(['down']);
  t.is(status, 0);
  t.is(err, 'No grid runs in /dev/null/home.\n');
});

test('a cluster is found by its name, by an address, or because it is the only one', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'mutirao-clusters-'));
  t.teardown(() => {
    rmSync(home, { recursive: true });
  });
  const alpha = { name: 'alpha', processors: 8, cluster: 'h:1', provider: 'h:2' };
  const released: unknown[] = [];
  const cluster = { release: (asked: unknown) => Promise.resolve(released.push(asked)) };
  claimHome(home, { ...record, clusters: [alpha, { ...alpha, name: 'beta' }] });
  t.regex(
    (await runCommandLine(['cluster', 'cancel', '1'], { home, cluster })).err,
    /several clusters; expected --cluster with one of alpha, beta/,
  );
  t.regex(
    (await runCommandLine(['cluster', 'cancel', '1', '--cluster', 'x'], { home, cluster })).err,
    /no cluster is named "x"; expected one of alpha, beta/,
  );
  t.is(
    (await runCommandLine(['cluster', 'cancel', '1', '2', '--cluster', 'beta', '-q'], { home, cluster })).out,
    '1\n2\n',
  );
  t.deepEqual(released, [{ requestId: '1' }, { requestId: '2' }]);
});

test('a cluster that was started by itself is found by its name, with or without a grid', (t) => {
  const home = temporaryFolder(t);
  const find = (name?: string): string => findClusterAddress(home, name).address;
  t.throws(() => find(), {
    code: 'MUT_UNREACHABLE',
    message: /there is no grid in .*, and no cluster has started there; expected one, or --cluster with an address/,
  });
  for (const name of ['hall', 'lab', 'never']) mkdirSync(join(home, 'clusters', name), { recursive: true });
  writeFileSync(join(home, 'clusters', 'lab', 'cluster.json'), '{"address":"h:1"}');
  t.is(find(), 'h:1');
  writeFileSync(join(home, 'clusters', 'hall', 'cluster.json'), '{"address":"h:2"}');
  t.is(find('lab'), 'h:1');
  t.throws(() => find(), {
    code: 'MUT_BAD_REQUEST',
    message: /several clusters; expected --cluster with one of hall, lab/,
  });
  t.throws(() => find('never'), {
    code: 'MUT_BAD_REQUEST',
    message: /no cluster is named "never"; expected one of hall, lab/,
  });
  claimHome(home, { ...record, clusters: [{ name: 'alpha', processors: 8, cluster: 'h:3', provider: 'h:4' }] });
  t.deepEqual([find(), find('hall'), find('h:9')], ['h:3', 'h:2', 'h:9']);
});

test('a setting without effect is refused with what has one', (t) => {
  for (const [text, says] of [
    ['broker.listen=127.0.0.1:7000', /--set broker\.listen has no effect: .*mutirao run broker --listen/],
    ['provider.home=/x', /use --home/],
    ['cluster.processors=9', /use --clusters/],
    ['brokr.nats=x', /did you mean broker\.nats=x\?/],
    ['scheduler.x=y', /with a process of agent, broker/],
    ['broker.nats', /expected PROCESS\.OPTION=VALUE/],
  ] as const)
    t.throws(() => parseSettings([text]), { code: 'MUT_BAD_REQUEST', message: says }, text);
  t.notThrows(() =>
    parseSettings([
      'agent.gang-address=10.0.0.1',
      'agent.gang-address=10.0.0.2',
      'agent.attribute=a=1',
      'agent.attribute=b=2',
      'reservations.registrar=a',
      'reservations.registrar=b',
    ]),
  );
  t.throws(() => parseSettings(['cluster.walltime-max=1m', 'cluster.walltime-max=2m']), {
    message: /given twice, as "1m" and "2m"/,
  });
  t.throws(
    () => {
      refuseWithoutProcess(parseSettings(['cluster.walltime-max=1m']), { cluster: 'there are no clusters' });
    },
    { message: '--set cluster.walltime-max has no effect: there are no clusters' },
  );
  t.notThrows(() => {
    refuseWithoutProcess(parseSettings(['broker.nats=x']), { cluster: 'there are no clusters' });
  });
});

test('how tasks are kept apart goes to lab machines, and to the providers for agents of allocations', (t) => {
  const settings = findSettings({ set: ['agent.isolation=none'], isolation: 'bubblewrap' });
  t.deepEqual(settings.provider, ['--isolation', 'bubblewrap']);
  t.deepEqual(settings.agent, ['--isolation', 'bubblewrap', '--isolation', 'none'], 'the last one holds');
  t.deepEqual(findSettings({ set: [] }).provider, []);
  t.throws(() => findSettings({ set: [], isolation: 'bwrap' }), { code: 'MUT_BAD_CONFIG' });
});

test('providers that an earlier up has started are named to the broker, others are left alone', (t) => {
  const home = temporaryFolder(t);
  const write = (name: string, address: string, pid = 999_999_999): void => {
    mkdirSync(join(home, 'providers', name), { recursive: true });
    writeFileSync(join(home, 'providers', name, 'provider.json'), JSON.stringify({ address, pid }));
  };
  write('lab', 'unix:/run/provider-lab');
  write('alpha', 'unix:/run/provider-alpha');
  write('beta', '10.0.0.1:4000');
  write('mycluster', 'unix:/run/provider-mycluster');
  t.deepEqual(listFormerProviders(home, ['alpha']), [{ name: 'lab', address: 'unix:/run/provider-lab' }]);
  t.deepEqual(listFormerProviders(join(home, 'none'), []), []);
});

test('the command line is named as it was called: through npx, by its name, or by its path', (t) => {
  const folder = temporaryFolder(t);
  const script = '/a clone/packages/cli/bin/mutirao.js';
  t.is(calledAs({ environment: { PATH: folder }, script }), "'/a clone/packages/cli/bin/mutirao.js'");
  t.is(calledAs({ environment: {}, script: undefined }), 'mutirao');
  writeFileSync(join(folder, 'mutirao'), '', { mode: 0o755 });
  t.is(calledAs({ environment: { PATH: `:${folder}` }, script }), 'mutirao');
  t.is(calledAs({ environment: { PATH: folder, npm_command: 'exec' }, script }), 'npx mutirao');
});
