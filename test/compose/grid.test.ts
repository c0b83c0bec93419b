// A bag across hosts that share no file system and no network namespace, while networks are cut and hosts are killed.
// scripts/compose-test starts the grid and deploys to it (test/compose/deploy).
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { AckPolicy, connect } from 'nats';
import { until } from '@mutirao/testkit';

/** Hosts on which tasks run. */
const machineHosts = ['node1', 'node2', 'node3', 'beta1', 'beta2', 'pc'];

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

async function getContainer(host: string): Promise<string> {
  return compose('ps', '-q', host);
}

async function getNetwork(name: string): Promise<string> {
  return docker(
    'network',
    'ls',
    '--quiet',
    '--filter',
    `label=com.docker.compose.network=${name}`,
    '--filter',
    `label=com.docker.compose.project=${process.env.COMPOSE_PROJECT_NAME ?? 'mutirao'}`,
  );
}

/** The address of a host in one of its networks. */
async function listAddress(host: string, network: string): Promise<string> {
  const networks = JSON.parse(
    await docker('inspect', '--format', '{{json .NetworkSettings.Networks}}', await getContainer(host)),
  ) as Record<string, { IPAddress: string }>;
  const [, found] = Object.entries(networks).find(([name]) => name.endsWith(`_${network}`)) ?? [];
  if (found === undefined) throw new Error(`${host} is not in ${network}`);
  return found.IPAddress;
}

/** Whether a host can open a TCP connection to a port. */
async function reaches(host: string, address: string, port: number): Promise<boolean> {
  return on(host, `timeout 5 bash -c '</dev/tcp/${address}/${port}'`).then(
    () => true,
    () => false,
  );
}

/** Ports of a host at which something listens that other hosts can reach. */
async function openPorts(host: string): Promise<number[]> {
  const rows = (await on(host, 'cat /proc/net/tcp /proc/net/tcp6')).split('\n').map((line) => line.trim().split(/ +/));
  const listening = rows.flatMap(([, local = '', , state]) => (state === '0A' ? [local.split(':')] : []));
  const isLoopback = (address: string): boolean =>
    /7F$/.test(address) || address === '00000000000000000000000001000000';
  return [
    ...new Set(listening.flatMap(([address = '', port = '']) => (isLoopback(address) ? [] : [parseInt(port, 16)]))),
  ].sort((a, b) => a - b);
}

/** As `systemctl --user stop` and `start` do it. */
const stop = (unit: string): string =>
  `rm .config/systemd/user/default.target.wants/${unit}.service; while pgrep -f "[m]utirao run ` +
  `${getProgram(unit)}" >/dev/null; do sleep 0.1; done`;
const start = (unit: string): string =>
  `while [ -e .config/systemd/user/running/${unit}.service ]; do sleep 0.1; done; ln -s ` +
  `../${unit.replace(/@.*/, '@')}.service .config/systemd/user/default.target.wants/${unit}.service`;

/** What the command line of a unit's process holds. */
function getProgram(unit: string): string {
  const [, kind = '', id] = /^mutirao-(\w+)(?:@(\w+))?$/.exec(unit) ?? [];
  return id === undefined ? kind : `${kind} .*${kind}-${id}`;
}

/** The power of a host goes and comes back: its processes and connections are gone, its disk stays. */
async function killHosts(...hosts: string[]): Promise<void> {
  const containers = await Promise.all(hosts.map(getContainer));
  await docker('kill', ...containers);
  await docker('start', ...containers);
}

interface Job {
  readonly job_id: number;
  readonly status: string;
  readonly finished_count: number;
}
interface JobEvent {
  readonly sequence: number;
  readonly type: string;
  readonly task_indexes: readonly number[];
  readonly machine_id: string;
}

async function job(id: string): Promise<Job> {
  const [found] = JSON.parse(await on('home', `mutirao job show ${id} --json`)) as Job[];
  if (found === undefined) throw new Error(`job ${id} is not shown`);
  return found;
}

async function listEvents(id: string): Promise<JobEvent[]> {
  const lines = await on('home', `mutirao events --job ${id} --json`);
  return lines.split('\n').map((line) => JSON.parse(line) as JobEvent);
}

/** Ids of the events of a job that NATS keeps, each once, in their order. */
async function idsOnNats(id: string): Promise<string[]> {
  const connection = await connect({ servers: await compose('port', 'nats', '4222') });
  try {
    const manager = await connection.jetstreamManager();
    const { name } = await manager.consumers.add('MUTIRAO_EVENTS', {
      ack_policy: AckPolicy.None,
      filter_subject: `mutirao.events.*.*.${id}`,
      inactive_threshold: 60e9,
    });
    const consumer = await connection.jetstream().consumers.get('MUTIRAO_EVENTS', name);
    const { num_pending: count } = await consumer.info();
    if (count === 0) return [];
    const ids = new Set<string>();
    for await (const message of await consumer.fetch({ max_messages: count, expires: 10_000 }))
      ids.add(message.headers?.get('ce-id') ?? '');
    return [...ids];
  } finally {
    await connection.close();
  }
}

/** Submits a bag whose tasks each bring home a file with the value, a file of home's and the name of the host. */
async function submitBag(folder: string, count: number, seconds: number): Promise<string> {
  await on('home', `mkdir -p ${folder} && echo from-home > ${folder}/input.txt`);
  return on(
    'home',
    `cd ${folder} && mutirao job submit --quiet --array 1-${count} --put input.txt --get out.{}:results/out.{} -- ` +
      `'sleep ${seconds}; echo {} $(cat input.txt) $(uname -n) > out.{}'`,
  );
}

async function waitUntilFinished(id: string): Promise<void> {
  let last: Job | undefined;
  await until(
    async () => {
      last = await job(id).catch(() => last);
      return last !== undefined && last.status !== 'running';
    },
    `job ${id} ends`,
    150_000,
  ).catch((error: unknown) => {
    throw new Error(`${JSON.stringify(last)}`, { cause: error });
  });
}

/**
 * Asserts that each result is home, and that each task finished once, by the events of the broker and of NATS. Returns
 * the hosts that ran them.
 */
async function checkResults(t: ExecutionContext, folder: string, id: string, count: number): Promise<Set<string>> {
  t.like(await job(id), { status: 'finished', finished_count: count });
  const names = (await on('home', `ls ${folder}/results`)).split('\n');
  t.is(names.length, count);
  const results = (await on('home', `cat ${folder}/results/out.*`)).split('\n').map((line) => line.split(' '));
  t.deepEqual(
    results.map(([value]) => Number(value)).sort((a, b) => a - b),
    Array.from({ length: count }, (_, index) => index + 1),
  );
  t.true(results.every(([, input]) => input === 'from-home'));
  const events = await listEvents(id);
  const finished = events.filter(({ type }) => type === 'tasks.finished').flatMap(({ task_indexes }) => task_indexes);
  t.deepEqual(
    [...finished].sort((a, b) => a - b),
    Array.from({ length: count }, (_, index) => index),
    'a task did not finish exactly once',
  );
  const expected = [...new Set(events.map(({ sequence }) => String(sequence)))];
  let reported: string[] = [];
  await until(
    async () =>
      (reported = [...new Set((await idsOnNats(id).catch(() => [])).map((each) => each.split('.')[0] ?? ''))]).length >=
      expected.length,
    'all events are on NATS',
  );
  t.deepEqual(reported, expected, 'NATS and the broker report different events');
  return new Set(results.map(([, , host = '']) => host));
}

async function connectedProviders(): Promise<string[]> {
  const known = JSON.parse(await on('home', 'mutirao provider list --json').catch(() => '[]')) as {
    provider_id: string;
    connected: boolean;
  }[];
  return known.filter(({ connected }) => connected).map(({ provider_id }) => provider_id);
}

async function untilConnected(...wanted: readonly string[]): Promise<void> {
  await until(
    async () => {
      const connected = await connectedProviders();
      return wanted.every((provider) => connected.includes(provider));
    },
    `${wanted.join(', ')} are connected`,
    90_000,
  );
}

/** Takes a host out of a network while something happens. */
async function cutOff(host: string, network: string, meanwhile: () => Promise<void>): Promise<void> {
  const [cut, container] = [await getNetwork(network), await getContainer(host)];
  await docker('network', 'disconnect', cut, container);
  try {
    await meanwhile();
  } finally {
    await docker('network', 'connect', '--alias', host, cut, container);
  }
}

async function untilFinished(id: string, count: number): Promise<void> {
  await until(async () => (await job(id)).finished_count >= count, `${count} tasks of job ${id} are finished`);
}

test.serial('compute nodes reach the front-end and nothing beyond it', async (t) => {
  t.true(await reaches('node1', await listAddress('front-end', 'alpha-inner'), 22));
  t.true(await reaches('front-end', await listAddress('head', 'campus'), 22));
  for (const host of ['front-end', 'head', 'pc'] as const)
    t.false(await reaches('node1', await listAddress(host, 'campus'), 22), host);
  t.false(await reaches('node1', await listAddress('nats', 'campus'), 4222));
  t.true(await reaches('beta1', await listAddress('head', 'beta-inner'), 7721));
  t.false(await reaches('beta1', await listAddress('pc', 'campus'), 22));
  t.false(await reaches('home', await listAddress('front-end', 'alpha-inner'), 22));
});

test.serial('no Mutirao service listens for other hosts except the configured ones', async (t) => {
  t.true(await reaches('home', await listAddress('head', 'campus'), 7720));
  t.true(await reaches('node1', await listAddress('front-end', 'alpha-inner'), 7721));
  t.deepEqual(await openPorts('home'), []);
  t.deepEqual(await openPorts('head'), [22, 7720, 7721]);
  t.deepEqual(await openPorts('pc'), [22]);
  // Slurm's own ports are others.
  t.deepEqual(
    (await openPorts('front-end')).filter((port) => port >= 7000),
    [7721],
  );
});

test.serial('Slurm runs a step on all its nodes, asked over ssh from home', async (t) => {
  await until(async () => (await on('front-end', 'sinfo --noheader --format=%T')) === 'idle', 'all nodes are idle');
  t.deepEqual((await on('home', "ssh front-end 'srun --nodes=3 uname -n'")).split('\n').sort(), [
    'node1',
    'node2',
    'node3',
  ]);
});

test.serial('Mutirao programs run as the user', async (t) => {
  for (const host of ['home', 'head', 'front-end', 'pc']) {
    const users = await on(
      host,
      "ps -eo user=,args= | grep '[m]utirao run' | grep -v runuser | cut -d ' ' -f 1 | sort -u",
    );
    t.is(users, 'mutirao', host);
  }
});

const providers = ['alpha', 'beta', 'lab'];

test.serial('a bag with files runs on every host, and its results come home', async (t) => {
  await untilConnected(...providers);
  const id = await submitBag('all', 120, 0.4);
  await waitUntilFinished(id);
  const hosts = await checkResults(t, 'all', id, 120);
  t.deepEqual([...hosts].sort(), [...machineHosts].sort());
});

test.serial('home is cut off in mid-job: its hosts go on, and deliver when it is back', async (t) => {
  await untilConnected(...providers);
  const id = await submitBag('cut', 200, 0.5);
  await untilFinished(id, 20);
  await cutOff('home', 'campus', async () => {
    await until(async () => !(await connectedProviders()).includes('beta'), 'home finds out');
  });
  await waitUntilFinished(id);
  await checkResults(t, 'cut', id, 200);
});

test.serial(
  'the front-end of the cluster is cut off from home in mid-job: its nodes go on, and deliver when it is back',
  async (t) => {
    await untilConnected(...providers);
    const id = await submitBag('front', 200, 0.5);
    await untilFinished(id, 20);
    await cutOff('front-end', 'campus', async () => {
      await until(
        async () => (await on('home', 'mutirao site list --json')).includes('"connected"') === false,
        'the keeper of the site finds out',
      );
    });
    await untilConnected('alpha');
    await waitUntilFinished(id);
    await checkResults(t, 'front', id, 200);
  },
);

test.serial(
  'hosts lose their power in mid-job: home, the head, the front-end, a node of each cluster, the lab machine; each output is there once',
  async (t) => {
    await untilConnected(...providers);
    const id = await submitBag('killed', 300, 0.5);
    await untilFinished(id, 20);
    await killHosts('home');
    await untilConnected(...providers);
    await untilFinished(id, 60);
    await killHosts('head', 'beta2', 'node2', 'pc');
    await untilFinished(id, 90);
    await killHosts('front-end');
    await waitUntilFinished(id);
    await checkResults(t, 'killed', id, 300);
    await untilConnected(...providers);
  },
);

test.serial(
  'the program is replaced and the broker and a provider start again in mid-job, as an upgrade does it',
  async (t) => {
    await untilConnected(...providers);
    const id = await submitBag('upgraded', 200, 0.5);
    await untilFinished(id, 20);
    await on(
      'home',
      'scp -q .local/bin/mutirao head:.local/bin/mutirao.new && ssh head mv .local/bin/mutirao.new .local/bin/mutirao',
    );
    await on('head', `${stop('mutirao-provider@beta')}; ${start('mutirao-provider@beta')}`);
    await on(
      'home',
      'cp .local/bin/mutirao .local/bin/mutirao.new && mv .local/bin/mutirao.new .local/bin/mutirao && ' +
        `${stop('mutirao-broker')}; ${start('mutirao-broker')}`,
    );
    await waitUntilFinished(id);
    await checkResults(t, 'upgraded', id, 200);
  },
);

test.serial('after all that, every host works again', async (t) => {
  // An allocation that lost a node to a power failure which Slurm did not see goes on without it: the next one has it
  // again.
  await until(
    async () =>
      (JSON.parse(await on('home', 'mutirao request list --json')) as { status: string }[]).every(
        ({ status }) => status !== 'running',
      ),
    'what nobody wants is released',
    90_000,
  );
  // More than the machines that come first can take before the others are there: a cluster is asked for no more than
  // what has no place yet.
  const id = await submitBag('after', 240, 1);
  await waitUntilFinished(id);
  t.deepEqual([...(await checkResults(t, 'after', id, 240))].sort(), [...machineHosts].sort());
});

test.serial('a broker that is put back from a back-up knows what was in it, and works', async (t) => {
  const before = await submitBag('before', 10, 0);
  await waitUntilFinished(before);
  await on('home', `${stop('mutirao-broker')}; cp -a .mutirao/broker backup; ${start('mutirao-broker')}`);
  await untilConnected(...providers);
  const lost = await submitBag('lost', 10, 0);
  await waitUntilFinished(lost);
  await on(
    'home',
    `${stop('mutirao-broker')}; rm -r .mutirao/broker; mv backup .mutirao/broker; ${start('mutirao-broker')}`,
  );
  await untilConnected(...providers);
  t.like(await job(before), { status: 'finished', finished_count: 10 });
  await t.throwsAsync(job(lost));
  const next = await submitBag('next', 10, 0);
  await waitUntilFinished(next);
  t.is((await on('home', 'cat next/results/*')).split('\n').length, 10);
});
