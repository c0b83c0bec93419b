import { mkdtempSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ClusterServiceClient } from '@mutirao/api/cluster';
import { EmbeddedCluster, type AllocationOrder } from '@mutirao/managers';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { killProcess, ownProgram, startProcess } from '@mutirao/runtime/processes';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { until } from '@mutirao/testkit';

const [command, ...own] = ownProgram('cluster');

/** A cluster process in a home folder of its own, and a client of it. */
class ClusterUnderTest {
  readonly home = mkdtempSync(join(tmpdir(), 'mutirao-cluster-'));
  readonly directory = join(this.home, 'clusters', 'a');
  manager!: EmbeddedCluster;
  address = '';
  /** Orders, each with the tighter walltime that would have gained it something. */
  readonly gains: [string, number][] = [];
  pid = 0;
  exitStatus: number | undefined;

  async start(...flags: string[]): Promise<void> {
    const addressFile = join(this.directory, 'cluster.json');
    rmSync(addressFile, { force: true });
    this.exitStatus = undefined;
    this.pid =
      startProcess({
        command,
        args: [
          ...own,
          '--home',
          this.home,
          '--id',
          'a',
          '--processors',
          '3',
          '--walltime-granularity',
          '1ms',
          '--kill-grace',
          '100ms',
          ...flags,
        ],
        onExit: ({ status }) => {
          this.exitStatus = status;
        },
      }).pid ?? 0;
    await until(() => existsSync(addressFile), 'the cluster listens');
    ({ address: this.address } = JSON.parse(readFileSync(addressFile, 'utf8')) as { address: string });
    this.manager = new EmbeddedCluster({
      address: this.address,
      token: readToken(tokenPath(this.home)),
      onWalltimeGain: ({ clientRequestId }, { walltimeMs }) => {
        this.gains.push([clientRequestId, walltimeMs]);
      },
    });
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.manager.close();
    killProcess(this.pid, signal);
    await until(() => this.exitStatus !== undefined, 'the cluster process ends');
  }

  allocate(clientRequestId: string, width: number, walltime: number, script: string): Promise<string> {
    return this.allocateAs('ana', { clientRequestId, width, walltime }, script);
  }

  allocateAs(
    userId: string,
    order: Pick<AllocationOrder, 'clientRequestId' | 'width' | 'walltime'>,
    script: string,
  ): Promise<string> {
    return this.manager.allocate({
      ...order,
      userId,
      command: ['/bin/sh', '-c', script],
      environment: { GREETING: 'hello' },
      workingDirectory: '',
    });
  }

  async entry(requestId: string) {
    return (await this.manager.queue(100)).requests.find(({ managerRequestId }) => managerRequestId === requestId);
  }

  async untilEnded(requestId: string): Promise<string | undefined> {
    await until(async () => (await this.entry(requestId))?.status === 'ended', `request ${requestId} ends`);
    return (await this.entry(requestId))?.endReason;
  }

  /** Lines that the processes of a request wrote. */
  output(requestId: string, index: number): string[] {
    const path = join(this.directory, 'requests', `${requestId}.${index}.out`);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  }
}

/** Ignores SIGTERM, starts a child that does too, and writes both their numbers. */
const stubborn = 'trap "" TERM; sleep 1000 & echo $$; echo $!; while :; do sleep 1000; done';

function anyLives(pids: readonly string[]): boolean {
  return pids.some((pid) => killProcess(Number(pid), 0));
}

let cluster: ClusterUnderTest;

test.beforeEach(async () => {
  cluster = new ClusterUnderTest();
  await cluster.start();
});

test.afterEach.always(async () => {
  if (cluster.exitStatus === undefined) await cluster.end('SIGKILL');
  rmSync(cluster.home, { recursive: true, force: true });
});

test.serial('a request runs its command once per processor, with its place in the environment', async (t) => {
  const id = await cluster.allocate(
    'k',
    3,
    60_000,
    'echo $GREETING $MUTIRAO_REQUEST_ID $MUTIRAO_PROCESS_INDEX/$MUTIRAO_PROCESS_COUNT $MUTIRAO_WALLTIME_END_UNIX_MS',
  );
  t.is(await cluster.untilEnded(id), '');
  const end = ((await cluster.entry(id))?.startsAt ?? 0) + 60_000;
  t.deepEqual(
    [0, 1, 2].map((index) => cluster.output(id, index)),
    [0, 1, 2].map((index) => [`hello ${id} ${index}/3 ${end}`]),
  );
});

test.serial(
  'at the walltime the whole group ends, whatever it does about it, and the next request starts',
  async (t) => {
    const id = await cluster.allocate('k1', 3, 500, stubborn);
    const next = await cluster.allocate('k2', 3, 60_000, 'true');
    await until(() => cluster.output(id, 2).length === 2, 'the processes run');
    const pids = [0, 1, 2].flatMap((index) => cluster.output(id, index));
    t.true(pids.every((pid) => anyLives([pid])));
    t.is(await cluster.untilEnded(id), 'MUT_WALLTIME_ENDED');
    t.is(await cluster.untilEnded(next), '');
    await until(() => !anyLives(pids), 'all processes of the request are gone');
  },
);

test.serial('a released request ends, and what its command left behind ends with it', async (t) => {
  const running = await cluster.allocate('k1', 2, 60_000, 'sleep 1000 & echo $!; wait');
  const done = await cluster.allocate('k2', 1, 60_000, 'sleep 1000 & echo $!');
  t.is(await cluster.untilEnded(done), '');
  await until(() => cluster.output(running, 1).length === 1, 'the processes run');
  await cluster.manager.release(running);
  t.is(await cluster.untilEnded(running), 'MUT_RELEASED');
  await until(
    () => !anyLives([...cluster.output(running, 0), ...cluster.output(running, 1), ...cluster.output(done, 0)]),
    'nothing is left',
  );
});

test.serial('after kill -9 nothing runs on, and a restarted cluster has its queue', async (t) => {
  const running = await cluster.allocate('k1', 2, 60_000, stubborn);
  const queued = await cluster.allocate('k2', 3, 60_000, 'true');
  await until(() => cluster.output(running, 1).length === 2, 'the processes run');
  const pids = [0, 1].flatMap((index) => cluster.output(running, index));
  await cluster.end('SIGKILL');
  await until(() => !anyLives(pids), 'the processes die with the cluster');
  await cluster.start();
  t.is(await cluster.untilEnded(running), 'MUT_CLUSTER_RESTARTED');
  t.is(await cluster.untilEnded(queued), '');
  t.is(await cluster.allocate('k2', 3, 60_000, 'true'), queued);
});

test.serial('after kill -9 scores are what they were, and order the queue', async (t) => {
  const byScores = ['--policy', 'fcfs', '--order', 'buc', '--buc-weight', '10800'];
  await cluster.end('SIGTERM');
  await cluster.start(...byScores);
  const findScores = async (): Promise<unknown[]> => {
    const client = dial(ClusterServiceClient, cluster.address, { token: readToken(tokenPath(cluster.home)) });
    const { scores } = await callUnary(client, 'getScores', { userId: '' }, { deadlineMs: 60_000 });
    client.close();
    return scores.map(({ userId, countedCount, score }) => [userId, countedCount, score > 60]);
  };
  const careless = await cluster.allocateAs(
    'careless',
    { clientRequestId: 'careless', width: 1, walltime: 3_600_000 },
    'true',
  );
  t.is(await cluster.untilEnded(careless), '');
  const exact = await cluster.allocateAs('exact', { clientRequestId: 'exact', width: 1, walltime: 2000 }, 'sleep 1.5');
  t.is(await cluster.untilEnded(exact), '');
  const overran = await cluster.allocateAs(
    'overran',
    { clientRequestId: 'overran', width: 1, walltime: 100 },
    'sleep 100',
  );
  t.is(await cluster.untilEnded(overran), 'MUT_WALLTIME_ENDED');
  const wanted = [
    ['exact', 1, true],
    ['careless', 1, false],
  ];
  t.deepEqual(await findScores(), wanted);
  const blocking = await cluster.allocate('blocks', 3, 60_000, 'sleep 1000');
  await until(async () => (await cluster.entry(blocking))?.status === 'running', 'the machine is taken');
  const later = await cluster.allocateAs(
    'careless',
    { clientRequestId: 'late', width: 3, walltime: 3_600_000 },
    'true',
  );
  t.deepEqual(cluster.gains, [], 'nobody is ahead of it');
  await cluster.manager.release(
    await cluster.allocateAs('never seen', { clientRequestId: 'vain', width: 1, walltime: 12_000_000 }, 'true'),
  );
  t.deepEqual(
    cluster.gains,
    [['vain', 6_000_000]],
    'of who was never seen a half is guessed, which would pass the careless one',
  );
  const sooner = await cluster.allocateAs('exact', { clientRequestId: 'soon', width: 3, walltime: 3_600_000 }, 'true');
  await cluster.end('SIGKILL');
  await cluster.start(...byScores);
  t.is(await cluster.untilEnded(later), '');
  const [first, second] = [await cluster.entry(sooner), await cluster.entry(later)];
  t.true(
    (first?.endedAt ?? 0) > 0 && (first?.startsAt ?? Infinity) < (second?.startsAt ?? 0),
    JSON.stringify([first, second]),
  );
  // Each has one more that counts by now; what was known before is in it.
  t.deepEqual(await findScores(), [
    ['exact', 2, true],
    ['careless', 2, false],
  ]);
});

test.serial('on SIGTERM a cluster ends what runs and exits with 0, the queue stays', async (t) => {
  const running = await cluster.allocate('k1', 3, 60_000, stubborn);
  const queued = await cluster.allocate('k2', 3, 60_000, 'true');
  await until(() => cluster.output(running, 2).length === 2, 'the processes run');
  const pids = [0, 1, 2].flatMap((index) => cluster.output(running, index));
  await cluster.end('SIGTERM');
  t.is(cluster.exitStatus, 0);
  await until(() => !anyLives(pids), 'all processes of the request are gone');
  t.deepEqual(cluster.output(queued, 0), []);
  await cluster.start();
  t.is(await cluster.untilEnded(queued), '');
});

test.serial('a command that is not there ends its request with a reason', async (t) => {
  const id = await cluster.manager.allocate({
    userId: 'ana',
    width: 2,
    walltime: 1000,
    command: ['/no/such/command'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'k',
  });
  t.regex(
    (await cluster.untilEnded(id)) ?? '',
    /^MUT_COMMAND_FAILED, its last words: spawn \/no\/such\/command ENOENT$/,
  );
  t.is((await cluster.manager.queue(0)).processorsFree, 3);
});

test.serial('limits, refusals and foreigners are reported by their codes', async (t) => {
  t.deepEqual(await cluster.manager.limits('ana'), {
    processors: 3,
    requestsMax: 10,
    walltimeMax: 86_400_000,
    widthMax: 3,
    walltimeGranularity: 1,
  });
  await t.throwsAsync(cluster.allocate('k', 4, 1000, 'true'), { code: 'MUT_WIDTH_MAX' });
  await t.throwsAsync(cluster.allocate('k', 1, 86_400_001, 'true'), { code: 'MUT_WALLTIME_MAX' });
  const foreign = new EmbeddedCluster({ address: cluster.address, token: 'x'.repeat(40) });
  await t.throwsAsync(foreign.queue(0), { code: 'MUT_UNAUTHENTICATED' });
  foreign.close();
});

test.serial('a watcher is notified when the queue changes, also after the cluster was away', async (t) => {
  const watching = new AbortController();
  let hints = 0;
  cluster.manager.watch(() => {
    hints += 1;
  }, watching.signal);
  await until(() => hints > 0, 'the first level comes');
  const before = hints;
  t.is(await cluster.untilEnded(await cluster.allocate('k', 1, 1000, 'true')), '');
  await until(() => hints > before, 'a change is announced');
  watching.abort();
});
