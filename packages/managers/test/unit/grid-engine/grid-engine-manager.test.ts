import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { aReservation, FakeCommands, temporaryFolder, until } from '@mutirao/testkit';
import { GridEngineManager, type AllocationOrder, type GridEngineOptions } from '@mutirao/managers';

const recordings = fileURLToPath(new URL('../../recordings/grid-engine/', import.meta.url));
const at = 1_795_815_900_000;

/** Commands that answer as a real Grid Engine did. */
class RecordedGridEngine extends FakeCommands {
  readonly #t: ExecutionContext;

  constructor(t: ExecutionContext) {
    super(temporaryFolder(t));
    this.#t = t;
    this.act(
      'qstat',
      `case "$*" in -f*) cat '${recordings}qstat-queues.xml';; *-j*) cat '${recordings}qstat-broken.txt';; *'-u ` +
        `ana'*) cat '${recordings}qstat-own.xml';; *) cat '${recordings}qstat-jobs.xml';; esac`,
    );
    this.act(
      'qconf',
      `case "$*" in *-spl*) echo mutirao;; *-sp*) cat '${recordings}qconf-pe.txt';; *) cat ` +
        `'${recordings}qconf-queues.txt';; esac`,
    );
    this.act(
      'qrstat',
      `case "$*" in *-ar*) cat '${recordings}qrstat-ar.xml';; *) cat '${recordings}qrstat.xml';; esac`,
    );
    this.act('qsub', `cat >'${this.folder}/script'; env >'${this.folder}/env'; echo 50`);
    for (const command of ['qdel', 'qrsub', 'qrdel']) this.say(command, '');
  }

  open(more: Partial<GridEngineOptions> = {}): GridEngineManager {
    const manager = new GridEngineManager({
      user: 'ana',
      queue: '',
      parallelEnvironment: '',
      flags: ['-P', 'thesis'],
      requestsMax: 3,
      walltimeMax: 0,
      jobFolder: join(this.folder, 'jobs'),
      deadlineMs: 10_000,
      environment: { PATH: this.path, MUTIRAO_HOME: '/secret', JOB_ID: '7', SGE_ROOT: '/sge' },
      now: () => at,
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
  walltime: 61_400,
  command: ['/opt/a b/node', "it's.ts", '$(rm -rf x)'],
  environment: { MUTIRAO_CREDENTIAL: 'se\'cr"et\n$x' },
  workingDirectory: '',
  clientRequestId: 'inst.q1',
};

test('an order becomes one job, and its secrets are in a file that only its owner can read', async (t) => {
  const sge = new RecordedGridEngine(t);
  t.is(await sge.open().allocate(order), '50');
  const [call = ''] = sge.calls('qsub');
  for (const flags of [
    '-P thesis -terse -hard',
    '-N mutirao.inst.q1',
    '-pe mutirao 4',
    '-l h_rt=62',
    '-r n',
    '-w e',
    '-wd /tmp',
    '-j y',
    '-b n',
  ])
    t.true(call.includes(`${flags} `) || call.endsWith(flags), flags);
  t.false(call.includes(' -q '));
  t.is(readFileSync(join(sge.folder, 'script'), 'utf8'), `#!/bin/sh\nexec /bin/sh ${sge.folder}/jobs/inst.q1.job\n`);
  const environment = readFileSync(join(sge.folder, 'env'), 'utf8');
  t.false(/MUTIRAO|JOB_ID/.test(environment));
  t.true(environment.includes('SGE_ROOT=/sge'));
  for (const kind of ['job', 'process']) t.is(statSync(join(sge.folder, `jobs/inst.q1.${kind}`)).mode & 0o077, 0);
  t.true(readFileSync(join(sge.folder, 'jobs/inst.q1.process'), 'utf8').includes("se'\\''cr"));
});

test('a path that qsub would take for a host, for several paths or with a variable is written to by the script', async (t) => {
  for (const name of ['a:b', 'c,d', 'e$HOME']) {
    const sge = new RecordedGridEngine(t);
    await sge.open({ jobFolder: join(sge.folder, name) }).allocate(order);
    t.true(sge.calls('qsub')[0]?.includes('-o /dev/null '), name);
    const script = readFileSync(join(sge.folder, 'script'), 'utf8');
    t.regex(script, /job'? >>'?\/.*inst\.q1\.log'? 2>&1\n$/);
    t.true(script.includes(`${name}/inst.q1.log`), script);
  }
});

test("the user's flags and queue replace the provider's", async (t) => {
  const sge = new RecordedGridEngine(t);
  await sge.open({ flags: ['-r', 'y', '-w', 'n', '-q', 'wide.q'] }).allocate(order);
  const [call = ''] = sge.calls('qsub');
  t.true(call.includes('-q wide.q'));
  t.false(/-r n|-w e/.test(call));
});

test("the job starts the processes of each host, under Grid Engine's control on the other ones, and notes how they ended", async (t) => {
  const sge = new RecordedGridEngine(t);
  const manager = sge.open();
  sge.act(
    'show',
    `printf '%s|' "$@" "$MUTIRAO_CREDENTIAL" "$MUTIRAO_PROCESS_COUNT" ` +
      `>'${sge.folder}/shown'"$MUTIRAO_PROCESS_INDEX"; [ "$MUTIRAO_PROCESS_INDEX" != 2 ] || exit 3`,
  );
  // A faked qrsh runs what the shell of the other host would.
  sge.act('qrsh', 'printf "%s\\n" "$3" >>hosts; sh -c "$4"');
  const hosts = join(sge.folder, 'hosts-file');
  writeFileSync(hosts, 'n1 1 main.q@n1 UNDEFINED\nn2 2 main.q@n2 UNDEFINED\nn3 1 main.q@n3 UNDEFINED\n');
  sge.act('qsub', `cd '${sge.folder}'; JOB_ID=50 HOSTNAME=n1 PE_HOSTFILE='${hosts}' sh; echo 50`);
  await manager.allocate({ ...order, command: [join(sge.folder, 'show'), ...order.command] });
  t.is(readFileSync(join(sge.folder, 'hosts'), 'utf8').split('\n').sort().join(' '), ' n2 n3');
  for (const index of [0, 1, 2, 3])
    t.is(readFileSync(join(sge.folder, `shown${index}`), 'utf8'), "/opt/a b/node|it's.ts|$(rm -rf x)|se'cr\"et\n$x|4|");
  t.regex(readFileSync(join(sge.folder, 'jobs/inst.q1.end'), 'utf8'), new RegExp(`^50 \\d+ \\d+ 3 4 62000 ${at}\n$`));
});

test('after an answer that was unclear the job is looked for before it is asked for again', async (t) => {
  const sge = new RecordedGridEngine(t);
  const manager = sge.open();
  const unclear = [
    'kill -9 $$',
    'echo "error: commlib error: got read error" >&2; exit 1',
    'echo "Unable to run job: Error reading answer list from qmaster" >&2; exit 1',
  ];
  for (const [index, shell] of unclear.entries()) {
    sge.act('qsub', shell);
    await t.throwsAsync(
      sge.open().allocate({ ...order, clientRequestId: `inst.q${5 + index}` }),
      { code: 'MUT_UNREACHABLE' },
      shell,
    );
  }
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q2' }), { code: 'MUT_UNREACHABLE' });
  const calls = sge.calls('qsub').length;
  t.is(await manager.allocate({ ...order, clientRequestId: 'inst.q2' }), '53', 'it is listed');
  t.is(sge.calls('qsub').length, calls);
  sge.say('qsub', 'Welcome\n');
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q9' }), {
    code: 'MUT_UNREACHABLE',
    message: /Welcome/,
  });
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'a,b' }), { code: 'MUT_BAD_REQUEST' });
});

test("the queue is everybody's; what cannot start is ended in the node's words, and cancelled where it was asked for here", async (t) => {
  const sge = new RecordedGridEngine(t);
  const manager = sge.open();
  const { requests, processorsFree } = await manager.queue(5);
  t.is(processorsFree, 7);
  t.deepEqual(
    requests.map(({ managerRequestId, status, clientRequestId }) => [managerRequestId, status, clientRequestId]),
    [
      ['51', 'running', 'inst.q1'],
      ['52', 'running', ''],
      ['53', 'queued', 'inst.q2'],
      ['54.1', 'queued', ''],
      ['54.3', 'queued', ''],
      ['54.5', 'queued', ''],
      ['55', 'ended', 'inst.q3'],
    ],
  );
  t.regex(requests.at(-1)?.endReason ?? '', /^FAILED, it cannot start: .*can't chdir to \/no\/such\/folder/);
  t.deepEqual(sge.calls('qdel'), []);
  sge.act('qsub', 'kill -9 $$');
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q3' }), { code: 'MUT_UNREACHABLE' });
  await manager.queue(5);
  await until(() => sge.calls('qdel').join(' ') === '55', 'it is cancelled');
});

test('jobs that are gone are reported as ended, with what they noted or what was seen of them', async (t) => {
  const sge = new RecordedGridEngine(t);
  let now = at;
  const manager = sge.open({ now: () => now });
  await manager.queue(9);
  sge.act(
    'qstat',
    `case "$*" in -f*) cat '${recordings}qstat-queues.xml';; *) cat '${recordings}qstat-empty.xml';; esac`,
  );
  writeFileSync(
    join(sge.folder, 'jobs/inst.q1.end'),
    `51 ${at / 1000 - 30} ${at / 1000 + 5} 1 3 100000 ${at - 40_000}\n`,
  );
  writeFileSync(join(sge.folder, 'jobs/inst.q1.log'), 'node: GLIBC_2.28 not found\n');
  writeFileSync(
    join(sge.folder, 'jobs/inst.q0.end'),
    `36 ${at / 1000 - 60} ${at / 1000 - 50} 0 1 100000 ${at - 90_000}\n`,
  );
  writeFileSync(join(sge.folder, 'jobs/inst.q8.end'), '35 half');
  now = at + 10_000;
  const { requests } = await manager.queue(9);
  t.deepEqual(
    requests.map(({ managerRequestId, endReason, endedAt, startsAt }) => [
      managerRequestId,
      endReason,
      endedAt - at,
      startsAt > 0,
    ]),
    [
      ['53', 'KILLED', 10_000, false],
      ['51', 'FAILED, exit status 1: node: GLIBC_2.28 not found', 5_000, true],
      ['36', 'COMPLETED', -50_000, true],
    ],
  );
  t.is((await manager.queue(1)).requests.length, 1);
});

test('limits are those of the queues that may be used, and a refused width halves them', async (t) => {
  const sge = new RecordedGridEngine(t);
  const manager = sge.open();
  t.deepEqual(await manager.limits(), {
    processors: 12,
    widthMax: 12,
    requestsMax: 3,
    walltimeMax: 604_800_000,
    walltimeGranularity: 1000,
  });
  sge.act('qsub', 'echo "Unable to run job: error: no suitable queues" >&2; echo Exiting. >&2; exit 1');
  await t.throwsAsync(manager.allocate({ ...order, width: 10 }), {
    code: 'MUT_WIDTH_MAX',
    message: 'qsub: error: no suitable queues',
  });
  t.true(manager.hasNewLimits);
  t.is((await manager.limits()).widthMax, 5);
  sge.act(
    'qsub',
    'echo "Unable to run job: job rejected: only 2 jobs are allowed per user (current job count: 2)" >&2; exit 1',
  );
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q7' }), { code: 'MUT_REQUESTS_MAX' });
});

test("a request inside a reservation names Grid Engine's number of it", async (t) => {
  const sge = new RecordedGridEngine(t);
  const manager = sge.open({ reservations: { prefix: 'mutirao_site_', resourceId: 'cl' } });
  t.is(manager.reservationResource, 'cl');
  await manager.allocate({ ...order, reservation: aReservation('8:1000-5000x2') });
  t.true(sge.calls('qsub')[0]?.includes('-l h_rt=61 -ar 9 '));
  await t.throwsAsync(
    manager.allocate({ ...order, reservation: aReservation('5:1000-5000x2'), clientRequestId: 'inst.q8' }),
    { code: 'MUT_NO_ROOM' },
  );
});

test('releases go in one call, and unknown or ended requests do not fail', async (t) => {
  const sge = new RecordedGridEngine(t);
  const manager = sge.open();
  sge.act(
    'qdel',
    'echo "ana has registered the job 37 for deletion"; echo "denied: job \\"38\\" does not exist"; echo "eve - ' +
      'you do not have the necessary privileges to delete the job \\"39\\""; exit 1',
  );
  const outcomes = await Promise.allSettled(['37', '38', '39', 'no such thing', '-u'].map((id) => manager.release(id)));
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  t.deepEqual(sge.calls('qdel'), ['37 38 39']);
});

test('programs of jobs that are long over are removed', async (t) => {
  const sge = new RecordedGridEngine(t);
  const folder = join(sge.folder, 'jobs');
  mkdirSync(folder);
  for (let index = 0; index < 120; index += 1) writeFileSync(join(folder, `old.q${index}.end`), 'x');
  const manager = sge.open();
  await manager.allocate(order);
  t.true(readdirSync(folder).filter((name) => name.endsWith('.end')).length <= 50);
});
