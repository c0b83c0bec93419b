import { randomUUID } from 'node:crypto';

import { errorOfCode, MutiraoError } from '@mutirao/api/errors';
import { Timing, type Refusal, type RequestReservationResponse, type Reservation } from '@mutirao/api/reservation';
import { chooseWindow, type CommonWindow, type WindowAnswer } from '@mutirao/core/reservations';
import type { Duration, Instant } from '@mutirao/core/shared';

import type { CommandContext } from '../context.ts';
import { showInstant } from '../output/units.ts';
import type { GroupPart } from './parts.ts';

type Clock = CommandContext['clock'];

/** What is asked of all of them. */
export interface GroupSpec {
  readonly parts: readonly GroupPart[];
  readonly earliestStart: Instant;
  readonly duration: Duration;
  readonly latestEnd: Instant | undefined;
  /** How long the places are held until they are confirmed. */
  readonly hold: Duration;
  readonly roundsMax: number;
}

/** A place that is held. */
export interface HeldPart {
  readonly part: GroupPart;
  readonly reservation: Reservation;
  /**
   * By this host's clock, which may differ from the manager's: as long after it was asked for as the manager holds it,
   * and so not after it lapses there.
   */
  readonly lapsesAt: Instant;
}

/** All of them, held for the same window. */
export interface HeldGroup {
  readonly held: readonly HeldPart[];
  readonly window: CommonWindow;
  readonly rounds: number;
}

/**
 * Holds all parts for the same window, the earliest that all have: each round asks all of them at once, and lets go of
 * what it got where one has no room.
 *
 * @throws {MutiraoError} why there is none: the code of the part that has no room, or MUT_NO_COMMON_WINDOW. Nothing is
 * held then, but at a manager that has gone away,
 * where it lapses.
 */
export async function holdGroup(clock: Clock, spec: GroupSpec): Promise<HeldGroup> {
  let window: CommonWindow = { start: spec.earliestStart, end: spec.earliestStart + spec.duration };
  if (spec.latestEnd !== undefined && window.end > spec.latestEnd)
    throw noWindow(spec, 'the time between them is too short');
  for (let rounds = 1; rounds <= spec.roundsMax; rounds += 1) {
    const answers = await askAll(clock, spec, window);
    const choice = chooseWindow(
      window,
      answers.map((answer) => toWindowAnswer(answer, window)),
      spec.latestEnd,
    );
    const held = answers.flatMap((answer) => (answer.kind === 'held' ? [answer] : []));
    if (choice.kind === 'found') return { held, window, rounds };
    await letGo(held);
    if (choice.kind === 'none') throw getRefusal(spec, answers, choice.by);
    ({ window } = choice);
  }
  throw noWindow(
    spec,
    `none was found in ${spec.roundsMax} rounds, the last from ${showInstant(window.start)} on; --rounds allows more`,
  );
}

type Outcome = NonNullable<RequestReservationResponse['outcome']>;
type PartAnswer = ({ readonly kind: 'held' } & HeldPart) | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Asks all at once; where one cannot be asked, what the others gave is let go. */
async function askAll(clock: Clock, spec: GroupSpec, window: CommonWindow): Promise<PartAnswer[]> {
  const settled = await Promise.allSettled(
    spec.parts.map(async (part) => toPartAnswer(part, clock.now(), await askOne(spec, part, window))),
  );
  const failed = settled.findIndex(({ status }) => status === 'rejected');
  if (failed < 0) return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await letGo(settled.flatMap((one) => (one.status === 'fulfilled' && one.value.kind === 'held' ? [one.value] : [])));
  const cause: unknown = (settled[failed] as PromiseRejectedResult).reason;
  if (!(cause instanceof MutiraoError)) throw cause;
  throw new MutiraoError(cause.code, `${spec.parts[failed]?.text ?? ''}: ${cause.message}`, { cause });
}

async function askOne({ duration, hold }: GroupSpec, part: GroupPart, { start, end }: CommonWindow): Promise<Outcome> {
  const { outcome } = await part.manager.requestReservation({
    spec: {
      resourceId: part.resourceId,
      amount: { $case: 'quantity', value: part.quantity },
      durationMs: duration,
      earliestStartUnixMs: start,
      latestEndUnixMs: end,
      timing: Timing.ADVANCE,
    },
    clientRequestId: randomUUID(),
    holdMs: hold,
    dryRun: false,
  });
  if (outcome === undefined) throw new MutiraoError('MUT_PROTOCOL', 'the reservation manager gave no answer');
  return outcome;
}

function toPartAnswer(part: GroupPart, askedAt: Instant, outcome: Outcome): PartAnswer {
  if (outcome.$case === 'refusal') return { kind: 'refused', refusal: outcome.value };
  const { value: reservation } = outcome;
  return {
    kind: 'held',
    part,
    reservation,
    lapsesAt: askedAt + reservation.holdUntilUnixMs - reservation.requestedUnixMs,
  };
}

/** Of what could be had instead, what has room for all of the time, later. */
function toWindowAnswer(answer: PartAnswer, { start, end }: CommonWindow): WindowAnswer {
  if (answer.kind === 'held') return { kind: 'placed' };
  const later = answer.refusal.alternatives.filter(
    ({ startUnixMs, endUnixMs }) => startUnixMs > start && endUnixMs - startUnixMs >= end - start,
  );
  return later.length === 0
    ? { kind: 'never' }
    : { kind: 'later', start: Math.min(...later.map(({ startUnixMs }) => startUnixMs)) };
}

/** Gives held places back; answers those that could not be: what is only held lapses, and what is confirmed stands. */
export async function letGo(held: readonly HeldPart[]): Promise<HeldPart[]> {
  const reason = 'not to be had together with the others';
  const settled = await Promise.allSettled(
    held.map(({ part, reservation: { reservationId } }) => part.manager.cancelReservation({ reservationId, reason })),
  );
  return held.filter((_, index) => settled[index]?.status === 'rejected');
}

function getRefusal(spec: GroupSpec, answers: readonly PartAnswer[], by: number | undefined): MutiraoError {
  const answer = by === undefined ? undefined : answers[by];
  if (answer?.kind !== 'refused') return noWindow(spec, 'they have room together only later');
  return errorOfCode(answer.refusal.code, `${spec.parts[by ?? 0]?.text ?? ''}: ${answer.refusal.message}`);
}

function noWindow({ earliestStart, latestEnd }: GroupSpec, why: string): MutiraoError {
  const until = latestEnd === undefined ? '' : ` and ${showInstant(latestEnd)}`;
  return new MutiraoError(
    'MUT_NO_COMMON_WINDOW',
    `there is no window for all of them between ${showInstant(earliestStart)}${until}: ${why}`,
  );
}
