import { randomUUID } from 'node:crypto';

import { errorOfCode, MutiraoError } from '@mutirao/api/errors';
import type { Reservation } from '@mutirao/api/reservation';
import type { Duration, Instant } from '@mutirao/core/shared';
import { isLoopback, isSocket, parseAddress } from '@mutirao/runtime/rpc';

import type { CommandContext } from '../context.ts';
import { letGo, type HeldPart } from './hold-group.ts';
import { managerWords } from './parts.ts';

/** Pause before what nobody knows to have been done is asked for again. */
const repeatPause: Duration = 1000;
/** Of the time until a hold lapses, for how much of it a manager that does not answer is asked again. */
const patienceShare = 0.75;

/** Codes after which nobody knows. */
const unclear: ReadonlySet<string> = new Set([
  'MUT_UNREACHABLE',
  'MUT_DEADLINE_EXCEEDED',
  'MUT_INTERNAL',
  'MUT_STOPPING',
  'MUT_OVERLOADED',
]);

/** What came of one call. */
type Outcome =
  | { readonly kind: 'done'; readonly reservation: Reservation }
  | { readonly kind: 'failed'; readonly isKnown: boolean; readonly error: MutiraoError };

type Call = (one: HeldPart) => Promise<{ readonly reservation?: Reservation | undefined }>;

/** What is confirmed together. */
export interface CommittedGroup {
  /** In the order of what was held; of a manager that does not answer, as it was prepared. */
  readonly reservations: readonly Reservation[];
  /** Parts whose manager has not acknowledged yet; it will ask the coordinator itself. */
  readonly unanswered: readonly HeldPart[];
}

/**
 * Commits all holds, or gives all of them back, even if it dies in between.
 *
 * First all are prepared with one of them as the coordinator. Confirming the coordinator decides for all, and then the
 * others are confirmed. One that misses that asks the coordinator's manager. If the client dies before the decision,
 * the coordinator's hold lapses, and the others are given back.
 *
 * @throws {MutiraoError} MUT_GROUP_ABORTED; or, if it is unknown whether the coordinator was confirmed, the error of
 * its manager.
 */
export async function commitGroup(context: CommandContext, held: readonly HeldPart[]): Promise<CommittedGroup> {
  const decider = chooseDecider(held);
  const others = held.filter((one) => one !== decider);
  const until = patienceEnd(context.clock.now(), held);
  const prepare = prepareTo(decider, randomUUID());
  // The coordinator first: a manager whose reservation is prepared may ask it at once.
  for (const some of [[decider], others]) {
    const outcomes = await callAll(context, some, { call: prepare, until });
    if (outcomes.some(({ kind }) => kind === 'failed')) throw await giveUp(held, some, outcomes);
  }
  const [decided] = await callAll(context, [decider], { call: confirm, until });
  if (decided?.kind === 'failed')
    throw decided.isKnown ? await giveUp(held, [decider], [decided]) : undecided(decider, decided.error);
  const outcomes = await callAll(context, others, { call: confirm, until });
  if (outcomes.some((outcome) => outcome.kind === 'failed' && outcome.isKnown))
    throw await giveUp(held, others, outcomes);
  const reported = new Map([...reportedBy([decider], [decided]), ...reportedBy(others, outcomes)]);
  return {
    reservations: held.map((one) => reported.get(one) ?? one.reservation),
    unanswered: others.filter((one) => !reported.has(one)),
  };
}

/**
 * A while before the first hold lapses: what is given back then is still held, and is given back in words rather than
 * by time.
 */
function patienceEnd(now: Instant, held: readonly HeldPart[]): Instant {
  const lapse = Math.min(...held.map(({ lapsesAt }) => lapsesAt));
  return now + Math.max(0, lapse - now) * patienceShare;
}

/** What those said that answered. */
function reportedBy(
  asked: readonly HeldPart[],
  outcomes: readonly (Outcome | undefined)[],
): (readonly [HeldPart, Reservation])[] {
  return asked.flatMap((one, index) => {
    const outcome = outcomes[index];
    return outcome?.kind === 'done' ? [[one, outcome.reservation] as const] : [];
  });
}

/** The first whose manager others can ask: an address of this host says nothing elsewhere. */
function chooseDecider(held: readonly HeldPart[]): HeldPart {
  const far = held.find(({ part }) => {
    const address = parseAddress(part.address);
    return !isSocket(address) && !isLoopback(address.host);
  });
  return far ?? (held[0] as HeldPart);
}

function prepareTo(decider: HeldPart, groupId: string): Call {
  return ({ part, reservation: { reservationId } }) =>
    part.manager.prepareReservation({
      reservationId,
      together: {
        groupId,
        managerAddress: part.address === decider.part.address ? '' : decider.part.address,
        reservationId: decider.reservation.reservationId,
      },
    });
}

const confirm: Call = ({ part, reservation: { reservationId } }) => part.manager.confirmReservation({ reservationId });

/** Gives all back, and says why. */
async function giveUp(
  held: readonly HeldPart[],
  asked: readonly HeldPart[],
  outcomes: readonly Outcome[],
): Promise<MutiraoError> {
  const kept = await letGo(held);
  const reasons = outcomes.flatMap((outcome, index) =>
    outcome.kind === 'failed'
      ? [`${asked[index]?.part.text ?? ''} was not confirmed (${outcome.error.code} ${outcome.error.message})`]
      : [],
  );
  return new MutiraoError(
    'MUT_GROUP_ABORTED',
    `${reasons.join('; ')}, and the others are given back${describeKept(kept)}`,
  );
}

/** What could not be given back lapses, unless it was confirmed before its manager went away. */
function describeKept(kept: readonly HeldPart[]): string {
  return kept
    .map(
      ({ part, reservation: { reservationId } }) =>
        `, but for ${part.text}: unless it lapses by itself, give it back with "mutirao reservation cancel ` +
        `${reservationId}${managerWords(part)}"`,
    )
    .join('');
}

/** Its manager may have confirmed it before it went away: the others wait for its word, and are not given back. */
function undecided({ part, reservation: { reservationId } }: HeldPart, { code, message }: MutiraoError): MutiraoError {
  return errorOfCode(
    code,
    `nobody knows whether ${part.text} was confirmed (${message}); the others stand or fall with it: see ` +
      `"mutirao reservation show ${reservationId}${managerWords(part)}"`,
  );
}

interface Calling {
  readonly call: Call;
  /** When to give up asking again. */
  readonly until: Instant;
}

function callAll(context: CommandContext, some: readonly HeldPart[], calling: Calling): Promise<Outcome[]> {
  return Promise.all(some.map((one) => callOne(context, one, calling)));
}

async function callOne(context: CommandContext, one: HeldPart, { call, until }: Calling): Promise<Outcome> {
  for (;;) {
    try {
      const { reservation } = await call(one);
      return { kind: 'done', reservation: reservation ?? one.reservation };
    } catch (error) {
      if (!(error instanceof MutiraoError)) throw error;
      const isKnown = !unclear.has(error.code);
      if (isKnown || context.signal.aborted || context.clock.now() >= until) return { kind: 'failed', isKnown, error };
    }
    await context.sleep(repeatPause);
  }
}
