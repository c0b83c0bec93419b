import type { Outage, ResourceDimension, ResourceRecord, ResourceState } from '../../messages/index.ts';
import type { Reason, Refusal } from '../../reasons/index.ts';
import { findResourceFault, parseAmount, type BlockOutcome } from '../../reservations/index.ts';
import { invariant, type Instant } from '../../shared/index.ts';
import { isRefusal } from './admission.ts';
import { findBlock, listFacts } from './apply.ts';
import { chooseUnits } from './choose-units.ts';
import type { ReservationReported } from './changes.ts';
import type { ResourceReply } from './commands.ts';
import type { NewResource, Part, ReservationsInput } from './inputs.ts';
import { findOwnResource, isOwner } from './owners.ts';
import { reportMoved } from './place.ts';
import type { ResourceEntry } from './state.ts';
import type { Turn } from './turn.ts';

type GetInput<K extends ReservationsInput['kind']> = Extract<ReservationsInput, { kind: K }>;

/** Most resources of one manager. */
const resourcesMax = 10_000;

/** Makes a resource known; one that is known already, and is the caller's, is left so where it is the same. */
export function registerResource(
  turn: Turn,
  { replyTo, userId, resource: offered }: GetInput<'ResourceOffered'>,
): void {
  const { state, now } = turn;
  const known = state.resources.get(offered.id);
  const resource = readResource(offered, known?.resource.ownerId ?? userId);
  const refusal = isRefusal(resource)
    ? resource
    : findUnregistrable(turn, { known: known?.resource, resource, userId });
  if (refusal !== undefined) {
    turn.refuse(replyTo, refusal);
    return;
  }
  if (known === undefined) turn.change({ kind: 'ResourcePut', resource: resource as ResourceRecord, at: now });
  reply(turn, replyTo, offered.id);
}

/** Changes the rules of a resource; what was placed stays. */
export function changeRules(turn: Turn, { replyTo, rules, ...asked }: GetInput<'RulesChanged'>): void {
  withOwn(turn, { replyTo, ...asked }, (entry) => {
    const resource = { ...entry.resource, rules };
    const fault = findResourceFault(listFacts(resource));
    if (fault !== undefined) return { code: 'MUT_BAD_REQUEST', fault };
    turn.change({ kind: 'ResourcePut', resource, at: turn.now });
    return undefined;
  });
}

/**
 * Takes units or capacity away for a time; the same window again changes nothing, and another one of its name is
 * refused.
 */
export function announceMaintenance(
  turn: Turn,
  { replyTo, name, startsAt, endsAt, amount, reason, ...asked }: GetInput<'MaintenanceAnnounced'>,
): void {
  withOwn(turn, { replyTo, ...asked }, (entry) => {
    const { total } = entry.resource;
    const known = findMaintenance(entry, name);
    if (known !== undefined)
      return findOtherWindow(turn.now, known, { startsAt, endsAt, amount: amount === 0 ? total : amount });
    if (endsAt <= Math.max(startsAt, turn.now))
      return {
        code: 'MUT_END_BEFORE_START',
        fault: {
          code: 'maintenance-ends-too-early',
          endUnixMs: endsAt,
          startUnixMs: startsAt,
          nowUnixMs: turn.now,
        },
      };
    if (amount > total)
      return {
        code: 'MUT_OVER_CAPACITY',
        fault: { code: 'maintenance-above-total', amount, resourceId: entry.resource.id, totalAmount: total },
      };
    return takeAway(turn, entry, {
      kind: 'maintenance',
      name,
      startsAt,
      endsAt,
      amount: amount === 0 ? total : amount,
      reason,
    });
  });
}

/** Gives back what a maintenance took; one that is not there is fine. */
export function withdrawMaintenance(turn: Turn, { replyTo, name, ...asked }: GetInput<'MaintenanceWithdrawn'>): void {
  withOwn(turn, { replyTo, ...asked }, (entry) => {
    const outage = findMaintenance(entry, name);
    if (outage !== undefined)
      turn.change({
        kind: 'OutageRemoved',
        resourceId: entry.resource.id,
        outageId: outage.id,
        reason: { code: 'outage-withdrawn' },
      });
    return undefined;
  });
}

/** Takes away what broke, until it is restored. A unit that has failed already stays so. */
export function failResource(turn: Turn, { replyTo, part, reason, ...asked }: GetInput<'ResourceFailed'>): void {
  withOwn(turn, { replyTo, ...asked }, (entry) => {
    const fault = findPartFault(entry, part);
    if (fault !== undefined) return fault;
    if (part.kind === 'unit' && failedUnits(entry).includes(part.unit)) return undefined;
    const { total, id } = entry.resource;
    const left = total - getFailedAmount(entry);
    const amount = part.kind === 'unit' ? 1 : part.amount;
    if (amount > left)
      return {
        code: 'MUT_OVER_CAPACITY',
        fault: { code: 'failure-above-rest', amount, resourceId: id, totalAmount: total, workingAmount: left },
      };
    return takeAway(turn, entry, {
      kind: 'failure',
      name: '',
      startsAt: turn.now,
      endsAt: 0,
      amount,
      reason,
      ...(part.kind === 'unit' ? { units: [part.unit] } : {}),
    });
  });
}

/** Gives back what is whole again; more than has failed is all of it. */
export function restoreResource(turn: Turn, { replyTo, part, ...asked }: GetInput<'ResourceRestored'>): void {
  withOwn(turn, { replyTo, ...asked }, (entry) => {
    const fault = findPartFault(entry, part);
    if (fault !== undefined) return fault;
    let left = part.kind === 'unit' ? 1 : part.amount;
    for (const outage of [...entry.outages.values()].reverse()) {
      if (outage.kind !== 'failure' || left === 0 || (part.kind === 'unit' && !outage.units.includes(part.unit)))
        continue;
      const given = Math.min(left, outage.amount);
      left -= given;
      giveBack(turn, entry, { outage, given, unit: part.kind === 'unit' ? part.unit : undefined });
    }
    return undefined;
  });
}

/** A resource as it is now. */
export function getState(entry: ResourceEntry): ResourceState {
  return { resource: entry.resource, outages: [...entry.outages.values()], livingCount: entry.livingCount };
}

/** What has failed of a resource's total. */
export function getFailedAmount({ outages }: ResourceEntry): number {
  let sum = 0;
  for (const { kind, amount } of outages.values()) if (kind === 'failure') sum += amount;
  return sum;
}

function readResource({ id, type, quantity, rules }: NewResource, ownerId: string): ResourceRecord | Refusal {
  const read = readQuantity(quantity);
  if (read === undefined) {
    return {
      code: 'MUT_UNKNOWN_UNIT',
      fault: { code: 'resource-quantity-unreadable', quantity },
    };
  }
  const resource: ResourceRecord = {
    id,
    ownerId,
    type,
    kind: read.dimension === 'count' ? 'counted' : 'shared',
    total: read.total,
    dimension: read.dimension,
    rules,
  };
  const fault = findResourceFault(listFacts(resource));
  return fault === undefined ? resource : { code: 'MUT_BAD_REQUEST', fault };
}

function readQuantity(text: string): { readonly dimension: ResourceDimension; readonly total: number } | undefined {
  if (text.includes('%')) return undefined;
  for (const dimension of ['count', 'bytes', 'bytes-per-second', 'hertz'] as const) {
    const read = parseAmount(text, dimension, Number.MAX_SAFE_INTEGER);
    if ('amount' in read) return { dimension, total: read.amount };
  }
  return undefined;
}

interface Registration {
  readonly known: ResourceRecord | undefined;
  readonly resource: ResourceRecord;
  readonly userId: string;
}

function findUnregistrable({ state }: Turn, { known, resource, userId }: Registration): Refusal | undefined {
  const { ownerId, registrars } = state.options;
  if (known === undefined) {
    if (userId !== ownerId && !registrars.includes(userId))
      return {
        code: 'MUT_NOT_OWNER',
        fault: { code: 'not-a-registrar', registrars: [ownerId, ...registrars], userId },
      };
    if (state.resources.size >= resourcesMax)
      return {
        code: 'MUT_OVERLOADED',
        fault: { code: 'manager-resources-full', resources: state.resources.size, resourcesMax },
      };
    return undefined;
  }
  if (!isOwner(state, known, userId))
    return {
      code: 'MUT_NOT_OWNER',
      fault: { code: 'not-your-resource', resourceId: known.id, ownerId: known.ownerId, userId },
    };
  const isSame =
    known.kind === resource.kind && known.total === resource.total && known.dimension === resource.dimension;
  return isSame
    ? undefined
    : {
        code: 'MUT_RESOURCE_EXISTS',
        fault: {
          code: 'resource-known-otherwise',
          resourceId: known.id,
          totalAmount: known.total,
          dimension: known.dimension,
        },
      };
}

function findMaintenance({ outages }: ResourceEntry, name: string): Outage | undefined {
  for (const outage of outages.values()) if (outage.kind === 'maintenance' && outage.name === name) return outage;
  return undefined;
}

/**
 * Why a window of a name that there is cannot be announced: it is another one. What has begun begins now as well as
 * then.
 */
function findOtherWindow(
  now: Instant,
  known: Outage,
  { startsAt, endsAt, amount }: Pick<Outage, 'startsAt' | 'endsAt' | 'amount'>,
): Refusal | undefined {
  const isSame =
    known.endsAt === endsAt &&
    known.amount === amount &&
    (known.startsAt === startsAt || (known.startsAt <= now && startsAt <= now));
  if (isSame) return undefined;
  return {
    code: 'MUT_MAINTENANCE_EXISTS',
    fault: {
      code: 'maintenance-known-otherwise',
      name: known.name,
      startUnixMs: known.startsAt,
      endUnixMs: known.endsAt,
      amount: known.amount,
    },
  };
}

function failedUnits({ outages }: ResourceEntry): number[] {
  return [...outages.values()].flatMap(({ kind, units }) => (kind === 'failure' ? units : []));
}

function findPartFault({ resource: { id, kind, total } }: ResourceEntry, part: Part): Refusal | undefined {
  if (part.kind === 'amount')
    return part.amount >= 1
      ? undefined
      : { code: 'MUT_RESERVATION_AMOUNT', fault: { code: 'failed-amount-invalid', amount: part.amount } };
  if (kind === 'shared')
    return {
      code: 'MUT_BAD_REQUEST',
      fault: { code: 'resource-without-units', resourceId: id, unit: part.unit },
    };
  return part.unit < total
    ? undefined
    : {
        code: 'MUT_BAD_REQUEST',
        fault: { code: 'resource-unit-unknown', resourceId: id, unit: part.unit, unitMax: total - 1 },
      };
}

type WantedOutage = Omit<Outage, 'id' | 'units'> & { readonly units?: readonly number[] };

/** Blocks a part of a resource. What is in the way moves within its limits, or is over. */
function takeAway(turn: Turn, entry: ResourceEntry, wanted: WantedOutage): ResourceReplyCounts {
  const { resource, calendar, nextOutageId } = entry;
  const until: Instant = wanted.endsAt === 0 ? Infinity : wanted.endsAt;
  const units =
    wanted.units ??
    (resource.kind === 'counted' ? chooseUnits(entry, wanted.amount, { from: wanted.startsAt, until }) : []);
  invariant(
    resource.kind === 'shared' || units.length === wanted.amount,
    `${units.length} units of ${resource.id} are taken away; ${wanted.amount} were asked for`,
  );
  const outage: Outage = { ...wanted, id: nextOutageId, units };
  const outcome = calendar.block(findBlock(outage), turn.now);
  turn.change({ kind: 'OutagePut', resourceId: resource.id, outage, reported: reportOutcome(turn, outage, outcome) });
  return {
    movedCount: outcome.moved.length,
    shortenedCount: outcome.shortened.length,
    cancelledCount: outcome.lost.length,
  };
}

function reportOutcome(turn: Turn, outage: Outage, { moved, shortened, lost }: BlockOutcome): ReservationReported[] {
  const { kind, reason: cause } = outage;
  const reported = reportMoved(turn.state, moved, undefined);
  for (const { id, before, after } of shortened) {
    const known = turn.state.reservations.get(id);
    if (known === undefined) continue;
    const reason: Reason = { code: 'reservation-shortened', shorterMs: before.end - after.end, outage: kind, cause };
    reported.push({ fact: 'shortened', reservation: { ...known, place: after, revision: known.revision + 1, reason } });
  }
  for (const { id } of lost) {
    const known = turn.state.reservations.get(id);
    if (known === undefined) continue;
    const obstacle = known.status === 'held' ? 'held' : known.place.start <= turn.now ? 'begun' : 'no-capacity';
    const reason: Reason = { code: 'reservation-displaced', outage: kind, obstacle, cause };
    reported.push({
      fact: 'cancelled',
      reservation: { ...known, status: 'cancelled', endedAt: turn.now, holdUntil: 0, reason },
    });
  }
  return reported;
}

function giveBack(
  turn: Turn,
  entry: ResourceEntry,
  { outage, given, unit }: { readonly outage: Outage; readonly given: number; readonly unit: number | undefined },
): void {
  const resourceId = entry.resource.id;
  turn.change({ kind: 'OutageRemoved', resourceId, outageId: outage.id, reason: { code: 'outage-repaired' } });
  if (given === outage.amount) return;
  const units =
    unit === undefined ? outage.units.slice(0, outage.amount - given) : outage.units.filter((one) => one !== unit);
  turn.change({
    kind: 'OutagePut',
    resourceId,
    outage: { ...outage, id: entry.nextOutageId, units, amount: outage.amount - given },
    reported: [],
  });
}

type ResourceReplyCounts = Omit<ResourceReply, 'state'>;

/** Does something to a resource of the caller's and answers how it is then. */
function withOwn(
  turn: Turn,
  asked: { readonly replyTo: number; readonly userId: string; readonly resourceId: string },
  act: (entry: ResourceEntry) => Refusal | ResourceReplyCounts | undefined,
): void {
  const entry = findOwnResource(turn.state, asked);
  const result = isRefusal(entry) ? entry : act(entry);
  if (result !== undefined && isRefusal(result)) turn.refuse(asked.replyTo, result);
  else reply(turn, asked.replyTo, asked.resourceId, result);
}

function reply(
  turn: Turn,
  replyTo: number,
  resourceId: string,
  counts: ResourceReplyCounts = { movedCount: 0, shortenedCount: 0, cancelledCount: 0 },
): void {
  const entry = turn.state.resources.get(resourceId);
  if (entry !== undefined) turn.reply(replyTo, { state: getState(entry), ...counts } satisfies ResourceReply);
}
