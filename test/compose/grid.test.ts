// A bag across hosts that share no file system and no network namespace, while networks are cut and hosts are killed.
// scripts/compose-test starts the grid and deploys to it (test/compose/deploy).
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { AckPolicy, connect } from 'nats';
import { until } from '@mutirao/testkit';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args, { maxBuffer: 1 << 26 })).stdout.trim();
}

async function compose(...args: string[]): Promise<string> {
  return (await run('docker-compose', args, { cwd: root, maxBuffer: 1 << 26 })).stdout.trim();
}

/** Runs a script on a host, as the user. */
async function on(host: string, script: string): Promise<string> {
  return compose('exec', '-T', '-u', 'mutirao', host, 'bash', '-c', `cd && ${script}`);
}

async function containerOf(host: string): Promise<string> {
  return compose('ps', '-q', host);
}

async function networkOf(name: string): Promise<string> {
  return docker('network', 'ls', '--quiet', '--filter', `label=com.docker.compose.network=${name}`, '--filter', `label=com.docker.compose.project=${process.env.COMPOSE_PROJECT_NAME ?? 'mutirao'}`);
}

/** The address of a host in one of its networks. */
async function addressOf(host: string, network: string): Promise<string> {
  const networks = JSON.parse(await docker('inspect', '--format', '{{json .NetworkSettings.Networks}}', await containerOf(host))) as Record<string, { IPAddress: string }>;
  const [, found] = Object.entries(networks).find(([name]) => name.endsWith(`_${network}`)) ?? [];
  if (found === undefined) throw new Error(`${host} is not in ${network}`);
  return found.IPAddress;
}

/** Whether a host can open a TCP connection to a port. */
async function reaches(host: string, address: string, port: number): Promise<boolean> {
  return on(host, `timeout 5 bash -c '</dev/tcp/${address}/${port}'`).then(() => true, () => false);
}

/** The power of a host goes and comes back: its processes and connections are gone, its disk stays. */
async function killHosts(...hosts: string[]): Promise<void> {
  const containers = await Promise.all(hosts.map(containerOf));
  await docker('kill', ...containers);
  await docker('start', ...containers);
}

interface Job { readonly job_id: number; readonly status: string; readonly finished_count: number }
interface JobEvent { readonly sequence: number; readonly type: string; readonly task_indexes: readonly number[]; readonly machine_id: string }

async function job(id: string): Promise<Job> {
  const [found] = JSON.parse(await on('home', `mutirao job show ${id} --json`)) as Job[];
  if (found === undefined) throw new Error(`job ${id} is not shown`);
  return found;
}

async function eventsOf(id: string): Promise<JobEvent[]> {
  const lines = await on('home', `mutirao events --job ${id} --json`);
  return lines.split('\n').map((line) => JSON.parse(line) as JobEvent);
}

/** Ids of the events of a job that NATS keeps, each once, in their order. */
async function idsOnNats(id: string): Promise<string[]> {
  const connection = await connect({ servers: await compose('port', 'nats', '4222') });
  try {
    const manager = await connection.jetstreamManager();
    const { name } = await manager.consumers.add('MUTIRAO_EVENTS', { ack_policy: AckPolicy.None, filter_subject: `mutirao.events.*.*.${id}`, inactive_threshold: 60e9 });
    const consumer = await connection.jetstream().consumers.get('MUTIRAO_EVENTS', name);
    const { num_pending: count } = await consumer.info();
    if (count === 0) return [];
    const ids = new Set<string>();
    for await (const message of await consumer.fetch({ max_messages: count, expires: 10_000 })) ids.add(message.headers?.get('ce-id') ?? '');
    return [...ids];
  } finally {
    await connection.close();
  }
}

/** Submits a bag whose tasks each bring home a file with the value, a file of home's and the name of the host. */
async function submitBag(folder: string, count: number, seconds: number): Promise<string> {
  await on('home', `mkdir -p ${folder} && echo from-home > ${folder}/input.txt`);
  return on('home', `cd ${folder} && mutirao job submit --quiet --array 1-${count} --put input.txt --get out.{}:results/out.{} -- `
    + `'sleep ${seconds}; echo {} $(cat input.txt) $(uname -n) > out.{}'`);
}

async function waitUntilFinished(id: string): Promise<void> {
  let last: Job | undefined;
  await until(async () => {
    last = await job(id).catch(() => last);
    return last !== undefined && last.status !== 'running';
  }, `job ${id} ends`, 150_000).catch((error: unknown) => { throw new Error(`${JSON.stringify(last)}`, { cause: error }); });
}

/** Asserts that each result is home, and that each task finished once, as the broker and NATS tell it. Returns the hosts that ran them. */
async function checkResults(t: ExecutionContext, folder: string, id: string, count: number): Promise<Set<string>> {
  t.like(await job(id), { status: 'finished', finished_count: count });
  const names = (await on('home', `ls ${folder}/results`)).split('\n');
  t.is(names.length, count);
  const results = (await on('home', `cat ${folder}/results/out.*`)).split('\n').map((line) => line.split(' '));
  t.deepEqual(results.map(([value]) => Number(value)).sort((a, b) => a - b), Array.from({ length: count }, (_, index) => index + 1));
  t.true(results.every(([, input]) => input === 'from-home'));
  const events = await eventsOf(id);
  const finished = events.filter(({ type }) => type === 'tasks.finished').flatMap(({ task_indexes }) => task_indexes);
  t.deepEqual([...finished].sort((a, b) => a - b), Array.from({ length: count }, (_, index) => index), 'a task did not finish exactly once');
  const expected = [...new Set(events.map(({ sequence }) => String(sequence)))];
  let told: string[] = [];
  await until(async () => (told = [...new Set((await idsOnNats(id).catch(() => [])).map((each) => each.split('.')[0] ?? ''))]).length >= expected.length, 'all events are on NATS', 60_000);
  t.deepEqual(told, expected, 'NATS tells other events than the broker');
  return new Set(results.map(([, , host = '']) => host));
}

async function untilConnected(provider: string): Promise<void> {
  await until(async () => {
    const providers = JSON.parse(await on('home', 'mutirao provider list --json').catch(() => '[]')) as { provider_id: string; connected: boolean }[];
    return providers.some(({ provider_id, connected }) => provider_id === provider && connected);
  }, `${provider} is connected`, 90_000);
}

async function untilFinished(id: string, count: number): Promise<void> {
  await until(async () => (await job(id)).finished_count >= count, `${count} tasks of job ${id} are finished`, 90_000);
}

test.serial('compute nodes reach the front-end and nothing beyond it', async (t) => {
  t.true(await reaches('node1', await addressOf('front-end', 'alpha-inner'), 22));
  t.true(await reaches('front-end', await addressOf('head', 'campus'), 22));
  for (const host of ['front-end', 'head', 'pc'] as const) t.false(await reaches('node1', await addressOf(host, 'campus'), 22), host);
  t.false(await reaches('node1', await addressOf('nats', 'campus'), 4222));
  t.false(await reaches('beta1', await addressOf('pc', 'campus'), 22));
  t.false(await reaches('home', await addressOf('front-end', 'alpha-inner'), 22));
});

test.serial('no service of ours listens for other hosts but those that were told to', async (t) => {
  t.false(await reaches('head', await addressOf('home', 'campus'), 7700));
  t.true(await reaches('home', await addressOf('head', 'campus'), 7720));
  t.false(await reaches('home', await addressOf('head', 'campus'), 7710));
});

test.serial('Slurm runs a step on all its nodes, asked over ssh from home', async (t) => {
  await until(async () => (await on('front-end', 'sinfo --noheader --format=%T')) === 'idle', 'all nodes are idle', 60_000);
  t.deepEqual((await on('home', "ssh front-end 'srun --nodes=3 uname -n'")).split('\n').sort(), ['node1', 'node2', 'node3']);
});

test.serial('programs of ours run as the user', async (t) => {
  for (const host of ['home', 'head']) {
    const users = await on(host, "ps -eo user=,args= | grep '[m]utirao run' | grep -v runuser | cut -d ' ' -f 1 | sort -u");
    t.is(users, 'mutirao', host);
  }
});

test.serial('a bag with files runs on every kind of host, and its results come home', async (t) => {
  await untilConnected('beta');
  const id = await submitBag('all', 60, 0.3);
  await waitUntilFinished(id);
  const hosts = await checkResults(t, 'all', id, 60);
  t.deepEqual([...hosts].sort(), ['head']);
});

test.serial('home is cut off in mid-job: the job goes on when it is back', async (t) => {
  await untilConnected('beta');
  const id = await submitBag('cut', 80, 0.5);
  await untilFinished(id, 5);
  const [network, home] = [await networkOf('campus'), await containerOf('home')];
  await docker('network', 'disconnect', network, home);
  await until(async () => !(await on('home', 'mutirao provider list --json')).includes('"connected": true'), 'home finds out', 90_000);
  await docker('network', 'connect', '--alias', 'home', network, home);
  await waitUntilFinished(id);
  await checkResults(t, 'cut', id, 80);
});

test.serial('hosts lose their power in mid-job: home, then the head of the cluster; each output is there once', async (t) => {
  await untilConnected('beta');
  const id = await submitBag('killed', 80, 0.5);
  await untilFinished(id, 5);
  await killHosts('home');
  await untilConnected('beta');
  await untilFinished(id, 15);
  await killHosts('head');
  await waitUntilFinished(id);
  await checkResults(t, 'killed', id, 80);
});
