// What is held ahead for a reservation, as its user meets it.
import test from 'ava';
import { ProvisioningState, ReservationStatus, type Reservation } from '@mutirao/api/reservation';
import { aSentence, aReservationWire, runCommandLine } from '@mutirao/testkit';

const hour = 3_600_000;
const provisioning = {
  status: ProvisioningState.QUEUED,
  heldUnits: 1,
  askedUnits: 1,
  askUnixMs: 0,
  expectedUnixMs: 3 * hour,
  chancePercent: 74.6,
  reasons: [aSentence('The last request was refused.')],
};

function run(one: Partial<Reservation>, ...words: readonly string[]) {
  const reservation = aReservationWire({
    startUnixMs: 2 * hour,
    endUnixMs: 4 * hour,
    reason: { code: '', parameters: {}, text: 'at the earliest requested start' },
    ...one,
  });
  const manager = {
    getReservation: () => Promise.resolve({ reservation }),
    listResources: () => Promise.resolve({ resources: [] }),
    listReservations: () =>
      Promise.resolve({
        reservations: [reservation, aReservationWire({ reservationId: 8 })],
        nextBeforeReservationId: 0,
      }),
  };
  return runCommandLine([...words, '--manager', 'h:1'], { reservations: manager, now: () => 0 });
}

test('show, list and explain print the provisioning status, when it is expected to be ready and how often similar requests were', async (t) => {
  const { out } = await run({ provisioning }, 'reservation', 'show', '7');
  for (const line of [
    /^HELD AHEAD\s+Queued: 1 of 2 processors ready, 1 requested; best effort\.$/im,
    /all would be ready at .*, 60 min after the reservation begins\./i,
    /75 % of similar past requests started within the time remaining/,
    /The last request was refused\.$/m,
  ])
    t.regex(out, line);
  const list = (await run({ provisioning }, 'reservation', 'list')).out.split('\n');
  t.regex(list[0] ?? '', /DURATION\s+PRE-ACQUIRED\s+REASON/);
  t.regex(list[1] ?? '', /queued 1\/2/);
  const explained = await run({ provisioning }, 'explain', 'reservation', '7');
  t.regex(
    explained.out,
    /^Reservation 7 of 2 of alpha is confirmed and begins in 2 h, at .*\.\n {2}- Reason for its place: at the earliest requested start\.\n {2}- Queued: 1 of 2 processors ready/,
  );
});

test('without a provisioning status, nothing is said of it', async (t) => {
  t.notRegex((await run({}, 'reservation', 'show', '7')).out, /ahead/i);
  t.notRegex((await run({}, 'reservation', 'list')).out, /PRE-ACQUIRED/);
  t.notRegex((await run({}, 'explain', 'reservation', '7')).out, /ahead/i);
});

test('a later request shows when it is due, or that the forecast of the queue decides', async (t) => {
  const planned = {
    ...provisioning,
    status: ProvisioningState.PLANNED,
    heldUnits: 0,
    askedUnits: 0,
    expectedUnixMs: 0,
    chancePercent: undefined,
    reasons: [],
  };
  t.regex(
    (await run({ provisioning: { ...planned, askUnixMs: hour } }, 'explain', 'reservation', '7')).out,
    /They will be requested at /,
  );
  t.regex(
    (await run({ provisioning: planned }, 'explain', 'reservation', '7')).out,
    /when the queue's forecast requires it/,
  );
});

test('the summary of a reservation that is over gives the reason, and its provisioning status stays', async (t) => {
  const over = {
    status: ReservationStatus.CANCELLED,
    endedUnixMs: hour,
    reason: { code: '', parameters: {}, text: 'rain' },
    provisioning: {
      ...provisioning,
      status: ProvisioningState.HONOURED,
      heldUnits: 2,
      askedUnits: 0,
      expectedUnixMs: 0,
      chancePercent: undefined,
      reasons: [],
    },
  };
  t.regex(
    (await run(over, 'explain', 'reservation', '7')).out,
    /^Reservation 7 of 2 of alpha is cancelled since .*: rain\.\n {2}- Honoured: 2 of 2 processors ready, 0 requested; best effort\.\n$/,
  );
});
