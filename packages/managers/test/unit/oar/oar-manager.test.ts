// What a real OAR 2.5.9 wrote, and what is made of it.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { FakeCommands, temporaryFolder } from '@mutirao/testkit';
import { OarManager, type AllocationOrder, type OarOptions } from '@mutirao/managers';
import { parseJobs, parseResources, type OarJob } from '../../../src/oar/parse-oar.ts';
import { readUserFlags } from '../../../src/oar/user-flags.ts';

const recordings = fileURLToPath(new URL('../../recordings/oar/', import.meta.url));
const jobs = readFileSync(join(recordings, 'oarstat.json'), 'utf8');
const resources = readFileSync(join(recordings, 'oarnodes.json'), 'utf8');
const at = 1_795_818_300_000;

/** Commands that answer as a real OAR did. */
class RecordedOar extends FakeCommands {
  readonly #t: ExecutionContext;

  constructor(t: ExecutionContext) {
    super(temporaryFolder(t));
    this.#t = t;
    this.act('oarstat', `cat '${recordings}oarstat.json'`);
    this.act('oarnodes', `cat '${recordings}oarnodes.json'`);
    this.act(
      'oarsub',
      `env >'${this.folder}/env'; echo '[ADMISSION RULE] Modify resource description with type constraints'; ` +
        'echo OAR_JOB_ID=50',
    );
    this.say('oardel', '');
  }

  open(more: Partial<OarOptions> = {}): OarManager {
    const manager = new OarManager({
      user: 'ana',
      flags: ['-q', 'default'],
      requestsMax: 3,
      walltimeMax: 0,
      jobFolder: join(this.folder, 'jobs'),
      deadlineMs: 10_000,
      environment: { PATH: this.path, MUTIRAO_HOME: '/secret', OAR_JOB_ID: '7' },
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
  walltime: 3_661_400,
  command: ['/opt/a b/node', '$x'],
  environment: { MUTIRAO_CREDENTIAL: 'secret' },
  workingDirectory: '',
  clientRequestId: 'inst.q5',
};

test('jobs are listed in the order of arrival, ours with their keys, also before the scheduler has looked at them', (t) => {
  const listed = parseJobs(jobs, 'ana');
  if (typeof listed === 'string') throw new Error(listed);
  const listing = listed.map(({ request }) => request);
  t.deepEqual(
    listing.map(({ managerRequestId, status, userId, width, walltime, clientRequestId, isHeldBack }) => [
      managerRequestId,
      status,
      userId,
      width,
      walltime,
      clientRequestId,
      isHeldBack ?? false,
    ]),
    [
      ['1', 'running', 'ana', 3, 60_000, 'inst.q1', false],
      ['2', 'queued', 'eve', 8, 150_000, '', false],
      ['3', 'queued', 'ana', 2, 3_600_000, 'inst.q2', true],
      ['4', 'queued', 'ana', 5, 30_000, 'inst.q3', false],
    ],
  );
  t.is(listing[0]?.startsAt, 1_795_818_257_000);
  t.is(listing[1]?.submittedAt, 1_795_818_259_000);
  const unseen = parseJobs(
    jobs.replaceAll(/"message": ".*"/g, '"message": ""').replace('network_address=1', 'network_address=2'),
    'ana',
  );
  t.deepEqual(typeof unseen === 'string' ? unseen : unseen.map(({ request }) => request.width), [3, 16, 2, 5]);
  t.is(
    (parseJobs(jobs.replace('"theirs"', '"mutirao.inst.q7"'), 'ana')[1] as OarJob).request.clientRequestId,
    '',
    "somebody else's job does not count as ours, whatever its name",
  );
});

test('a listing that is cut off or malformed is refused, and an empty one is accepted', (t) => {
  t.deepEqual(parseJobs('', 'ana'), []);
  for (const text of [
    jobs.slice(0, -9),
    'DBI connect failed',
    jobs.replace('"Running"', '"Dancing"'),
    jobs.replace('"submissionTime": 1795818259', '"submissionTime": "soon"'),
  ])
    t.is(typeof parseJobs(text, 'ana'), 'string');
});

test('resources count that are alive and not draining', (t) => {
  t.deepEqual(parseResources(resources), { alive: 2, known: 2 });
  t.deepEqual(parseResources(resources.replace('"Alive"', '"Absent"')), { alive: 1, known: 2 });
  t.deepEqual(parseResources(resources.replace('"Alive"', '"Dead"').replaceAll('"drain" : "NO"', '"drain" : "YES"')), {
    alive: 0,
    known: 1,
  });
  t.is(parseResources('no'), undefined);
});

test('the log of a job is written by its script where OAR would refuse its path', async (t) => {
  const oar = new RecordedOar(t);
  await oar.open().allocate(order);
  t.regex(oar.calls('oarsub')[0] ?? '', new RegExp(`-O ${oar.folder}/jobs/\\S+ -E ${oar.folder}/jobs/`));
  t.notRegex(readFileSync(join(oar.folder, 'jobs/inst.q5.job'), 'utf8'), /^exec /m);
  for (const name of ["ana's,jobs", '50%', 'é']) {
    const jobFolder = join(oar.folder, name);
    await oar.open({ jobFolder }).allocate(order);
    t.regex(oar.calls('oarsub').at(-1) ?? '', / -O \/dev\/null -E \/dev\/null /, name);
    t.regex(readFileSync(join(jobFolder, 'inst.q5.job'), 'utf8'), /^exec >>.+ 2>&1$/m, name);
  }
});

test('an order becomes one job, and its secrets are in a file that only its owner can read', async (t) => {
  const oar = new RecordedOar(t);
  t.is(await oar.open().allocate(order), '50');
  const [call = ''] = oar.calls('oarsub');
  for (const flags of [
    '-q default -n mutirao.inst.q5',
    '-l /resource_id=4,walltime=1:1:2',
    '-d /tmp',
    `/bin/sh ${oar.folder}/jobs/inst.q5.job`,
  ])
    t.true(call.includes(flags), flags);
  t.false(call.includes('secret'));
  t.false(/MUTIRAO|OAR_JOB_ID/.test(readFileSync(join(oar.folder, 'env'), 'utf8')));
  for (const kind of ['job', 'process']) t.is(statSync(join(oar.folder, `jobs/inst.q5.${kind}`)).mode & 0o077, 0);
});

test('the job starts the processes of each host, by oarsh on the other ones, and notes how they ended', async (t) => {
  const oar = new RecordedOar(t);
  oar.act(
    'show',
    `printf '%s|' "$@" "$MUTIRAO_PROCESS_COUNT" >'${oar.folder}/shown'"$MUTIRAO_PROCESS_INDEX"; [ ` +
      '"$MUTIRAO_PROCESS_INDEX" != 3 ] || exit 3',
  );
  oar.act('oarsh', 'printf "%s\\n" "$1" >>hosts; sh -c "$2"');
  writeFileSync(join(oar.folder, 'nodes'), 'n1\nn2\nn2\nn3\n');
  oar.act(
    'oarsub',
    `cd '${oar.folder}'; for word; do last=$word; done; OAR_JOB_ID=50 OAR_NODEFILE='${oar.folder}/nodes' sh -c ` +
      '"$last"; echo OAR_JOB_ID=50',
  );
  await oar.open().allocate({ ...order, command: [join(oar.folder, 'show'), 'a b'] });
  t.is(readFileSync(join(oar.folder, 'hosts'), 'utf8').split('\n').sort().join(' '), ' n2 n3');
  for (const index of [0, 1, 2, 3]) t.is(readFileSync(join(oar.folder, `shown${index}`), 'utf8'), 'a b|4|');
  t.regex(readFileSync(join(oar.folder, 'jobs/inst.q5.end'), 'utf8'), new RegExp(`^50 \\d+ \\d+ 3 4 3662000 ${at}\n$`));
});

test('after an answer that was unclear the job is looked for before it is asked for again', async (t) => {
  const oar = new RecordedOar(t);
  const manager = oar.open();
  oar.act('oarsub', 'echo "DBI connect failed: could not connect to server" >&2; exit 1');
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'inst.q2' }), { code: 'MUT_UNREACHABLE' });
  t.is(await manager.allocate({ ...order, clientRequestId: 'inst.q2' }), '3', 'it is listed');
  t.is(oar.calls('oarsub').length, 1);
});

test('what oarsub refuses is reported by its code, and a refused width halves what is asked for', async (t) => {
  const oar = new RecordedOar(t);
  const manager = oar.open();
  t.deepEqual(await manager.limits(), {
    processors: 2,
    widthMax: 2,
    requestsMax: 3,
    walltimeMax: 604_800_000,
    walltimeGranularity: 1000,
  });
  oar.act('oarsub', 'echo "There are not enough resources for your request" >&2; echo OAR_JOB_ID=-5; exit 8');
  await t.throwsAsync(manager.allocate({ ...order, width: 2 }), {
    code: 'MUT_WIDTH_MAX',
    message: 'oarsub: There are not enough resources for your request',
  });
  t.true(manager.hasNewLimits);
  t.is((await manager.limits()).widthMax, 1);
});

test("the queue is everybody's, and what is unknown is released without a word", async (t) => {
  const oar = new RecordedOar(t);
  const manager = oar.open();
  const { requests, processorsFree } = await manager.queue(5);
  t.deepEqual(
    requests.map(({ managerRequestId }) => managerRequestId),
    ['1', '2', '3', '4'],
  );
  t.is(processorsFree, 0);
  oar.act(
    'oardel',
    'echo "Deleting the job = 99 ...ERROR."; echo "Cannot frag 99 ; You are not the right user." >&2; exit 1',
  );
  await manager.release('99');
  await manager.release('no such thing');
  oar.act('oardel', 'echo "what?" >&2; exit 1');
  await t.throwsAsync(manager.release('1'), { code: 'MUT_UNREACHABLE', message: /oardel: what\?/ });
});

test('flags of oarsub are passed on where they leave a request one job', (t) => {
  t.deepEqual(readUserFlags(['-q', 'besteffort', '--project=thesis', '-t', 'besteffort']), [
    '-q',
    'besteffort',
    '--project=thesis',
    '-t',
    'besteffort',
  ]);
  for (const words of [['-l', 'core=2'], ['-n', 'x'], ['-r', '2030-01-01'], ['--array=4'], ['-I'], ['x']])
    t.throws(() => readUserFlags(words), { code: 'MUT_BAD_CONFIG' }, words.join(' '));
});
