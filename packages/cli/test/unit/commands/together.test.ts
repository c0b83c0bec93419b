import test from 'ava';
import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import {
  ReservationStatus,
  type PrepareReservationRequest,
  type RequestReservationRequest,
  type Reservation,
} from '@mutirao/api/reservation';
import { runCommandLine, type CommandResult } from '@mutirao/testkit';

/** A manager of resources each of which is busy until some instant, and what was done there. */
class FakeManager {
  readonly done: string[] = [];
  readonly groupIds = new Set<string>();
  readonly #busyUntil: Readonly<Record<string, number>>;
  readonly #failing: (call: string) => ErrorCode | undefined;
  readonly #resources = new Map<number, string>();

  constructor(
    busyUntil: Readonly<Record<string, number>>,
    failing: (call: string) => ErrorCode | undefined = () => undefined,
  ) {
    this.#busyUntil = busyUntil;
    this.#failing = failing;
  }

  requestReservation({ spec }: RequestReservationRequest) {
    const { resourceId = '', earliestStartUnixMs: start = 0, durationMs = 0 } = spec ?? {};
    const free = this.#busyUntil[resourceId];
    if (free === undefined)
      return Promise.resolve({
        outcome: {
          $case: 'refusal' as const,
          value: { code: 'MUT_RESERVATION_AMOUNT', message: 'more than there is', alternatives: [], reason: undefined },
        },
        movedCount: 0,
      });
    if (start < free) {
      const alternatives = [
        { startUnixMs: start, endUnixMs: start + 1, amount: 1, reason: { code: '', parameters: {}, text: 'shorter' } },
        {
          startUnixMs: free,
          endUnixMs: free + durationMs,
          amount: 1,
          reason: { code: '', parameters: {}, text: 'later' },
        },
      ];
      return Promise.resolve({
        outcome: {
          $case: 'refusal' as const,
          value: { code: 'MUT_NO_ROOM', message: 'no room', alternatives, reason: undefined },
        },
        movedCount: 0,
      });
    }
    const reservationId = this.#resources.size + 1;
    this.#resources.set(reservationId, resourceId);
    this.#failing(`hold ${resourceId}`);
    this.done.push(`hold ${resourceId} at ${start}`);
    return Promise.resolve({
      outcome: { $case: 'reservation' as const, value: this.#reservation(reservationId, start, durationMs) },
      movedCount: 0,
    });
  }

  confirmReservation({ reservationId }: { readonly reservationId: number }) {
    return this.#answer('confirm', reservationId);
  }

  prepareReservation({ reservationId, together }: PrepareReservationRequest) {
    const { reservationId: decider = 0, managerAddress = '', groupId = '' } = together ?? {};
    this.groupIds.add(groupId);
    return this.#answer(
      `prepare to ${this.#resources.get(decider) ?? ''}${managerAddress === '' ? '' : ` at ${managerAddress}`}`,
      reservationId,
    );
  }

  #answer(call: string, reservationId: number) {
    const resource = this.#resources.get(reservationId) ?? '';
    const code = this.#failing(`${call.split(' ')[0] ?? ''} ${resource}`);
    this.done.push(`${code ?? call} ${resource}`);
    return code === undefined
      ? Promise.resolve({ reservation: this.#reservation(reservationId, 0, 0) })
      : Promise.reject(new MutiraoError(code, 'told so'));
  }

  cancelReservation({ reservationId }: { readonly reservationId: number }) {
    const resource = this.#resources.get(reservationId) ?? '';
    this.done.push(`cancel ${resource}`);
    const code = this.#failing(`cancel ${resource}`);
    if (code !== undefined) return Promise.reject(new MutiraoError(code, 'told so'));
    return Promise.resolve({ reservation: undefined });
  }

  listResources() {
    return Promise.resolve({ resources: [] });
  }

  #reservation(reservationId: number, startUnixMs: number, durationMs: number): Reservation {
    return {
      reservationId,
      resourceId: this.#resources.get(reservationId) ?? '',
      userId: 'ana',
      status: ReservationStatus.HELD,
      startUnixMs,
      endUnixMs: startUnixMs + durationMs,
      amount: 1,
      units: [],
      earliestStartUnixMs: 0,
      latestEndUnixMs: undefined,
      holdUntilUnixMs: 60_000,
      requestedUnixMs: 0,
      claimedUnixMs: 0,
      endedUnixMs: 0,
      revision: 1,
      reason: undefined,
      clientRequestId: '',
      claim: '',
      together: undefined,
      provisioning: undefined,
    };
  }
}

/** Time passes while the command waits. */
function run(manager: FakeManager, ...words: readonly string[]): Promise<CommandResult> {
  let now = 0;
  const sleep = (): Promise<void> => {
    now += 20_000;
    return Promise.resolve();
  };
  return runCommandLine(['reservation', 'co-allocate', '--manager', 'h:1', ...words], {
    reservations: manager,
    now: () => now,
    sleep,
  });
}

test('the window is the first that all have, and what was held for an earlier one is given back', async (t) => {
  const manager = new FakeManager({ a: 0, b: 9000, c: 5000 });
  const { out, status } = await run(manager, 'a=1', 'b=30%', 'c=2', '--for', '1h', '--json');
  t.is(status, 0);
  t.deepEqual(manager.done, [
    'hold a at 2000',
    'cancel a',
    'hold a at 9000',
    'hold b at 9000',
    'hold c at 9000',
    'prepare to a a',
    'prepare to a b',
    'prepare to a c',
    'confirm a',
    'confirm b',
    'confirm c',
  ]);
  const { start_unix_ms: start, end_unix_ms: end, rounds } = JSON.parse(out) as Record<string, unknown>;
  t.deepEqual([start, end, rounds], [9000, 3_609_000, 2]);
});

test('where one has no room at all, or all only too late, nothing stays held', async (t) => {
  const never = new FakeManager({ a: 0 });
  t.regex(
    (await run(never, 'a=1', 'x=9', '--for', '1h')).err,
    /^error: MUT_RESERVATION_AMOUNT x=9: more than there is/,
  );
  t.deepEqual(never.done, ['hold a at 2000', 'cancel a']);
  const late = new FakeManager({ a: 0, b: 9000 });
  t.regex(
    (await run(late, 'a=1', 'b=1', '--for', '5s', '--until', '+10s')).err,
    /^error: MUT_NO_COMMON_WINDOW .*only later/,
  );
  t.deepEqual(late.done, ['hold a at 2000', 'cancel a']);
  t.regex(
    (await run(new FakeManager({ a: 0, b: 9000 }), 'a=1', 'b=1', '--for', '5s', '--rounds', '1')).err,
    /^error: MUT_NO_COMMON_WINDOW .*--rounds allows more/,
  );
});

test('nothing is confirmed before all are prepared, and the one that decides is confirmed before the others', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0, c: 0 });
  t.is((await run(manager, 'a=1@127.0.0.1:7', 'b=1@192.0.2.7:1', 'c=1@192.0.2.7:1', '--for', '1h')).status, 0);
  // An address of this host says nothing elsewhere, so that the second decides.
  t.deepEqual(manager.done.slice(3), [
    'prepare to b b',
    'prepare to b at 192.0.2.7:1 a',
    'prepare to b c',
    'confirm b',
    'confirm a',
    'confirm c',
  ]);
  t.is(manager.groupIds.size, 1);
  t.true([...manager.groupIds].every((id) => id.length >= 32));
});

test('when one cannot be prepared or confirmed all are given back, confirmed or not', async (t) => {
  const steps = {
    'prepare a': [],
    'prepare b': ['prepare to a a'],
    'confirm a': ['prepare to a a', 'prepare to a b'],
    'confirm b': ['prepare to a a', 'prepare to a b', 'confirm a'],
  };
  for (const [failing, before] of Object.entries(steps)) {
    const manager = new FakeManager({ a: 0, b: 0 }, (call) => (call === failing ? 'MUT_RESERVATION_OVER' : undefined));
    const { err, status } = await run(manager, 'a=1', 'b=1', '--for', '1h');
    const resource = failing.at(-1) ?? '';
    t.not(status, 0);
    t.deepEqual(manager.done.slice(2), [...before, `MUT_RESERVATION_OVER ${resource}`, 'cancel a', 'cancel b']);
    t.true(
      err.startsWith(
        `error: MUT_GROUP_ABORTED ${resource}=1 was not confirmed (MUT_RESERVATION_OVER told so), and the others ` +
          'are given back\n',
      ),
      err,
    );
  }
});

test('what could not be given back is named, with the command that does it', async (t) => {
  const failing: Record<string, ErrorCode> = { 'confirm b': 'MUT_RESERVATION_OVER', 'cancel a': 'MUT_UNREACHABLE' };
  const { err } = await run(
    new FakeManager({ a: 0, b: 0 }, (call) => failing[call]),
    'a=1@192.0.2.7:1',
    'b=1',
    '--for',
    '1h',
  );
  t.true(
    err.startsWith(
      'error: MUT_GROUP_ABORTED b=1 was not confirmed (MUT_RESERVATION_OVER told so), and the others are given ' +
        'back, but for a=1@192.0.2.7:1: unless it lapses by itself, ' +
        'give it back with "mutirao reservation cancel 1 --manager 192.0.2.7:1"\n',
    ),
    err,
  );
});

test('a hold is as long as its manager said, whatever the clocks of the two say', async (t) => {
  for (const ahead of [-120_000, 120_000]) {
    const manager: FakeManager = new FakeManager({ a: 0, b: 0 }, (call): ErrorCode | undefined =>
      call === 'prepare b' && manager.done.length < 6 ? 'MUT_UNREACHABLE' : undefined,
    );
    let now = 1_000_000 + ahead;
    const sleep = (): Promise<void> => ((now += 1000), Promise.resolve());
    const { status, err } = await runCommandLine(
      ['reservation', 'co-allocate', '--manager', 'h:1', 'a=1', 'b=1', '--for', '1h'],
      { reservations: manager, now: () => now, sleep },
    );
    t.is(status, 0, err);
  }
});

test('a hold counts from when it was asked for: one that was long in coming lapses with the others, and the first is still there to be given back', async (t) => {
  let now = 0;
  const manager: FakeManager = new FakeManager({ a: 0, b: 0 }, (call): ErrorCode | undefined => {
    if (call === 'hold b') now += 50_000;
    return call === 'prepare b' ? 'MUT_UNREACHABLE' : undefined;
  });
  const sleep = (): Promise<void> => ((now += 1000), Promise.resolve());
  await runCommandLine(['reservation', 'co-allocate', '--manager', 'h:1', 'a=1', 'b=1', '--for', '1h'], {
    reservations: manager,
    now: () => now,
    sleep,
  });
  t.true(
    now <= 58_000,
    `it gave up after ${now} ms; the hold of the first is 60,000 ms, and a quarter of the last 10,000 is for ` +
      'giving back',
  );
});

test('a manager that does not answer is asked again until a little before its hold lapses, so that what the others hold is still there to be given back', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0 }, (call) => (call === 'prepare b' ? 'MUT_UNREACHABLE' : undefined));
  const { err } = await run(manager, 'a=1', 'b=1@h:2', '--for', '1h');
  // At 0, 20, 40 and 60 s by the clock of the run; the hold is a minute.
  t.is(manager.done.filter((line) => line === 'MUT_UNREACHABLE b').length, 4);
  t.true(manager.done.includes('cancel a'));
  t.regex(err, /^error: MUT_GROUP_ABORTED b=1@h:2 was not confirmed \(MUT_UNREACHABLE/);
  let failures = 2;
  const slow = new FakeManager({ a: 0, b: 0 }, () => (failures-- > 0 ? 'MUT_DEADLINE_EXCEEDED' : undefined));
  t.is((await run(slow, 'a=1', 'b=1', '--for', '1h')).status, 0);
});

test('where nobody knows whether the deciding one was confirmed the others wait for it, and are not given back', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0 }, (call) => (call === 'confirm a' ? 'MUT_UNREACHABLE' : undefined));
  const { err, status } = await run(manager, 'a=1@one.example:1', 'b=1', '--for', '1h');
  t.not(status, 0);
  t.false(manager.done.some((line) => line.startsWith('cancel') || line.startsWith('confirm')));
  t.regex(
    err,
    /^error: MUT_UNREACHABLE nobody knows whether a=1@one\.example:1 was confirmed .*see "mutirao reservation show 1 --manager one\.example:1"/,
  );
});

test('once it is decided, a manager that does not answer changes nothing: it will learn of it', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0 }, (call) => (call === 'confirm b' ? 'MUT_UNREACHABLE' : undefined));
  const { err, out, status } = await run(manager, 'a=1', 'b=1@h:2', '--for', '1h');
  t.is(status, 0);
  t.false(manager.done.some((line) => line.startsWith('cancel')));
  t.regex(out, /All 2 are reserved/);
  t.regex(err, /The manager of b=1@h:2 does not answer/);
});

test('a start that is past is refused, as it is for one resource alone', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0 });
  t.regex(
    (await run(manager, 'a=1', 'b=1', '--for', '1h', '--from', '1969-12-31T10:00:00Z')).err,
    /^error: MUT_START_IN_PAST --from is /,
  );
  t.deepEqual(manager.done, []);
});

test('words that make no sense are refused before anything is asked for', async (t) => {
  for (const words of [
    ['a=1'],
    ['a=1', 'b'],
    ['a=1', '=2'],
    ['a=1', 'b=2', '--rounds', '0'],
    ['a=1', 'b=2', '--hold', '1ms'],
  ]) {
    const manager = new FakeManager({ a: 0, b: 0 });
    t.regex((await run(manager, ...words, '--for', '1h')).err, /^error: MUT_BAD_REQUEST /, words.join(' '));
    t.deepEqual(manager.done, []);
  }
});
