// An embedded cluster whose processors are those of other hosts, behind a real sshd: commands run there, end there, and
// are over with their node.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ClusterServiceClient, RequestStatus, type QueuedRequest } from '@mutirao/api/cluster';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { isAlive, Program, SshServer, temporaryFolder, until } from '@mutirao/testkit';

class Rig {
  readonly hosts: readonly SshServer[];
  readonly cluster: Program;
  readonly client: ClusterServiceClient;

  private constructor(hosts: readonly SshServer[], cluster: Program, client: ClusterServiceClient) {
    this.hosts = hosts;
    this.cluster = cluster;
    this.client = client;
  }

  /** Two nodes of two processors, each a sshd of its own. @param env of all that runs on them. */
  static async start(t: ExecutionContext, env: Readonly<Record<string, string>> = {}): Promise<Rig> {
    const home = temporaryFolder(t);
    const hosts = [new SshServer({ env }), new SshServer({ env })];
    for (const host of hosts) await host.start();
    // One configuration for both, since options are for all nodes.
    const config = path.join(home, 'ssh_config');
    writeFileSync(
      config,
      hosts
        .map((host, index) =>
          readFileSync(host.configPath, 'utf8')
            .split('\n')
            .filter(
              (line) =>
                !line.startsWith('Host inner') &&
                !line.startsWith('  ProxyJump') &&
                !line.startsWith('Host foreign') &&
                !line.includes('foreign_key'),
            )
            .map((line) => (line.startsWith('Host ') ? `Host node${index}` : line))
            .join('\n'),
        )
        .join('\n'),
    );
    const cluster = new Program(
      'cluster',
      [
        '--home',
        home,
        '--kill-grace',
        '500ms',
        '--ssh-option',
        `-F${config}`,
        '--node',
        'n0=ssh:node0:2',
        '--node',
        'n1=ssh:node1:2',
      ],
      {},
    );
    t.teardown(async () => {
      await cluster.kill('SIGTERM');
      for (const host of hosts) await host.stop();
    });
    await cluster.start();
    return new Rig(
      hosts,
      cluster,
      dial(ClusterServiceClient, cluster.address, { token: readFileSync(path.join(home, 'token'), 'utf8').trim() }),
    );
  }

  async allocate(width: number, script: string, environment: Record<string, string> = {}): Promise<string> {
    const { requestId } = await callUnary(
      this.client,
      'allocate',
      {
        userId: 'root',
        widthProcessors: width,
        walltimeMs: 60_000,
        command: ['/bin/sh', '-c', script, "a 'word'"],
        environment,
        workingDirectory: '',
        clientRequestId: '',
        reservationClaim: '',
      },
      { deadlineMs: 60_000 },
    );
    return requestId;
  }

  async find(requestId: string): Promise<QueuedRequest | undefined> {
    const { requests } = await callUnary(
      this.client,
      'getQueue',
      { endedMax: 100, userId: '' },
      { deadlineMs: 60_000 },
    );
    return requests.find((request) => request.requestId === requestId);
  }

  async untilEnded(requestId: string, deadlineMs?: number): Promise<QueuedRequest | undefined> {
    await until(
      async () => (await this.find(requestId))?.status === RequestStatus.ENDED,
      `request ${requestId} ends`,
      deadlineMs,
    );
    return this.find(requestId);
  }

  getFiles(index: number): string[] {
    const { home } = this.hosts[index] as SshServer;
    return existsSync(home)
      ? readdirSync(home)
          .filter((name) => !name.startsWith('.'))
          .sort()
      : [];
  }

  pidIn(index: number, name: string): number {
    const file = path.join((this.hosts[index] as SshServer).home, name);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  }
}

test("the processes of a request run on the nodes, with their environment, and their end is the request's", async (t) => {
  const rig = await Rig.start(t);
  const done = await rig.untilEnded(
    await rig.allocate(3, 'printf "%s %s %s" "$NOTE" "$0" "$MUTIRAO_NODE" >out-$MUTIRAO_PROCESS_INDEX', {
      NOTE: 'it\'s "x" $y\nz',
    }),
  );
  t.is(done?.endReason, '');
  t.deepEqual([rig.getFiles(0), rig.getFiles(1)], [['out-0', 'out-1'], ['out-2']]);
  t.is(readFileSync(path.join((rig.hosts[1] as SshServer).home, 'out-2'), 'utf8'), "it's \"x\" $y\nz a 'word' n1");
  const awkward = {
    key: 'k',
    file: 'f',
    folder: 'd',
    boot: 'b',
    how: 'h',
    here: '/nowhere',
    round: '99',
    status: 's',
    target: 't',
  };
  const said = await rig.untilEnded(
    await rig.allocate(
      1,
      'echo "$key $file $folder $boot $how $here $round $status $target" >said; env | grep mutirao_ >>said; :',
      awkward,
    ),
  );
  t.is(said?.endReason, '');
  t.is(readFileSync(path.join((rig.hosts[0] as SshServer).home, 'said'), 'utf8'), 'k f d b h /nowhere 99 s t\n');
  t.is((await rig.untilEnded(await rig.allocate(2, 'exit $MUTIRAO_PROCESS_INDEX')))?.endReason, 'MUT_COMMAND_FAILED');
  for (const host of rig.hosts) t.is(host.sessions().length, 1);
});

test('a request that is released ends on its nodes with all that it started', async (t) => {
  const rig = await Rig.start(t);
  const requestId = await rig.allocate(1, 'trap "" TERM; echo $$ >pid; sleep 600 & echo $! >child; wait; wait');
  await until(() => rig.pidIn(0, 'child') > 0, 'it runs');
  await callUnary(rig.client, 'release', { requestId }, { deadlineMs: 60_000 });
  t.is((await rig.untilEnded(requestId))?.endReason, 'MUT_RELEASED');
  await until(() => !isAlive(rig.pidIn(0, 'pid')) && !isAlive(rig.pidIn(0, 'child')), 'both are gone');
});

test('with a node its requests end with the reason, others go on, and the node comes back clean', async (t) => {
  const rig = await Rig.start(t);
  const lost = await rig.allocate(2, 'echo $$ >pid-$MUTIRAO_PROCESS_INDEX; sleep 600');
  const other = await rig.allocate(1, 'echo $$ >pid; until [ -e go ]; do sleep 0.1; done');
  await until(() => rig.pidIn(0, 'pid-1') > 0 && rig.pidIn(1, 'pid') > 0, 'both run');
  rig.hosts[0]?.cut();
  t.is((await rig.untilEnded(lost))?.endReason, 'MUT_NODE_LOST');
  t.is((await rig.find(other))?.status, RequestStatus.RUNNING);
  await until(
    () => !isAlive(rig.pidIn(0, 'pid-0')) && !isAlive(rig.pidIn(0, 'pid-1')),
    'what ran on is ended when the node is back',
  );
  await until(
    async () => (await rig.untilEnded(await rig.allocate(3, 'echo x >again')))?.endReason === '',
    'the node works again',
  );
  t.is((await rig.find(other))?.status, RequestStatus.RUNNING);
  writeFileSync(path.join((rig.hosts[1] as SshServer).home, 'go'), '');
  t.is((await rig.untilEnded(other))?.endReason, '');
});

test('while a node is away, requests that need it wait, those that fit without it go on, and all run when the node is back', async (t) => {
  const rig = await Rig.start(t);
  const lost = await rig.allocate(2, 'echo $$ >pid; sleep 600');
  await until(() => rig.pidIn(0, 'pid') > 0, 'it runs');
  await rig.hosts[0]?.kill();
  t.is((await rig.untilEnded(lost))?.endReason, 'MUT_NODE_LOST');
  const wide = await rig.allocate(3, 'echo x >wide');
  for (const width of [1, 2, 2])
    t.is((await rig.untilEnded(await rig.allocate(width, 'echo x >narrow')))?.endReason, '');
  t.like(await rig.find(wide), { status: RequestStatus.QUEUED });
  await rig.hosts[0]?.start();
  // The longer a node has been away, the longer are the pauses between two tries to reach it: a minute at most.
  t.is((await rig.untilEnded(wide, 90_000))?.endReason, '');
});

test("nodes whose logins share a home folder do not get in each other's way", async (t) => {
  const rig = await Rig.start(t, { HOME: temporaryFolder(t) });
  const long = await rig.allocate(1, 'echo $$ >pid; until [ -e go ]; do sleep 0.1; done');
  await until(() => rig.pidIn(0, 'pid') > 0, 'it runs');
  for (const width of [3, 3])
    t.is((await rig.untilEnded(await rig.allocate(width, 'test "$MUTIRAO_PROCESS_COUNT" = 3')))?.endReason, '');
  const { home } = rig.hosts[0] as SshServer;
  writeFileSync(path.join(home, 'go'), '');
  t.is((await rig.untilEnded(long))?.endReason, '');
  // Process ids of one host say nothing on the other, which this one host cannot show: each must have a folder.
  t.deepEqual(readdirSync(path.join(home, '.mutirao/requests/local')).sort(), ['n0', 'n1']);
});
