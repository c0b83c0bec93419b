import test, { type ExecutionContext } from 'ava';
import { FakeCommands, temporaryFolder } from '@mutirao/testkit';
import { SlurmManager, type SiteReservations } from '@mutirao/managers';

/** 2026-11-22T14:00:00Z. */
const start = 1_795_356_000_000;
const reservation = { reservationId: 7, count: 3, startsAt: start, endsAt: start + 3_600_000 };

function open(t: ExecutionContext, now: number): { readonly slurm: FakeCommands; readonly site: SiteReservations } {
  const slurm = new FakeCommands(temporaryFolder(t));
  for (const command of ['scancel', 'scontrol', 'sinfo']) slurm.say(command, '');
  const manager = new SlurmManager({
    user: 'ana',
    partition: 'main',
    flags: [],
    requestsMax: 3,
    walltimeMax: 0,
    logFolder: '',
    deadlineMs: 10_000,
    environment: { PATH: slurm.path },
    now: () => now,
    reservations: { prefix: 'mutirao_site_', resourceId: 'site' },
  });
  t.teardown(() => {
    manager.close();
  });
  if (manager.siteReservations === undefined) throw new Error('it makes none');
  return { slurm, site: manager.siteReservations };
}

const orders = (slurm: FakeCommands): string[] => slurm.calls('scontrol').filter((call) => !call.includes('show'));

test('a reservation is made in universal time for our account alone, and one that has begun from now on', async (t) => {
  const { slurm, site } = open(t, start - 1);
  slurm.say('sinfo', '2\n');
  slurm.say('scontrol', 'PartitionName=main Default=YES\n');
  await site.list();
  await site.make(reservation);
  await site.move(reservation);
  const begun = open(t, start);
  begun.slurm.say('scontrol', 'PartitionName=main Default=YES\n');
  await begun.site.make(reservation);
  await begun.site.move(reservation);
  const name = 'ReservationName=mutirao_site_7';
  t.deepEqual(orders(slurm), [
    `create reservation ${name} StartTime=2026-11-22T14:00:00 EndTime=2026-11-22T15:00:00 Users=ana CoreCnt=2 ` +
      'PartitionName=main',
    `update reservation ${name} StartTime=2026-11-22T14:00:00 EndTime=2026-11-22T15:00:00`,
  ]);
  t.deepEqual(orders(begun.slurm), [
    `create reservation ${name} StartTime=now EndTime=2026-11-22T15:00:00 Users=ana CoreCnt=3 PartitionName=main`,
    `update reservation ${name} EndTime=2026-11-22T15:00:00`,
  ]);
});

test('removing a reservation ends what runs inside it, and reports it as gone only when it is', async (t) => {
  const { slurm, site } = open(t, start);
  slurm.act(
    'scontrol',
    'echo "delete_reservation ReservationName=mutirao_site_7: Requested reservation is in use" >&2; exit 1',
  );
  await t.throwsAsync(site.remove(7), { code: 'MUT_RESERVATION_OVER', message: /in use/ });
  t.deepEqual(slurm.calls('scancel'), ['--reservation=mutirao_site_7 --user=ana']);
  slurm.act(
    'scontrol',
    'echo "delete_reservation ReservationName=mutirao_site_7: Requested reservation is invalid" >&2; exit 1',
  );
  await t.notThrowsAsync(site.remove(7));
});

test('a user who may not reserve, and a controller that is away, have different errors', async (t) => {
  const { slurm, site } = open(t, start);
  const says = (words: string): void => {
    slurm.act(
      'scontrol',
      `case "$*" in *partition*) echo 'PartitionName=main Default=YES';; *) echo '${words}' >&2; exit 1;; esac`,
    );
  };
  says('Error creating the reservation: Invalid user id');
  await t.throwsAsync(site.make(reservation), {
    code: 'MUT_BAD_REQUEST',
    message: 'scontrol: Error creating the reservation: Invalid user id',
  });
  says('slurm_load_reservations error: Unable to contact slurm controller (connect failure)');
  await t.throwsAsync(site.make(reservation), { code: 'MUT_UNREACHABLE' });
  await t.throwsAsync(site.list(), { code: 'MUT_UNREACHABLE' });
});
