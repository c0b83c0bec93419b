import type { Reason } from '@mutirao/core/reasons';
import { randomUUID } from 'node:crypto';

import { readClaim } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { encodeReason } from '@mutirao/api/reasons';
import {
  ResourceKind,
  Timing,
  type Refusal,
  type RequestReservationResponse,
  type Reservation,
  type Resource,
  type ReservationSpec,
} from '@mutirao/api/reservation';
import { countTasks } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import type { Duration, Instant } from '@mutirao/core/shared';

import type { ReservationClient } from '@mutirao/runtime/clients';
import type { CommandContext } from '../../context.ts';
import { hasReservations } from '../../grid/addresses.ts';
import { showDuration, showInstant } from '../../output/units.ts';
import { openManager, refusalLines } from '../../reservations/show-reservation.ts';
import { estimateTasks, readTaskTime, estimateWork, type TaskEstimate } from './estimate-work.ts';

/** What `job submit` takes for the reservation that a deadline asks for. */
export interface DeadlineOptions {
  readonly reservations?: string;
  readonly taskTime?: string;
}

/** A place that could be had. */
interface Offer {
  readonly spec: ReservationSpec;
  readonly place: Reservation;
}

/** What was answered where there is no place: why, and what there would be. */
interface Refused {
  readonly refusal: Refusal;
  readonly spec: ReservationSpec;
}

const nothing = 'Nothing is reserved for the deadline';

/**
 * Asks for what a job with a deadline needs, as a reservation of its own: of all resources that its broker's providers
 * stand for the one that has
 * done its work the earliest. If it cannot, it says why, and the job is submitted without a reservation.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for a deadline that has passed.
 */
export async function reserveForDeadline(
  context: CommandContext,
  job: JobSpec & { readonly deadline: Instant },
  options: DeadlineOptions,
): Promise<JobSpec> {
  const { output, clock } = context;
  const now = clock.now();
  if (job.deadline <= now)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--deadline is ${showInstant(job.deadline)}, ${showDuration(now - job.deadline)} ago; expected a future time`,
    );
  const taskTime = readTaskTime(options.taskTime);
  if (options.reservations === undefined && !hasReservations(context.home)) return job;
  try {
    const manager = await openManager(context, options.reservations);
    const answer = await negotiate(context, manager, { job, taskTime });
    if (typeof answer === 'string') output.note(`${nothing}: ${answer}.`);
    else return { ...job, reservation: { ...readClaim(answer.claim), after: 'continue', isOwn: true } };
  } catch (error) {
    if (!(error instanceof MutiraoError) || error.code === 'MUT_CANCELLED') throw error;
    output.note(`${nothing}: ${error.code} ${error.message}.`);
  }
  return job;
}

/** Gives back what was asked for a job that could not be submitted. */
export async function withdrawOwn(
  { output, ...context }: CommandContext,
  { reservation }: JobSpec,
  { reservations }: DeadlineOptions,
): Promise<void> {
  if (reservation?.isOwn !== true) return;
  const { reservationId } = reservation;
  try {
    const manager = await openManager({ output, ...context }, reservations);
    await manager.cancelReservation({ reservationId, reason: 'the job that asked for it could not be submitted' });
    output.note(`Cancelled reservation ${reservationId}.`);
  } catch {
    output.note(`Cannot cancel reservation ${reservationId}; run "mutirao reservation cancel ${reservationId}".`);
  }
}

/** The reservation that was got, or why there is none. */
async function negotiate(
  context: CommandContext,
  manager: ReservationClient,
  { job, taskTime }: { job: JobSpec & { readonly deadline: Instant }; taskTime: Duration | undefined },
): Promise<Reservation | string> {
  if (job.processors > 1)
    return `its tasks take ${job.processors} processors each, and the machines inside a reservation have one`;
  const broker = await context.broker();
  const estimate = await estimateTasks(broker, job, taskTime);
  if (estimate === undefined) return 'how long its tasks take is not known yet; --task-time says it';
  const resources = await reservable(
    manager,
    (await broker.listProviders()).providers.flatMap(({ connected, resourceId }) =>
      connected && resourceId !== undefined ? [resourceId] : [],
    ),
  );
  if (resources.length === 0) return 'no provider that is there has a resource that can be reserved';
  const specs = resources.map((resource) => specFor(resource, job, estimate));
  const answers = await Promise.all(specs.map(async (spec) => askDry(manager, spec)));
  const offers = answers.flatMap((answer) => ('place' in answer ? [answer] : []));
  const [first, ...others] = offers;
  if (first === undefined)
    return reportRefusal(
      context,
      manager,
      answers.flatMap((answer) => ('refusal' in answer ? [answer] : [])),
    );
  const best = others.reduce(
    (earliest, offer) => (offer.place.endUnixMs < earliest.place.endUnixMs ? offer : earliest),
    first,
  );
  const { outcome } = await manager.requestReservation({
    spec: best.spec,
    clientRequestId: randomUUID(),
    holdMs: 0,
    dryRun: false,
  });
  if (outcome?.$case !== 'reservation')
    return reportRefusal(context, manager, outcome === undefined ? [] : [{ refusal: outcome.value, spec: best.spec }]);
  reportGot(context, outcome.value, estimate);
  return outcome.value;
}

/** Resources of whole units that the providers stand for, each once. */
async function reservable(manager: ReservationClient, names: readonly string[]): Promise<Resource[]> {
  const { resources } = await manager.listResources();
  return resources.filter(({ resourceId, kind }) => kind === ResourceKind.UNITS && names.includes(resourceId));
}

function specFor(
  { resourceId, total, failed, rules }: Resource,
  job: JobSpec & { readonly deadline: Instant },
  estimate: TaskEstimate,
): ReservationSpec {
  const taskCount = job.groups.reduce((sum, group) => sum + countTasks(group), 0);
  const offered = Math.floor(((total - failed) * (rules?.capPercent ?? 100)) / 100);
  const mine = rules?.amountPerUserMax ?? 0;
  const amountMax = Math.max(1, Math.min(taskCount, offered, mine === 0 ? Infinity : mine));
  return {
    resourceId,
    amount: {
      $case: 'malleable',
      value: { workUnitMs: estimateWork(taskCount, amountMax, estimate), amountMin: 1, amountMax },
    },
    durationMs: 0,
    earliestStartUnixMs: undefined,
    latestEndUnixMs: job.deadline,
    timing: Timing.ADVANCE,
  };
}

async function askDry(manager: ReservationClient, spec: ReservationSpec): Promise<Offer | Refused> {
  let answer: RequestReservationResponse;
  try {
    answer = await manager.requestReservation({ spec, clientRequestId: '', holdMs: 0, dryRun: true });
  } catch (error) {
    // A spec that no calendar could fulfil, as with a deadline too near, is refused as a fault.
    if (!(error instanceof MutiraoError) || error.retryable) throw error;
    return { refusal: refused(error.code, error.message, error.reason), spec };
  }
  const { outcome } = answer;
  if (outcome?.$case === 'reservation') return { spec, place: outcome.value };
  return {
    refusal: outcome?.value ?? refused('MUT_INTERNAL', 'the manager gave no answer'),
    spec,
  };
}

function refused(code: string, message: string, reason?: Reason): Refusal {
  return { code, message, alternatives: [], reason: reason === undefined ? undefined : encodeReason(reason) };
}

/** Prints why no resource has enough free capacity, and the alternatives of each. */
async function reportRefusal(
  { output }: CommandContext,
  manager: ReservationClient,
  refused: readonly Refused[],
): Promise<string> {
  for (const { refusal, spec } of refused) {
    const [first, ...rest] = refusalLines(
      {
        ...refusal,
        alternatives: refusal.alternatives.length > 0 ? refusal.alternatives : await laterThan(manager, spec),
      },
      '',
    );
    output.note(`${spec.resourceId}: ${(first ?? '').replace(/^error: /, '')}`);
    for (const line of rest) output.note(line);
  }
  return 'no resource has enough free capacity before then';
}

/** What could be had if the deadline were none. */
async function laterThan(manager: ReservationClient, spec: ReservationSpec): Promise<Refusal['alternatives']> {
  const answer = await askDry(manager, { ...spec, latestEndUnixMs: undefined });
  if ('refusal' in answer) return [];
  const { startUnixMs, endUnixMs, amount } = answer.place;
  return [{ startUnixMs, endUnixMs, amount, reason: encodeReason({ code: 'alternative-later-deadline' }) }];
}

function reportGot(
  { output }: CommandContext,
  { reservationId, resourceId, amount, startUnixMs, endUnixMs }: Reservation,
  { usual, source }: TaskEstimate,
): void {
  output.note(
    `Reservation ${reservationId} is its own: ${amount} of ${resourceId} from ${showInstant(startUnixMs)} until ` +
      `${showInstant(endUnixMs)}, with tasks taken to last ${showDuration(usual)}, ${source}. It is given back ` +
      'when the job has ended.',
  );
}
