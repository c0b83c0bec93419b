// Reservations as OAR 2.5.9 lists and refuses them, and requests inside.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { aReservation, FakeCommands, temporaryFolder, until } from '@mutirao/testkit';
import { OarManager, type AllocationOrder, type SiteReservations } from '@mutirao/managers';
import { walltimeInside } from '../../../src/oar/oar-reservations.ts';
import { parseJobs, findQueue } from '../../../src/oar/parse-oar.ts';
import { findWhereFlags } from '../../../src/oar/user-flags.ts';

/** 2026-11-28 01:00:00 UTC. */
const at = 1_795_827_600_000;
const seconds = (instant: number): number => instant / 1000;
const minute = 60_000;

/** A job as `oarstat -J --full` shows it. */
function job(id: number, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    Job_Id: id,
    name: `theirs-${id}`,
    owner: 'ana',
    state: 'Waiting',
    submissionTime: seconds(at - minute),
    startTime: 0,
    scheduledStart: null,
    walltime: 600,
    message: 'R=2,W=0:10:0,J=B',
    assigned_resources: [],
    types: [],
    initial_request: 'oarsub sleep 600',
    ...more,
  };
}

/** A reservation of Mutirao by number, of 4 resources, that was asked for `lead` before its start. */
function reserved(id: number, number: number, start: number, more: Readonly<Record<string, unknown>> = {}) {
  const ofDay = seconds(start - at) + 3600;
  const [hours, minutes] = [Math.floor(ofDay / 3600), Math.floor(ofDay / 60) % 60];
  const begin = `2026-11-28 ${[hours, minutes, ofDay % 60].map((part) => String(part).padStart(2, '0')).join(':')}`;
  const name = `mutirao_site_${number}`;
  return job(id, {
    name,
    types: ['noop', 'container'],
    startTime: seconds(start),
    scheduledStart: seconds(start),
    message: 'R=4,W=0:10:0,J=R',
    initial_request: `oarsub -n ${name} -r ${begin} -t container -t noop -l /resource_id=4,walltime=0:10:0`,
    ...more,
  });
}

function findListing(jobs: readonly Record<string, unknown>[]): string {
  return JSON.stringify(Object.fromEntries(jobs.map((one) => [String(one['Job_Id']), one])));
}

interface FakeOar {
  readonly fake: FakeCommands;
  readonly manager: OarManager;
  readonly site: SiteReservations;
}

function open(t: ExecutionContext, jobs: readonly Record<string, unknown>[]): FakeOar {
  const fake = new FakeCommands(temporaryFolder(t));
  fake.say('oarstat', findListing(jobs));
  fake.say('oardel', '');
  fake.act('oarsub', `echo "TZ=$TZ" >>'${fake.folder}/zone'; echo OAR_JOB_ID=50`);
  const manager = new OarManager({
    user: 'ana',
    flags: ['-q', 'night', '-t', 'besteffort', '--project=thesis'],
    requestsMax: 3,
    walltimeMax: 0,
    jobFolder: join(fake.folder, 'jobs'),
    deadlineMs: 10_000,
    environment: { PATH: fake.path, TZ: 'Asia/Tokyo' },
    now: () => at,
    reservations: { prefix: 'mutirao_site_', resourceId: 'site' },
  });
  t.teardown(() => {
    manager.close();
  });
  if (manager.siteReservations === undefined) throw new Error('it makes none');
  return { fake, manager, site: manager.siteReservations };
}

test('ours are listed as they were asked for, whenever the scheduler starts them', async (t) => {
  const [early, late] = [at - 5 * minute, at + 60 * minute];
  const { site } = open(t, [
    reserved(1, 7, late),
    // It began 45 s late, and ends in time.
    reserved(2, 8, early, {
      state: 'Running',
      startTime: seconds(early) + 45,
      walltime: 555,
      assigned_resources: [1, 2, 3, 4],
    }),
    // It was asked for at once, and scheduled 20 s later: OAR keeps it for longer than was asked for.
    reserved(3, 9, at - minute + 3000, { startTime: seconds(at - minute) + 23, state: 'toLaunch' }),
    // It was cut short by somebody's hand.
    reserved(4, 10, early, { state: 'Running', walltime: 60, assigned_resources: [5, 6, 7, 8] }),
    reserved(5, 11, late, { owner: 'eve' }),
    reserved(6, 12, late, { types: ['noop'] }),
    reserved(7, 13, late, { name: 'mutirao_site_x' }),
    reserved(8, 14, late, { state: 'Error' }),
  ]);
  t.deepEqual((await site.list()).reservations, [
    { reservationId: 7, count: 4, startsAt: late, endsAt: late + 10 * minute },
    { reservationId: 8, count: 4, startsAt: early + 45_000, endsAt: early + 10 * minute },
    { reservationId: 9, count: 4, startsAt: at - minute, endsAt: at - minute + 3000 + 10 * minute },
    { reservationId: 10, count: 4, startsAt: early, endsAt: early + minute },
  ]);
});

test('one is asked for in universal time, with the flags that say where, and one for now a little ahead', async (t) => {
  const { fake, site } = open(t, []);
  await site.make({ reservationId: 7, count: 4, startsAt: at + 60 * minute, endsAt: at + 75 * minute });
  await site.make({ reservationId: 8, count: 1, startsAt: at - minute, endsAt: at + minute });
  const where = '-q night --project=thesis';
  t.is(readFileSync(join(fake.folder, 'zone'), 'utf8'), 'TZ=UTC\nTZ=UTC\n');
  t.deepEqual(fake.calls('oarsub'), [
    `${where} -n mutirao_site_7 -r 2026-11-28 02:00:00 -t container -t noop -l /resource_id=4,walltime=0:15:0`,
    `${where} -n mutirao_site_8 -r 2026-11-28 01:00:03 -t container -t noop -l /resource_id=1,walltime=0:0:57`,
  ]);
});

test('what is removed ends with what runs inside, of two the earlier goes, and one that has begun stays', async (t) => {
  const late = at + 60 * minute;
  const inside = { state: 'Running', types: ['inner=2'] };
  const { fake, site } = open(t, [
    reserved(1, 7, late),
    reserved(2, 8, at - minute, { state: 'Running', assigned_resources: [1, 2, 3, 4] }),
    job(3, { ...inside, assigned_resources: [1] }),
    job(4, { ...inside, assigned_resources: [2], owner: 'eve' }),
    reserved(5, 7, late + minute),
  ]);
  await site.remove(8);
  await site.remove(99);
  await t.throwsAsync(site.move({ reservationId: 8, count: 4, startsAt: at, endsAt: late }), {
    code: 'MUT_BAD_REQUEST',
    message: /does not change a reservation that has begun/,
  });
  t.deepEqual(fake.calls('oardel'), ['3 2', '1']);
});

test('where there is no room for both, or no more may wait, the earlier one goes first, and comes back when it has to', async (t) => {
  for (const words of [
    'Reservation not valid --> KO (This reservation could run at 2026-11-28 03:00:00)',
    '[ADMISSION RULE] Error: you cannot have more than 2 waiting advance reservations.',
    'There are not enough resources for your request',
  ]) {
    const late = at + 60 * minute;
    const { fake, site } = open(t, [reserved(1, 7, late)]);
    writeFileSync(join(fake.folder, 'list'), findListing([reserved(1, 7, late)]));
    fake.act('oarstat', `cat '${fake.folder}/list'`);
    fake.act('oardel', `: >'${fake.folder}/list'`);
    fake.act('oarsub', `case "$*" in *03:00:00*) echo '${words}'; exit 10;; *) echo OAR_JOB_ID=51;; esac`);
    const moved = { reservationId: 7, count: 4, startsAt: at + 120 * minute, endsAt: at + 130 * minute };
    await t.throwsAsync(site.move(moved), { code: 'MUT_BAD_REQUEST', message: /^oarsub: / });
    t.deepEqual(fake.calls('oardel'), ['1']);
    t.is(fake.calls('oarsub').filter((call) => call.includes('03:00:00')).length, 2);
    t.regex(fake.calls('oarsub').at(-1) ?? '', /-r 2026-11-28 02:00:00 /);
  }
});

const order: AllocationOrder = {
  userId: 'ana',
  width: 4,
  walltime: 10 * minute,
  command: ['/opt/node'],
  environment: {},
  workingDirectory: '',
  clientRequestId: 'inst.q5',
};

test('a request inside is a job in the container, and what cannot fit is refused', async (t) => {
  const start = at - minute;
  const reservation = aReservation(`7:${start}-${start + 10 * minute}x4`);
  const { fake, manager } = open(t, [reserved(1, 7, start, { state: 'Running', assigned_resources: [1, 2, 3, 4] })]);
  t.is(await manager.allocate({ ...order, reservation }), '50');
  t.regex(fake.calls('oarsub')[0] ?? '', /-t inner=1 -n mutirao\.inst\.q5 -l \/resource_id=4,walltime=0:7:30 /);
  await t.throwsAsync(manager.allocate({ ...order, width: 5, reservation, clientRequestId: 'inst.q6' }), {
    code: 'MUT_NO_ROOM',
    message: /has 4 processors; 5 do not fit/,
  });
  const none = { ...order, reservation: aReservation('9:1000-5000x2'), clientRequestId: 'inst.q7' };
  await t.throwsAsync(manager.allocate(none), { code: 'MUT_NO_ROOM', message: /no reservation "mutirao_site_9"/ });
  fake.act('oarsub', 'echo "[ADMISSION RULE] Error: inner job is requesting an invalid container id." >&2; exit 254');
  await t.throwsAsync(manager.allocate({ ...order, reservation, clientRequestId: 'inst.q8' }), { code: 'MUT_NO_ROOM' });
});

test('a request that no longer fits into its reservation, because that began late, is reported as ended and taken out', async (t) => {
  const begun = { state: 'Running', assigned_resources: [1, 2, 3, 4] };
  const inside = (id: number, walltime: number, more: Readonly<Record<string, unknown>> = {}) =>
    job(id, { name: `mutirao.inst.q${id}`, types: ['inner=1'], walltime, ...more });
  // The reservation has 400 s left.
  const { fake, manager } = open(t, [
    reserved(1, 7, at - 200_000, begun),
    inside(2, 401),
    inside(3, 400),
    inside(4, 401, { state: 'Running', startTime: seconds(at - 10_000), assigned_resources: [1] }),
    job(5, { types: ['inner=1'], walltime: 500 }),
    inside(6, 401, { types: [] }),
    inside(9, 401, { state: 'Launching' }),
    reserved(7, 8, at + minute),
    inside(8, 3600, { types: ['inner=7'] }),
  ]);
  fake.say('oarnodes', JSON.stringify({ 1: { type: 'default', state: 'Alive' } }));
  const find = async () => {
    const { requests } = await manager.queue(5);
    return requests.map(({ managerRequestId: id, status, endReason }) => `${id} ${status} ${endReason}`.trim()).sort();
  };
  const reported = [
    '2 ended it can never start: its walltime is longer than what is left of the reservation',
    '3 queued',
    '4 running',
    '6 queued',
    '7 queued',
    '8 queued',
    '9 queued',
  ];
  t.deepEqual(
    (await find()).filter((line) => !line.startsWith('1 ')),
    reported,
  );
  t.deepEqual(fake.calls('oardel'), [], 'another process asked for it');
  fake.act('oarsub', 'echo OAR_JOB_ID=2');
  await manager.allocate({ ...order, clientRequestId: 'inst.q2' });
  t.deepEqual(
    (await find()).filter((line) => !line.startsWith('1 ')),
    reported,
  );
  await until(() => fake.calls('oardel').length > 0, 'it is taken out');
  t.deepEqual(fake.calls('oardel'), ['2']);
});

test('the walltime inside leaves time for a late start, and is never longer than asked for', (t) => {
  const window = { startsAt: at, endsAt: at + 60 * minute };
  t.is(walltimeInside({ walltime: 60 * minute, reservation: window }, at - minute), 58.5 * minute);
  t.is(walltimeInside({ walltime: 60 * minute, reservation: window }, at + 30 * minute), 28.5 * minute);
  t.is(walltimeInside({ walltime: 5 * minute, reservation: window }, at), 5 * minute);
  t.is(walltimeInside({ walltime: minute, reservation: { startsAt: at, endsAt: at + minute } }, at), 40_000);
  t.is(walltimeInside({ walltime: minute, reservation: { startsAt: at, endsAt: at + minute } }, at + 2 * minute), 1000);
});

test('no resource counts twice in the queue, and a job that waits inside a container of others does not count', (t) => {
  const running = (width: number) => ({
    state: 'Running',
    assigned_resources: Array.from({ length: width }, (_, index) => index + 1),
  });
  const listed = parseJobs(
    findListing([
      job(1, { ...running(5), types: ['container', 'noop'] }),
      job(2, { ...running(3), types: ['inner=1'], owner: 'eve' }),
      job(3, { types: ['inner=1'], owner: 'eve' }),
      job(4, { types: ['inner=1'], name: 'mutirao.inst.q1' }),
      job(5, { ...running(2), types: ['container'] }),
      job(6, { ...running(2), types: ['besteffort', 'inner=5'] }),
    ]),
    'ana',
  );
  if (typeof listed === 'string') throw new Error(listed);
  t.deepEqual(
    findQueue(listed).map(({ managerRequestId, width, status }) => [managerRequestId, width, status]),
    [
      ['1', 2, 'running'],
      ['2', 3, 'running'],
      ['4', 2, 'queued'],
      ['6', 2, 'running'],
    ],
  );
});

test('of the flags those go to reservations that say where', (t) => {
  const flags = [
    '-t',
    'besteffort',
    '--queue=night',
    '-p',
    "gpu='YES'",
    '--project',
    'thesis',
    '--notify=exec:/bin/true',
  ];
  t.deepEqual(findWhereFlags(flags), ['--queue=night', '-p', "gpu='YES'", '--project', 'thesis']);
});
