// The commands of reservations against the real manager: one process, and the command line in this one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { dialReservations } from '@mutirao/runtime/clients';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';
import { Program, runCommandLine, type CommandResult } from '@mutirao/testkit';

const user = userInfo().username;

interface ReservationJson {
  readonly reservation_id: number;
  readonly status: string;
  readonly start_unix_ms: number;
  readonly end_unix_ms: number;
  readonly amount: number;
  readonly claim: string;
  readonly revision: number;
  readonly reason: { readonly text: string };
}
interface Placement {
  readonly placed: boolean;
  readonly reservation: ReservationJson | null;
  readonly alternatives: readonly { readonly start_unix_ms: number; readonly amount: number }[];
}

let run: (...words: readonly string[]) => Promise<CommandResult>;

const home = mkdtempSync(join(tmpdir(), 'mutirao-reservation-commands-'));
const manager = new Program('reservations', ['--home', home], {});
let close = (): void => undefined;

test.serial.before(async () => {
  await manager.start();
  const dialled = dialReservations(manager.address, {
    token: readToken(tokenPath(home)),
    trust: userTrust(home),
    deadlineMs: 60_000,
    signal: new AbortController().signal,
  });
  ({ close } = dialled);
  run = (...words) =>
    runCommandLine(['reservation', ...words, '--manager', manager.address], {
      reservations: dialled.client,
      now: Date.now,
    });
  for (const [name, total, ...more] of [
    ['lab', '4'],
    ['net', '800KB/s', '--cap', '50%'],
    ['desk', '2', '--max-duration', '2h', '--per-user', '2'],
  ] as const)
    await json('resource', 'add', name, '--total', total, ...more);
});
test.serial.after.always(async () => {
  close();
  await manager.kill();
  rmSync(home, { recursive: true, force: true });
});

/** What a command that succeeds prints. */
async function json<T>(...words: readonly string[]): Promise<T> {
  const { status, out, err } = await run(...words, '--json');
  if (status !== 0) throw new Error(`mutirao reservation ${words.join(' ')} ended with ${status}: ${err}`);
  return JSON.parse(out) as T;
}

async function reserve(...words: readonly string[]): Promise<ReservationJson> {
  const { reservation } = await json<Placement>('request', ...words);
  if (reservation === null) throw new Error('there is no reservation');
  return reservation;
}

/** Each line of words is refused with a code and a sentence. */
async function checkRefusals(
  t: ExecutionContext,
  refusals: readonly (readonly [words: string, code: string, sentence: RegExp])[],
): Promise<void> {
  for (const [words, code, sentence] of refusals) {
    const { status, out, err } = await run(
      ...words.split(' ').map((word) => (/^20\d\d-/.test(word) ? word.replace('_', ' ') : word)),
    );
    t.not(status, 0, words);
    t.is(out, '', words);
    t.true(err.startsWith(`error: ${code} `), `${words}: ${err}`);
    t.regex(err, sentence, words);
  }
}

test.serial('a spec that makes no sense is refused with what would have been possible', async (t) => {
  await checkRefusals(t, [
    [
      'request --resource lab --count 4 --for 0',
      'MUT_RESERVATION_DURATION',
      /the duration is 0 ms; expected .* 1 or more/,
    ],
    [
      'request --resource lab --count 4 --for -5m',
      'MUT_RESERVATION_DURATION',
      /--for is "-5m"; expected a duration of 1 ms or more/,
    ],
    [
      'request --resource lab --count 4 --for 1h --hold -5m',
      'MUT_RESERVATION_DURATION',
      /--hold is "-5m"; expected a duration of 1 ms or more/,
    ],
    [
      'request --resource lab --count 4 --for 1h --hold 0',
      'MUT_RESERVATION_DURATION',
      /expected .* or no --hold, which reserves at once/,
    ],
    ['request --resource lab --processors 1..4 --work -5h', 'MUT_RESERVATION_DURATION', /--work is "-5h"/],
    [
      'request --resource lab --count 4 --for 1h --from +3h --until +2h',
      'MUT_END_BEFORE_START',
      /expected one after the earliest start/,
    ],
    [
      'request --resource lab --count 4 --for 3h --from +1h --until +2h',
      'MUT_WINDOW_TOO_SHORT',
      /there are only 1 h between the earliest start and the latest end/,
    ],
    [
      'request --resource lab --count 4 --for 1h --from 2020-01-01_10:00Z',
      'MUT_START_IN_PAST',
      /expected .* or later, or none for now/,
    ],
    [
      'request --resource lab --count 4 --for 1h --from 2030-02-30_10:00Z',
      'MUT_BAD_REQUEST',
      /2030-02-30.*expected 14:00/,
    ],
    ['request --resource lab --count 5 --for 1h', 'MUT_OVER_CAPACITY', /does not have 5; at most 4 can be reserved/],
    ['request --resource lab --count 0 --for 1h', 'MUT_RESERVATION_AMOUNT', /expected more than 0/],
    [
      'request --resource lab --capacity 4KB/s --for 1h',
      'MUT_UNKNOWN_UNIT',
      /not a unit of count; expected a share such as 30%, or a whole number/,
    ],
    ['request --resource lba --count 4 --for 1h', 'MUT_UNKNOWN_RESOURCE', /did you mean "lab"/],
    ['request --resource lab --share 120% --for 1h', 'MUT_SHARE_MAX', /lab: the share is 120%; expected at most 100%/],
    ['request --resource net --share 60% --for 1h', 'MUT_OVER_OFFER', /does not offer 480 KB\/s; at most 400 KB\/s/],
    ['request --resource net --count 4 --for 1h', 'MUT_UNKNOWN_UNIT', /--share 30%, or --capacity as in 200KB\/s/],
    [
      'request --resource net --capacity 4 --for 1h',
      'MUT_UNKNOWN_UNIT',
      /"4" names no unit; expected .* such as 200 KB\/s/,
    ],
    ['request --resource desk --count 1 --for 3h', 'MUT_RESERVATION_TOO_LONG', /expected at most 2 h/],
    [
      'request --resource lab --count 1 --for 1h --immediate --from +1h',
      'MUT_BAD_REQUEST',
      /now or not at all, but an earliest start is given/,
    ],
  ]);
});

test.serial(
  'what has no room is answered with what could be had, and a place is moved, used and given back',
  async (t) => {
    const first = await reserve('--resource', 'lab', '--count', '3', '--for', '1h', '--key', 'k');
    t.like(first, { status: 'confirmed', amount: 3, revision: 1 });
    t.is(
      (await reserve('--resource', 'lab', '--count', '3', '--for', '1h', '--key', 'k')).reservation_id,
      first.reservation_id,
    );
    await checkRefusals(t, [
      [
        'request --resource lab --count 2 --for 1h --key k',
        'MUT_KEY_REUSED',
        new RegExp(`the key "k" is of reservation ${first.reservation_id} of lab`),
      ],
    ]);
    const { status, out, err } = await run(
      'request',
      '--resource',
      'lab',
      '--count',
      '2',
      '--for',
      '1h',
      '--immediate',
      '--json',
    );
    t.is(status, 3);
    t.regex(err, /^error: MUT_NO_CAPACITY_NOW /);
    const { placed, alternatives } = JSON.parse(out) as Placement;
    t.false(placed);
    t.deepEqual(
      alternatives.map(({ amount, start_unix_ms: start }) => [amount, start === first.end_unix_ms]),
      [
        [2, true],
        [1, false],
      ],
    );
    const second = await reserve('--resource', 'lab', '--count', '2', '--for', '1h', '--from', '+30m');
    t.is(second.start_unix_ms, first.end_unix_ms);
    const id = String(second.reservation_id);
    const moved = await json<Placement>('renegotiate', id, '--count', '4', '--from', '+4h');
    t.like(moved.reservation, { amount: 4, revision: 2, status: 'confirmed' });
    await checkRefusals(t, [
      [`renegotiate ${id} --count 9`, 'MUT_OVER_CAPACITY', /at most 4/],
      [`renegotiate ${first.reservation_id} --count 1`, 'MUT_RESERVATION_BEGUN', /release it and request another one/],
      ['renegotiate 999 --count 1', 'MUT_NOT_FOUND', /999/],
      ['renegotiate x --count 1', 'MUT_BAD_REQUEST', /"x" is not a reservation; expected a number/],
    ]);
    t.not((await run('cancel', id, '999')).status, 0);
    t.like((await json<ReservationJson[]>('show', id))[0], {
      status: 'cancelled',
      reason: { text: 'cancelled by its user' },
    });
    await checkRefusals(t, [
      [`renegotiate ${id} --count 1`, 'MUT_RESERVATION_OVER', /is cancelled; request a new one/],
    ]);
    t.deepEqual(
      (await json<ReservationJson[]>('list', '--status', 'confirmed', '--resource', 'lab')).map(
        (one) => one.reservation_id,
      ),
      [first.reservation_id],
    );
    t.deepEqual(
      await json<ReservationJson[]>('list', '--status', 'cancelled', '--limit', '1').then((all) =>
        all.map((one) => String(one.reservation_id)),
      ),
      [id],
    );
    await checkRefusals(t, [
      ['list --resource lba', 'MUT_UNKNOWN_RESOURCE', /did you mean "lab"/],
      ['list --status gone', 'MUT_BAD_REQUEST', /expected one of held, confirmed/],
      ['list --limit 0', 'MUT_BAD_REQUEST', /expected an integer of 1 or more/],
    ]);
  },
);

test.serial('a claim is good once, at its time, at its resource, for its user, and whole', async (t) => {
  const now = await reserve('--resource', 'desk', '--count', '1', '--for', '1h', '--key', 'once');
  const later = await reserve('--resource', 'desk', '--count', '1', '--for', '1h', '--from', '+5h');
  const [id, early] = [String(now.reservation_id), String(later.reservation_id)];
  const claim = now.claim;
  t.regex((await run('verify', claim)).out, new RegExp(`^Valid: reservation ${id} of ${user}\\.`));
  const forged = `${claim.slice(0, -1)}${claim.endsWith('w') ? 'x' : 'w'}`;
  for (const [words, code, sentence] of [
    [['verify', forged], 'MUT_CLAIM_FORGED', /not signed by this manager/],
    [['verify', early], 'MUT_CLAIM_EARLY', /begins in (4 h 59|5 h)/],
    [['verify', claim, '--user', 'mallory'], 'MUT_CLAIM_NOT_YOURS', /mallory presented it/],
    [['verify', claim, '--resource', 'lab'], 'MUT_CLAIM_ELSEWHERE', /is for desk; it was presented at lab/],
  ] as const) {
    const { status, out } = await run(...words);
    t.is(status, 1);
    t.true(out.startsWith(`Not valid: ${code} `), out);
    t.regex(out, sentence);
  }
  await checkRefusals(t, [
    [`claim ${early}`, 'MUT_CLAIM_EARLY', /begins in/],
    [`claim ${forged}`, 'MUT_CLAIM_FORGED', /not signed/],
    [`claim ${claim} --resource lab`, 'MUT_CLAIM_ELSEWHERE', /presented at lab/],
    [
      'request --resource desk --count 1 --for 1h --from +8h',
      'MUT_USER_RESERVED_LIMIT',
      /2 reservations of desk that have not ended; expected fewer than 2/,
    ],
  ]);
  t.is((await json<ReservationJson>('claim', id, '--key', 'use')).status, 'claimed');
  t.is((await json<ReservationJson>('claim', claim, '--key', 'use')).status, 'claimed');
  await checkRefusals(t, [
    [`claim ${id} --key other`, 'MUT_CLAIM_USED', /a claim starts its use once/],
    [`release ${early}`, 'MUT_NOT_CLAIMED', /cancel it instead/],
  ]);
  t.is((await json<ReservationJson[]>('release', id))[0]?.status, 'released');
  await checkRefusals(t, [
    [`claim ${claim}`, 'MUT_RESERVATION_OVER', /is released/],
    [`claim ${id}`, 'MUT_RESERVATION_OVER', /released/],
  ]);
  const again = await run('request', '--resource', 'desk', '--count', '1', '--for', '1h', '--key', 'once');
  t.is(again.status, 3);
  t.regex(again.err, new RegExp(`^Reservation ${id} is released: .*Another key asks for a new one\\.$`, 'm'));
});

test.serial('an owner maintains and repairs a resource, and its calendar shows what is left', async (t) => {
  await json('resource', 'add', 'rig', '--total', '4');
  const used = await reserve('--resource', 'rig', '--count', '4', '--for', '3h');
  const until = new Date(Date.now() + 2 * 3_600_000).toISOString();
  const from = new Date(Date.now() + 3_600_000).toISOString();
  const paint = ['resource', 'add-maintenance', 'rig', '--id', 'paint', '--from', from, '--until', until] as const;
  const { status, err } = await run(...paint, '--reason', 'paint');
  t.is(status, 0, err);
  t.is(err, 'Conflicting reservations: 0 moved, 1 shortened (in use), 0 cancelled; their users are notified.\n');
  t.like((await json<ReservationJson[]>('show', String(used.reservation_id)))[0], {
    status: 'confirmed',
    end_unix_ms: Date.parse(from),
    revision: 2,
  });
  t.is((await run(...paint)).status, 0);
  await checkRefusals(t, [
    [
      `resource add-maintenance rig --id paint --from ${from} --until +9h`,
      'MUT_MAINTENANCE_EXISTS',
      /the maintenance "paint" is from .* of 4; withdraw it first/,
    ],
    [
      'resource add-maintenance rig --id x --from +3h --until +2h',
      'MUT_END_BEFORE_START',
      /expected an end after its start/,
    ],
    ['resource add-maintenance rig --id x --until +2h --amount 5', 'MUT_OVER_CAPACITY', /the amount is 5; rig has 4/],
    ['resource fail rig --unit 4', 'MUT_BAD_REQUEST', /has no unit 4; expected one of 0 to 3/],
    ['resource fail rig', 'MUT_BAD_REQUEST', /expected --amount or --unit/],
    ['resource fail net --unit 1', 'MUT_BAD_REQUEST', /is one capacity/],
    ['resource update rig --cap 0', 'MUT_BAD_REQUEST', /./],
    ['resource update rig --per-user 1.5', 'MUT_BAD_REQUEST', /expected a whole number of 0 or more/],
    ['resource add rig --total 8', 'MUT_RESOURCE_EXISTS', /rig has 4/],
    ['resource list rgi', 'MUT_UNKNOWN_RESOURCE', /did you mean "rig"/],
    ['resource paint rig', 'MUT_BAD_REQUEST', /expected one of add, list/],
    ['calendar rgi', 'MUT_UNKNOWN_RESOURCE', /did you mean "rig"/],
    ['calendar rig --from +2h --until +1h', 'MUT_BAD_REQUEST', /expected its end after its beginning/],
  ]);
  const [calendar] = await json<{ slots: { used: number; start_unix_ms: number; end_unix_ms: number }[] }[]>(
    'calendar',
    'rig',
  );
  t.true(
    (calendar?.slots ?? []).some(
      ({ used: taken, start_unix_ms: start, end_unix_ms: end }) =>
        taken === 4 && start <= Date.parse(from) && Date.parse(from) < end,
    ),
  );
  t.regex((await run('calendar', 'rig')).out, /^rig: 4 units, /);
  const known = await run('resource', 'add', 'rig', '--total', '4', '--cap', '50%');
  t.is(known.status, 0);
  t.regex(known.err, /^Resource rig exists already and keeps its rules/);
  t.is((await run('resource', 'add', 'rig', '--total', '4')).err, '');
  await json('resource', 'remove-maintenance', 'rig', '--id', 'paint');
  t.like((await json<object[]>('resource', 'fail', 'rig', '--unit', '2'))[0], { failed: 1, maintenances: [] });
  t.like((await json<object[]>('resource', 'restore', 'rig', '--unit', '2'))[0], { failed: 0 });
});
