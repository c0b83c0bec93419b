import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { aReservation, FakeCommands, temporaryFolder } from '@mutirao/testkit';
import { SlurmManager, type AllocationOrder, type SlurmOptions } from '@mutirao/managers';

/** Faked commands of a Slurm, which say nothing at first. */
class FakeSlurm extends FakeCommands {
  readonly #t: ExecutionContext;

  constructor(t: ExecutionContext) {
    super(temporaryFolder(t));
    this.#t = t;
    for (const command of ['sbatch', 'scancel', 'scontrol', 'sinfo', 'squeue']) this.say(command, '');
  }

  open(more: Partial<SlurmOptions> = {}): SlurmManager {
    const manager = new SlurmManager({
      user: 'ana',
      partition: 'main',
      flags: ['--mem=1G'],
      requestsMax: 3,
      walltimeMax: 0,
      logFolder: join(this.folder, 'logs'),
      deadlineMs: 10_000,
      environment: { PATH: this.path, MUTIRAO_HOME: '/secret', SQUEUE_FORMAT: '%A' },
      now: () => 1_000_000,
      ...more,
    });
    this.#t.teardown(() => {
      manager.close();
    });
    return manager;
  }
}

const order: AllocationOrder = {
  userId: 'ana',
  width: 4,
  walltime: 61_000,
  command: ['/opt/a b/node', "it's.ts", '$(rm -rf x)'],
  environment: { MUTIRAO_CREDENTIAL: 'se\'cr"et\n$x', 'not a name': 'x' },
  workingDirectory: '',
  clientRequestId: 'inst.q1',
};
const partition = 'PartitionName=main Default=YES MaxNodes=UNLIMITED MaxTime=1-00:00:00 MaxCPUsPerNode=UNLIMITED\n';

test('an order becomes one job with whole minutes, and its secrets are in the script alone', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.act('sbatch', `cat >'${slurm.folder}/script'; env >'${slurm.folder}/env'; echo '17;cluster'`);
  t.is(await slurm.open().allocate(order), '17');
  const [call = ''] = slurm.calls('sbatch');
  for (const flag of [
    '--parsable',
    '--mem=1G',
    '--partition=main',
    '--job-name=inst.q1',
    '--comment=inst.q1',
    '--ntasks=4',
    '--time=2',
    '--no-requeue',
  ])
    t.true(call.split(' ').includes(flag), flag);
  t.false(call.includes('cr"et'));
  t.false(readFileSync(join(slurm.folder, 'env'), 'utf8').includes('MUTIRAO'));
  t.deepEqual(slurm.calls('squeue'), []);
});

test('what sbatch would take for a part of a job in the path of a log stands for itself', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('sbatch', '17\n');
  for (const [name, written] of [
    ['100%u', '100%%u'],
    ['d\\e%j', 'd\\\\e%j'],
  ] as const) {
    await slurm.open({ logFolder: join(slurm.folder, name) }).allocate(order);
    const call = slurm.calls('sbatch').at(-1) ?? '';
    t.true(call.includes(`--output=${slurm.folder}/${written}/inst.q1.log`), call);
  }
});

test('an order inside a reservation goes into that of Slurm, for no longer than is left of it', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.act('srun', 'while [ "${1#--}" != "$1" ]; do shift; done; SLURM_PROCID=0 exec "$@"');
  slurm.act('show', `echo "$MUTIRAO_WALLTIME_END_UNIX_MS" >>'${slurm.folder}/ends'`);
  slurm.act('sbatch', 'sh; echo 17');
  const manager = slurm.open({ reservations: { prefix: 'mutirao_site_', resourceId: 'cl' } });
  t.is(manager.reservationResource, 'cl');
  const far = 10_000_000_000_000;
  const inside = { ...order, command: [join(slurm.folder, 'show')], walltime: 179_000 };
  await manager.allocate({ ...inside, reservation: aReservation('7:1000-5000x2') });
  await manager.allocate({ ...inside, reservation: aReservation(`8:1000-${far}x2`), clientRequestId: 'inst.q2' });
  const [first = '', second = ''] = slurm.calls('sbatch');
  for (const flag of ['--reservation=mutirao_site_7', '--time=2', '--time-min=1'])
    t.true(first.split(' ').includes(flag), flag);
  t.true(second.includes('--reservation=mutirao_site_8 '));
  const [early = '', late = ''] = readFileSync(join(slurm.folder, 'ends'), 'utf8').split('\n');
  t.is(early, '5000', 'never behind the end of the reservation');
  t.true(Number(late) > 5000 && Number(late) < far);
  slurm.act(
    'sbatch',
    'echo "sbatch: error: Batch job submission failed: Requested reservation is invalid" >&2; exit 1',
  );
  await t.throwsAsync(
    manager.allocate({ ...inside, reservation: aReservation('9:1000-5000x2'), clientRequestId: 'inst.q3' }),
    { code: 'MUT_NO_ROOM' },
  );
});

test('the script gives each process its environment, its place and its words as they are', async (t) => {
  const slurm = new FakeSlurm(t);
  // A faked srun runs the command of one task; a faked program shows what it got.
  slurm.act('srun', 'while [ "${1#--}" != "$1" ]; do shift; done; SLURM_PROCID=3 exec "$@"');
  slurm.act(
    'show',
    `printf '%s|' "$@" "$MUTIRAO_CREDENTIAL" "$MUTIRAO_PROCESS_INDEX" "$MUTIRAO_PROCESS_COUNT" ` +
      `>'${slurm.folder}/shown'`,
  );
  slurm.act('sbatch', 'sh; echo 17');
  t.is(await slurm.open().allocate({ ...order, command: [join(slurm.folder, 'show'), ...order.command] }), '17');
  t.is(readFileSync(join(slurm.folder, 'shown'), 'utf8'), "/opt/a b/node|it's.ts|$(rm -rf x)|se'cr\"et\n$x|3|4|");
});

test('after an answer that was unclear the job is looked for before it is asked for again', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.act('sbatch', 'kill -9 $$');
  const manager = slurm.open();
  await t.throwsAsync(manager.allocate(order), { code: 'MUT_UNREACHABLE', message: /was killed/ });
  slurm.act('squeue', 'exit 1');
  await t.throwsAsync(manager.allocate(order), { code: 'MUT_UNREACHABLE' });
  t.is(slurm.calls('sbatch').length, 1);
  slurm.say('squeue', '23|ana|4|2:00|PENDING|2026-11-20T18:59:45|N/A|N/A|None|main|inst.q1\n');
  t.is(await manager.allocate(order), '23');
  t.is(slurm.calls('sbatch').length, 1);
  slurm.say('squeue', '');
  slurm.say('sbatch', '24\n');
  t.is(await manager.allocate(order), '24');
});

test('an order that was taken twice keeps one job', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('sbatch', '24\n');
  slurm.say('sinfo', '0/8/0/8\n');
  slurm.say('scontrol', partition);
  const manager = slurm.open();
  await manager.allocate(order);
  slurm.act(
    'squeue',
    'case "$*" in *--user*) echo "23|ana|4|2:00|PENDING|2026-11-20T18:59:45|N/A|N/A|None|main|inst.q1"; echo ' +
      '"24|ana|4|2:00|PENDING|2026-11-20T18:59:46|N/A|N/A|None|main|inst.q1";; esac',
  );
  const { requests } = await manager.queue(5);
  t.deepEqual(
    requests.map(({ managerRequestId }) => managerRequestId),
    ['23'],
  );
  await manager.release('99');
  t.true(slurm.calls('scancel').join(' ').split(' ').includes('24'));
});

test('what sbatch refuses or garbles is reported by its code', async (t) => {
  const slurm = new FakeSlurm(t);
  const manager = slurm.open();
  slurm.act(
    'sbatch',
    'echo "sbatch: error: Batch job submission failed: Invalid partition name specified" >&2; exit 1',
  );
  await t.throwsAsync(manager.allocate(order), {
    code: 'MUT_BAD_REQUEST',
    message: /Invalid partition name specified/,
  });
  slurm.say('sbatch', 'Welcome to the cluster!\n');
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q2' }), {
    code: 'MUT_UNREACHABLE',
    message: /Welcome/,
  });
  slurm.act('sbatch', 'kill -9 $$');
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q3' }), {
    code: 'MUT_UNREACHABLE',
    message: /killed/,
  });
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'a,b' }), { code: 'MUT_BAD_REQUEST' });
  await t.throwsAsync(slurm.open({ environment: { PATH: '/nowhere' } }).allocate(order), {
    code: 'MUT_UNREACHABLE',
    message: /cannot be started/,
  });
});

test("the queue is everybody's, with our own as they were last, and those that ended newest first", async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', '3/5/0/8\n');
  writeFileSync(
    join(slurm.folder, 'own'),
    [
      '6|ana|4|2:00|RUNNING|2026-11-20T18:59:46|2026-11-20T19:00:00|2026-11-20T19:02:00|None|main|inst.q1',
      '3|ana|4|2:00|FAILED|2026-11-20T18:00:00|2026-11-20T18:00:01|2026-11-20T18:00:02|NonZeroExitCode|main|inst.q0',
      '4|ana|4|2:00|TIMEOUT|2026-11-20T18:01:00|2026-11-20T18:01:01|2026-11-20T18:03:02|TimeLimit|main|inst.qx',
      '',
    ].join('\n'),
  );
  slurm.act(
    'squeue',
    `case "$*" in *--user=ana*) cat '${slurm.folder}/own';; *) echo ` +
      `'5|eve|2|1:00|PENDING|2026-11-20T18:59:40|N/A|N/A|Priority'; echo ` +
      `'6|ana|4|2:00|PENDING|2026-11-20T18:59:46|N/A|N/A|Resources';; esac; echo "$TZ" >'${slurm.folder}/zone'`,
  );
  const manager = slurm.open();
  writeFileSync(join(slurm.folder, 'logs', 'inst.q0.log'), 'node: GLIBC_2.28 not found\n'.repeat(100));
  const { processorsFree, requests, at } = await manager.queue(5);
  t.is(processorsFree, 5);
  t.is(at, 1_000_000);
  t.deepEqual(
    requests.map(({ managerRequestId, status }) => [managerRequestId, status]),
    [
      ['5', 'queued'],
      ['6', 'running'],
      ['4', 'ended'],
      ['3', 'ended'],
    ],
  );
  t.is(requests[0]?.clientRequestId, '');
  t.regex(requests[3]?.endReason ?? '', /^FAILED, NonZeroExitCode: .*GLIBC_2.28 not found$/);
  t.is(readFileSync(join(slurm.folder, 'zone'), 'utf8'), 'UTC\n');
  t.is((await manager.queue(1)).requests.length, 3);
});

test('a job that is completing runs until Slurm says how it ended, and for a minute at most', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('sinfo', '0/8/0/8\n');
  slurm.say('scontrol', partition);
  const now = 1_795_201_200_000; // 2026-11-20T19:00:00Z
  const manager = slurm.open({ now: () => now });
  const listed = async (state: string, ended: string, reason = 'None') => {
    const line = `7|ana|4|2:00|${state}|2026-11-20T18:50:00|2026-11-20T18:51:00|${ended}|${reason}|main|inst.q7`;
    slurm.act('squeue', `case "$*" in *--user*) echo "${line}";; esac`);
    const { status, endReason } = (await manager.queue(5)).requests[0] ?? {};
    return [status, endReason];
  };
  t.deepEqual(await listed('COMPLETING', '2026-11-20T18:59:59'), ['running', '']);
  t.deepEqual(await listed('PREEMPTED', '2026-11-20T18:59:59'), ['ended', 'PREEMPTED']);
  t.deepEqual(await listed('COMPLETING', '2026-11-20T18:59:00'), ['ended', '']);
  t.deepEqual(await listed('COMPLETING', '2026-11-20T18:59:59', 'NonZeroExitCode'), [
    'ended',
    'FAILED, NonZeroExitCode',
  ]);
});

test('a listing that fails, hangs or is garbage is out of reach, never an empty queue', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', '3/5/0/8\n');
  slurm.act('squeue', 'echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1');
  await t.throwsAsync(slurm.open().queue(5), { code: 'MUT_UNREACHABLE', message: /Unable to contact/ });
  slurm.say('squeue', 'the system is down for maintenance\n');
  await t.throwsAsync(slurm.open().queue(5), { code: 'MUT_UNREACHABLE', message: /maintenance/ });
  slurm.say('squeue', '');
  slurm.say('sinfo', 'no idea\n');
  await t.throwsAsync(slurm.open().queue(5), { code: 'MUT_UNREACHABLE', message: /no idea/ });
  slurm.act('squeue', 'exec sleep 60');
  await t.throwsAsync(slurm.open({ deadlineMs: 500 }).queue(5), { code: 'MUT_UNREACHABLE', message: /did not end/ });
  slurm.act('squeue', 'echo "temporarily unable, sleeping and retrying" >&2; exec sleep 60');
  await t.throwsAsync(slurm.open({ deadlineMs: 500 }).queue(5), {
    code: 'MUT_UNREACHABLE',
    message: 'squeue did not end within 0.5 s: temporarily unable, sleeping and retrying',
  });
});

test('a listing may begin with the name of its cluster', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', 'CLUSTER: big\n3/5/0/8\n');
  slurm.say('squeue', 'CLUSTER: big\n7|ana|1|10:00|PENDING|2026-11-20T18:59:46|N/A|N/A|None|main|wrap\n');
  const { processorsFree, requests } = await slurm.open().queue(5);
  t.deepEqual([processorsFree, requests.length], [5, 1]);
});

test("limits are the partition's, in whole minutes, and an unknown partition is reported by name", async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.act(
    'scontrol',
    `case "$*" in *config*) echo 'Configuration data as of 1970-01-01T00:10:00';; *) echo '${partition.trim()}';; esac`,
  );
  slurm.say('sinfo', '8|3/5/0/8\n8|0/0/8/8\n');
  slurm.say('squeue', '');
  const manager = slurm.open({ walltimeMax: 100_000 });
  t.deepEqual(await manager.limits(), {
    processors: 8,
    widthMax: 8,
    requestsMax: 3,
    walltimeMax: 60_000,
    walltimeGranularity: 60_000,
    nodes: [{ count: 1, processors: 8, memory: 0, gpus: {} }],
  });
  t.is((await slurm.open().limits()).walltimeMax, 86_400_000);
  slurm.say('sinfo', '0/8/0/8\n');
  t.is((await manager.queue(5)).at, 600_000, "the controller's clock is behind ours");
  slurm.act('scontrol', 'echo "Partition main not found"; exit 1');
  await t.throwsAsync(slurm.open().limits(), { code: 'MUT_BAD_REQUEST', message: /no partition "main"/ });
  slurm.act('scontrol', 'echo "slurm_load_partitions: Unable to contact slurm controller" >&2; exit 1');
  await t.throwsAsync(slurm.open().limits(), { code: 'MUT_UNREACHABLE', message: /Unable to contact/ });
});

test('cancels of one moment go in one call, and malformed job numbers are not passed on', async (t) => {
  const slurm = new FakeSlurm(t);
  const manager = slurm.open();
  await Promise.all(['1', '2', '3', '--user=ana', ''].map((id) => manager.release(id)));
  t.deepEqual(slurm.calls('scancel'), ['1 2 3']);
  slurm.act(
    'scancel',
    'echo "scancel: error: Kill job error on job id 1: Unable to contact slurm controller (connect failure)" ' +
      '>&2; exit 1',
  );
  await t.throwsAsync(manager.release('1'), { code: 'MUT_UNREACHABLE' });
});

test('a job that waits for what will never be is reported as ended, and cancelled where it was asked for here', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', '0/8/0/8\n');
  slurm.say('sbatch', '23\n');
  const manager = slurm.open();
  await manager.allocate(order);
  const waits = (id: string, reason: string, name: string): string =>
    `${id}|ana|4|2:00|PENDING|2026-11-20T18:59:45|N/A|N/A|${reason}|main|${name}`;
  const lines = [
    waits('23', 'QOSMaxWallDurationPerJobLimit', 'inst.q1'),
    waits('24', 'PartitionNodeLimit', 'theirs'),
    waits('25', 'Priority', 'inst.q2'),
    waits('26', 'QOSMaxJobsPerUserLimit', 'inst.q3'),
  ];
  slurm.act('squeue', `case "$*" in *--user*) printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')};; esac`);
  const { requests } = await manager.queue(5);
  t.deepEqual(
    requests.map(({ managerRequestId, status }) => [managerRequestId, status]),
    [
      ['25', 'queued'],
      ['26', 'queued'],
      ['23', 'ended'],
      ['24', 'ended'],
    ],
  );
  t.is(requests[2]?.endReason, 'it can never start: QOSMaxWallDurationPerJobLimit');
  await manager.release('99');
  t.deepEqual(slurm.calls('scancel').join(' ').split(' ').sort(), ['23', '99']);
});

test('our own jobs in other partitions are not part of the queue, but are listed as requests', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', '0/8/0/8\n');
  const job = (id: string, where: string, name: string): string =>
    `${id}|ana|4|2:00|PENDING|2026-11-20T18:59:45|N/A|N/A|Priority|${where}|${name}`;
  const lines = [
    job('1', 'main', 'theirs'),
    job('2', 'gpu', 'theirs'),
    job('3', 'gpu,main', 'either'),
    job('4', 'gpu', 'inst.q1'),
  ];
  slurm.act('squeue', `case "$*" in *--user*) printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')};; esac`);
  t.deepEqual(
    (await slurm.open().queue(5)).requests.map(({ managerRequestId }) => managerRequestId),
    ['1', '3', '4'],
  );
});

test('partitions and jobs that are hidden from others are read too', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', '0/8/0/8\n');
  const manager = slurm.open();
  await manager.queue(5);
  slurm.say('sinfo', '8|0/8/0/8\n');
  await manager.limits();
  for (const call of slurm.calls('squeue')) t.true(call.split(' ').includes('--all'), call);
  // With a partition sinfo takes no --all, and shows it although it is hidden.
  for (const call of slurm.calls('sinfo')) t.false(call.split(' ').includes('--all'), call);
  t.true(
    slurm
      .calls('scontrol')
      .filter((call) => call.includes('partition'))
      .every((call) => call.includes('--all')),
  );
});

test('a partition that a flag or the environment names is the one that limits and the queue are read of', async (t) => {
  for (const more of [
    { flags: ['-p', 'short'] },
    { flags: ['--partition=short'] },
    { environment: { SBATCH_PARTITION: 'short' } },
  ]) {
    const slurm = new FakeSlurm(t);
    slurm.say('scontrol', partition.replace('main', 'short'));
    slurm.say('sinfo', '8|0/8/0/8\n');
    slurm.act('sbatch', `env >'${slurm.folder}/env'; echo 17`);
    const manager = slurm.open({
      partition: '',
      ...more,
      environment: { PATH: slurm.path, ...more.environment, SBATCH_ARRAY_INX: '1-9' },
    });
    await manager.limits();
    await manager.allocate(order);
    t.true(slurm.calls('scontrol').some((call) => call.endsWith('show partition short')));
    t.true(slurm.calls('sinfo').every((call) => call.includes('--partition=short')));
    t.true(slurm.calls('sbatch').every((call) => call.split(' ').includes('--partition=short')));
    t.notRegex(readFileSync(join(slurm.folder, 'env'), 'utf8'), /SBATCH_(?:PARTITION|ARRAY)/);
  }
});

test("each of the user's flags replaces the provider's, or is refused at the start", async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.act('sbatch', 'echo 17');
  await slurm.open({ flags: ['--comment=for the thesis', '--requeue', '--export', 'NONE', '-N1'] }).allocate(order);
  const [call = ''] = slurm.calls('sbatch');
  t.true(call.includes('--comment=for the thesis --requeue --export NONE -N1'), call);
  for (const ours of ['--comment=inst', '--no-requeue', '--export=ALL']) t.false(call.includes(ours), ours);
  for (const flags of [
    ['-n', '4'],
    ['--ntasks=4'],
    ['-t10'],
    ['--time', '10'],
    ['-J', 'x'],
    ['--job-n=x'],
    ['-o', 'x'],
    ['--array=1-3'],
    ['-W'],
    ['--wait'],
    ['-D/x'],
    ['-M', 'other'],
    ['-p', 'a,b'],
    ['-p', 'other'],
    ['x'],
    ['-Wv'],
  ]) {
    t.throws(() => slurm.open({ flags }), { code: 'MUT_BAD_CONFIG' }, flags.join(' '));
  }
});

test('slots are asked for in the spelling of their GPUs that Slurm has, on as many nodes as its partition allows', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition.replace('MaxNodes=UNLIMITED', 'MaxNodes=2'));
  slurm.say('sinfo', '64|0/64/0/64|1|gpu:A100:4\n'.repeat(10));
  slurm.say('sbatch', '17\n');
  const manager = slurm.open();
  t.like(await manager.limits(), { processors: 640, widthMax: 128, nodesMax: 2 });
  await manager.allocate({ ...order, width: 8, slot: { processors: 1, memory: 0, gpus: 1, gpuKind: 'a100' } });
  t.regex(slurm.calls('sbatch')[0] ?? '', / --gpus-per-task=A100:1 /);
});

test('where jobs hold whole nodes the smallest node says in which steps widths are charged', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', `${partition.trim()} OverSubscribe=EXCLUSIVE\n`);
  slurm.say('sinfo', '8|0/8/0/8\n16|0/16/0/16\n');
  t.like(await slurm.open().limits(), { processors: 24, widthMax: 24, widthGranularity: 8 });
  slurm.say('scontrol', partition);
  t.is((await slurm.open().limits()).widthGranularity, undefined);
  t.is((await slurm.open({ flags: ['--exclusive'] }).limits()).widthGranularity, 8);
  const environment = { PATH: slurm.path, SBATCH_EXCLUSIVE: '' };
  t.is((await slurm.open({ environment }).limits()).widthGranularity, 8, 'in the environment of the user');
  t.is((await slurm.open({ widthMax: 6 }).limits()).widthMax, 6);
});

test('a width that is refused as such, or that waits for ever, is halved for the time to come, and tried again hours later', async (t) => {
  const slurm = new FakeSlurm(t);
  slurm.say('scontrol', partition);
  slurm.say('sinfo', '8|0/8/0/8\n8|0/8/0/8\n');
  slurm.act(
    'sbatch',
    'echo "sbatch: error: Batch job submission failed: Requested node configuration is not available" >&2; exit 1',
  );
  let now = 1_000_000;
  const manager = slurm.open({ now: () => now });
  t.is((await manager.limits()).widthMax, 16);
  t.false(manager.hasNewLimits);
  await t.throwsAsync(manager.allocate({ ...order, width: 16 }), { code: 'MUT_WIDTH_MAX' });
  t.true(manager.hasNewLimits);
  t.is((await manager.limits()).widthMax, 8);
  t.false(manager.hasNewLimits);
  slurm.say('sbatch', '24\n');
  await manager.allocate({ ...order, width: 8, clientRequestId: 'inst.q2' });
  slurm.say('sinfo', '0/16/0/16\n');
  slurm.act(
    'squeue',
    'case "$*" in *--user*) echo ' +
      '"24|ana|8|2:00|PENDING|2026-11-20T18:59:45|N/A|N/A|BadConstraints|main|inst.q2";; esac',
  );
  t.regex((await manager.queue(5)).requests[0]?.endReason ?? '', /can never start: BadConstraints/);
  slurm.say('sinfo', '8|0/8/0/8\n8|0/8/0/8\n');
  t.is((await manager.limits()).widthMax, 4);
  now += 7 * 3_600_000;
  t.is((await manager.limits()).widthMax, 16);
});

test('reservations may be made by the user that Slurm runs as, and by those that its accounting calls operators', async (t) => {
  const slurm = new FakeSlurm(t);
  const may = (user: string): Promise<boolean | undefined> => slurm.open({ user }).mayReserve();
  slurm.say('scontrol', 'SlurmdUser              = root(0)\nSlurmUser               = slurm(64030)\n');
  slurm.say('sacctmgr', 'ana|None\nbob|Operator\n');
  t.deepEqual([await may('slurm'), await may('root'), await may('ana'), await may('bob')], [true, true, false, true]);
  slurm.act('sacctmgr', 'echo "no accounting storage" >&2; exit 1');
  t.is(await may('bob'), false);
  slurm.act('scontrol', 'exit 1');
  t.is(await may('slurm'), undefined);
});
