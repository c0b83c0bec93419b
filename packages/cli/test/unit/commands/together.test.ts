import test from 'ava';
import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import { ReservationStatus, type RequestReservationRequest, type Reservation } from '@mutirao/api/reservation';
import { runCommandLine, type CommandResult } from '@mutirao/testkit';

/** A manager of resources each of which is busy until some instant, and what was done there. */
class FakeManager {
  readonly done: string[] = [];
  readonly #busyUntil: Readonly<Record<string, number>>;
  readonly #confirming: (resource: string) => ErrorCode | undefined;
  readonly #resources = new Map<number, string>();

  constructor(busyUntil: Readonly<Record<string, number>>, confirming: (resource: string) => ErrorCode | undefined = () => undefined) {
    this.#busyUntil = busyUntil;
    this.#confirming = confirming;
  }

  requestReservation({ wish }: RequestReservationRequest) {
    const { resourceId = '', earliestStartUnixMs: start = 0, durationMs = 0 } = wish ?? {};
    const free = this.#busyUntil[resourceId];
    if (free === undefined) return Promise.resolve({ outcome: { $case: 'refusal' as const, value: { code: 'MUT_RESERVATION_AMOUNT', message: 'more than there is', alternatives: [] } }, movedCount: 0 });
    if (start < free) {
      const alternatives = [
        { startUnixMs: start, endUnixMs: start + 1, amount: 1, reason: 'shorter' }, { startUnixMs: free, endUnixMs: free + durationMs, amount: 1, reason: 'later' },
      ];
      return Promise.resolve({ outcome: { $case: 'refusal' as const, value: { code: 'MUT_NO_ROOM', message: 'no room', alternatives } }, movedCount: 0 });
    }
    const reservationId = this.#resources.size + 1;
    this.#resources.set(reservationId, resourceId);
    this.done.push(`hold ${resourceId} at ${start}`);
    return Promise.resolve({ outcome: { $case: 'reservation' as const, value: this.#reservation(reservationId, start, durationMs) }, movedCount: 0 });
  }

  confirmReservation({ reservationId }: { readonly reservationId: number }) {
    const resource = this.#resources.get(reservationId) ?? '';
    const code = this.#confirming(resource);
    this.done.push(`${code ?? 'confirm'} ${resource}`);
    return code === undefined ? Promise.resolve({ reservation: this.#reservation(reservationId, 0, 0) }) : Promise.reject(new MutiraoError(code, 'told so'));
  }

  cancelReservation({ reservationId }: { readonly reservationId: number }) {
    this.done.push(`cancel ${this.#resources.get(reservationId) ?? ''}`);
    return Promise.resolve({ reservation: undefined });
  }

  listResources() {
    return Promise.resolve({ resources: [] });
  }

  #reservation(reservationId: number, startUnixMs: number, durationMs: number): Reservation {
    return {
      reservationId, resourceId: this.#resources.get(reservationId) ?? '', userId: 'ana', status: ReservationStatus.HELD, startUnixMs, endUnixMs: startUnixMs + durationMs, amount: 1, units: [],
      earliestStartUnixMs: 0, latestEndUnixMs: undefined, holdUntilUnixMs: 60_000, requestedUnixMs: 0, claimedUnixMs: 0, endedUnixMs: 0, revision: 1, reason: '', clientRequestId: '', claim: '',
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
  return runCommandLine(['reservation', 'together', '--manager', 'h:1', ...words], { reservations: manager, now: () => now, sleep });
}

test('the window is the first that all have, and what was held for an earlier one is given back', async (t) => {
  const manager = new FakeManager({ a: 0, b: 9000, c: 5000 });
  const { out, status } = await run(manager, 'a=1', 'b=30%', 'c=2', '--for', '1h', '--json');
  t.is(status, 0);
  t.deepEqual(manager.done, ['hold a at 2000', 'cancel a', 'hold a at 9000', 'hold b at 9000', 'hold c at 9000', 'confirm a', 'confirm b', 'confirm c']);
  const { start_unix_ms: start, end_unix_ms: end, rounds } = JSON.parse(out) as Record<string, unknown>;
  t.deepEqual([start, end, rounds], [9000, 3_609_000, 2]);
});

test('where one has no room at all, or all only too late, nothing stays held', async (t) => {
  const never = new FakeManager({ a: 0 });
  t.regex((await run(never, 'a=1', 'x=9', '--for', '1h')).err, /^error: MUT_RESERVATION_AMOUNT x=9: more than there is/);
  t.deepEqual(never.done, ['hold a at 2000', 'cancel a']);
  const late = new FakeManager({ a: 0, b: 9000 });
  t.regex((await run(late, 'a=1', 'b=1', '--for', '5s', '--until', '+10s')).err, /^error: MUT_NO_COMMON_WINDOW .*only later/);
  t.deepEqual(late.done, ['hold a at 2000', 'cancel a']);
  t.regex((await run(new FakeManager({ a: 0, b: 9000 }), 'a=1', 'b=1', '--for', '5s', '--rounds', '1')).err, /^error: MUT_NO_COMMON_WINDOW .*--rounds allows more/);
});

test('when a confirmation is refused the others are given back, confirmed or not', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0 }, (resource) => (resource === 'b' ? 'MUT_RESERVATION_OVER' : undefined));
  const { err, status } = await run(manager, 'a=1', 'b=1', '--for', '1h');
  t.not(status, 0);
  t.deepEqual(manager.done.slice(2), ['confirm a', 'MUT_RESERVATION_OVER b', 'cancel a', 'cancel b']);
  t.regex(err, /^error: MUT_NOT_TOGETHER b=1 was not confirmed \(MUT_RESERVATION_OVER told so\), and the others are given back\n/);
});

test('a manager that does not answer is asked until its hold has lapsed, and what may stand there is told', async (t) => {
  const manager = new FakeManager({ a: 0, b: 0 }, (resource) => (resource === 'b' ? 'MUT_UNREACHABLE' : undefined));
  const { err } = await run(manager, 'a=1', 'b=1@h:2', '--for', '1h');
  t.is(manager.done.filter((line) => line === 'MUT_UNREACHABLE b').length, 4);
  t.true(manager.done.includes('cancel a'));
  t.regex(err, /MUT_NOT_TOGETHER .* what may stand there is given back by "mutirao reservation cancel 2 --manager h:2"/);
  let failures = 2;
  const slow = new FakeManager({ a: 0, b: 0 }, () => (failures-- > 0 ? 'MUT_DEADLINE_EXCEEDED' : undefined));
  t.is((await run(slow, 'a=1', 'b=1', '--for', '1h')).status, 0);
});

test('words that make no sense are refused before anything is asked for', async (t) => {
  for (const words of [['a=1'], ['a=1', 'b'], ['a=1', '=2'], ['a=1', 'b=2', '--rounds', '0'], ['a=1', 'b=2', '--hold', '1ms']]) {
    const manager = new FakeManager({ a: 0, b: 0 });
    t.regex((await run(manager, ...words, '--for', '1h')).err, /^error: MUT_BAD_REQUEST /, words.join(' '));
    t.deepEqual(manager.done, []);
  }
});
