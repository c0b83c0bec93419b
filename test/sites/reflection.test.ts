// Clients of other makers that know a process by server reflection alone: Python's descriptor pool, and the Go library
// that grpcurl is made of.
import { execFile, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { accessTable } from '@mutirao/api/access';
import { buildExampleClient, taskGroup, temporaryFolder, until, type WithTeardown } from '@mutirao/testkit';
import { AccessWorld, type WorldServer } from '@mutirao/testkit/access';
import test, { type ExecutionContext } from 'ava';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

let world: AccessWorld;
test.serial.before(async () => {
  world = await AccessWorld.start(false);
});
test.serial.after.always(async () => {
  await world.stop();
});

const servers: readonly (readonly [WorldServer, string])[] = [
  ['broker', 'mutirao.broker.v1.BrokerService'],
  ['cluster', 'mutirao.cluster.v1.ClusterService'],
  ['site', 'mutirao.provider.v1.GridMachineProviderService'],
  ['lab', 'mutirao.provider.v1.GridMachineProviderService'],
  ['reservations', 'mutirao.reservation.v1.ReservationService'],
];

/** Runs a client for a process with the token in a file, and gives what it printed. */
type Client = (server: WorldServer, tokenFile: string, ...args: readonly string[]) => Promise<string>;

async function pythonClient(t: WithTeardown): Promise<Client> {
  const {
    folder,
    command: [python],
  } = await buildExampleClient(t, 'python');
  return async (server, tokenFile, ...args) =>
    (await run(python, [join(folder, 'call.py'), '--token', tokenFile, world.listAddress(server), ...args])).stdout;
}

async function goClient(t: WithTeardown): Promise<Client> {
  const folder = join(temporaryFolder(t), 'client');
  cpSync(join(root, 'test/sites/reflection-client'), folder, { recursive: true });
  await run('go', ['build', '-o', 'client', '.'], { cwd: folder });
  return async (server, tokenFile, ...args) =>
    (await run(join(folder, 'client'), [world.listAddress(server), tokenFile, ...args])).stdout;
}

async function check(t: ExecutionContext, client: Client): Promise<void> {
  const token = join(world.grid.home, 'token');
  for (const [server, service] of servers) {
    const methods = (await client(server, token)).trim().split('\n');
    const expected = Object.keys(accessTable[service] ?? {}).map(
      (method) => `${service}/${method.charAt(0).toUpperCase()}${method.slice(1)}`,
    );
    t.deepEqual(methods.filter((method) => method.startsWith(`${service}/`)).sort(), expected.sort(), server);
    t.true(methods.includes('grpc.health.v1.Health/Check'), server);
  }
  const call = async (server: WorldServer, method: string, request: unknown = {}): Promise<unknown> =>
    JSON.parse(await client(server, token, method, JSON.stringify(request)));
  const { jobId } = (await call('broker', 'mutirao.broker.v1.BrokerService/SubmitJob', {
    job: { label: 'by reflection', groups: [{ command: 'echo {}', range: { count: '3' } }] },
    clientJobId: `of-${t.title}`,
  })) as { jobId: string };
  await world.grid.client.waitEnded(Number(jobId));
  t.like(await call('broker', 'mutirao.broker.v1.BrokerService/GetJob', { jobId }), {
    job: { jobId, status: 'JOB_STATUS_FINISHED', finishedCount: '3', label: 'by reflection' },
  });
  t.like(await call('cluster', 'mutirao.cluster.v1.ClusterService/GetLimits'), { processors: 2 });
  t.truthy(await call('site', 'mutirao.provider.v1.GridMachineProviderService/ListRequests'));
  t.truthy(await call('reservations', 'mutirao.reservation.v1.ReservationService/ListResources'));
  const error = await t.throwsAsync(client('broker', join(world.grid.home, 'broker.json')));
  t.regex(error.message, /UNAUTHENTICATED/i);
}

test.serial(
  "Python's descriptor pool resolves every method of every process, and a job is submitted by reflection alone",
  async (t) => {
    await check(t, await pythonClient(t));
  },
);
test.serial(
  'the library of grpcurl resolves every method of every process, and a job is submitted by reflection alone',
  async (t) => {
    await check(t, await goClient(t));
  },
);

test.serial('a client by reflection watches for longer than it waits for a single answer', async (t) => {
  const {
    folder,
    command: [python],
  } = await buildExampleClient(t, 'python');
  const patienceMs = 1000;
  const program = `import sys; sys.path.insert(0, ${JSON.stringify(folder)}); import call
find_methods = call.find_methods
def find(channel):
    methods = find_methods(channel)
    call.PATIENCE = ${patienceMs / 1000}
    return methods
call.find_methods = find
sys.exit(call.main())`;
  const args = ['--token', join(world.grid.home, 'token'), world.listAddress('broker')];
  const child = spawn(python, ['-c', program, ...args, 'mutirao.broker.v1.BrokerService/WatchJob', '{}']);
  t.teardown(() => child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await until(() => printed.includes('"journalInstance"') || child.exitCode !== null, 'it watches');
  const begun = performance.now();
  await until(() => performance.now() - begun > 2 * patienceMs || child.exitCode !== null, 'its patience is over');
  const jobId = await world.grid.client.submit([taskGroup('true', 1)]);
  await until(() => printed.includes(`"jobId": "${jobId}"`) || child.exitCode !== null, 'it sees the job');
  t.is(child.exitCode, null, printed);
  t.false(printed.includes('DEADLINE'), printed);
});
