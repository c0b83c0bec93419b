import { sayCause, sayReason } from '@mutirao/api/reasons';
import {
  createReservationsState,
  listEvents,
  isLiving,
  reservationsMachine,
  restoreSnapshot,
  listStoredFacts,
  StoredReservations,
  takeSnapshot,
  type PlacementReply,
  type ReservationsChange,
  type ReservationsCommand,
  type ReservationsInput,
  type ReservationsOptions,
  type ReservationsState,
  type ResourceReply,
} from '@mutirao/core/machines/reservations';
import type {
  ClaimContents,
  ReservationRecord,
  ReservationSpec,
  ResourceRecord,
  ResourceRules,
  RequestedAmount,
} from '@mutirao/core/messages';
import { UnitLists } from '@mutirao/core/reservations';
import { invariant } from '@mutirao/core/shared';

/** How managers of tests are set up; `owner` owns everything. */
export const reservationsOptions: ReservationsOptions = {
  ownerId: 'owner',
  registrars: [],
  livingMax: 1000,
  endedMax: 100,
  holdMax: 10_000,
};

/** Rules without a bound. */
export const openRules: ResourceRules = {
  capPpm: 1_000_000,
  algorithm: 'suvs',
  placement: 'first-fit',
  durationMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: 16,
  unclaimedMax: 0,
};

/** An outage that was accepted, as its owner requested it. */
export interface AskedOutage {
  readonly resourceId: string;
  /** Empty for a failure. */
  readonly name: string;
  readonly startsAt: number;
  readonly endsAt: number;
  /** Infinity for all. */
  readonly amount: number;
}

/**
 * Speaks with the real machine in lines of text; after each its invariants are checked, and replay of all changes is
 * compared.
 */
export class ReservationsHarness {
  readonly changes: { readonly at: number; readonly change: ReservationsChange }[] = [];
  state: ReservationsState = createReservationsState(reservationsOptions);
  now = 0;
  /**
   * The outages that owners requested, to compare with those of the state machine. Knows no units by number.
   */
  asked: readonly AskedOutage[] = [];

  /** Performs one line and answers the lines that follow from it. */
  perform(line: string): string[] {
    const words = line.split(' ');
    if (words[0] === 'list') return this.#list();
    if (words[0] === 'restart') return this.#restart();
    if (words[0] === 'at') this.now = Number(words[1]);
    if (words[0] === 'clock') return this.#setClock(Number(words[1]));
    const reported = this.receive([
      words[0] === 'at'
        ? { kind: 'TimerFired' }
        : words[0] === 'started'
          ? { kind: 'ManagerStarted' }
          : getInput(line, this.state),
    ]);
    const living = this.asked.filter(({ endsAt }) => endsAt > this.now);
    this.asked = reported.some((one) => one.startsWith('ok ')) ? askedAfter(living, words, this.now) : living;
    return reported;
  }

  #setClock(by: number): string[] {
    this.now += by;
    return this.receive([{ kind: 'ClockStepped', by }]);
  }

  /** One step of the machine, in words. */
  receive(inputs: readonly ReservationsInput[]): string[] {
    const { changes, commands } = reservationsMachine.step(this.state, inputs, this.now);
    this.changes.push(...changes.map((change) => ({ at: this.now, change })));
    reservationsMachine.checkInvariants(this.state);
    return [...changes.flatMap(showChange), ...commands.flatMap(showCommand)];
  }

  /**
   * Makes the state again from all changes, and from a snapshot: all three are the same. @throws {InvariantError} when
   * they differ.
   */
  checkReplay(): void {
    const replayed = createReservationsState(reservationsOptions);
    for (const { change } of this.changes) reservationsMachine.apply(replayed, change);
    reservationsMachine.checkInvariants(replayed);
    const restored = restoreSnapshot(reservationsOptions, takeSnapshot(this.state));
    reservationsMachine.checkInvariants(restored);
    const reported = describe(this.state);
    invariant(reported === describe(replayed), `replay gives\n${describe(replayed)}\nin place of\n${reported}`);
    invariant(reported === describe(restored), `a restart gives\n${describe(restored)}\nin place of\n${reported}`);
    const stored = restoreStored(this.state);
    reservationsMachine.checkInvariants(stored);
    invariant(
      reported === describe(stored),
      `a restart from a store gives\n${describe(stored)}\nin place of\n${reported}`,
    );
  }

  #list(): string[] {
    return [...this.state.reservations.values()].map(
      (one) => `${showReservation(one)} ${one.status} rev ${one.revision}`,
    );
  }

  #restart(): string[] {
    this.checkReplay();
    this.state = restoreStored(this.state);
    reservationsMachine.checkInvariants(this.state);
    return [];
  }
}

/** As a manager begins that has its reservations in a store, and knows them in brief. */
function restoreStored(state: ReservationsState): ReservationsState {
  const { reservations, ...rest } = takeSnapshot(state);
  const whole = [...reservations].sort((one, other) => one.place.id - other.place.id);
  const names = [...new Set(whole.flatMap(({ place: { userId }, resourceId }) => [userId, resourceId]))];
  const units = new UnitLists();
  for (const { place } of whole) units.push(place.resources);
  const stored = new StoredReservations({
    facts: Float64Array.from(
      whole.flatMap((one) => [
        ...listStoredFacts(one, { resource: names.indexOf(one.resourceId), user: names.indexOf(one.place.userId) }),
      ]),
    ),
    units,
    names: new Map(names.entries()),
    read: (id) => {
      const found = whole.find(({ place }) => place.id === id);
      invariant(found !== undefined, `reservation ${id} is not stored`);
      return found;
    },
  });
  return restoreSnapshot(reservationsOptions, { ...rest, reservations: [], stored });
}

function describe(state: ReservationsState): string {
  const { resources, reservations, nextReservationId } = takeSnapshot(state);
  const calendars = [...state.resources.values()].map(({ resource, calendar, outages, livingCount }) => ({
    id: resource.id,
    outages: [...outages.values()],
    livingCount,
    slots: [...calendar.slots(0, 1e9)].map(({ start, end, used }) => [start, end, used]),
  }));
  const sorted = [...reservations].sort((one, other) => one.place.id - other.place.id);
  return JSON.stringify({ resources: [...resources], sorted, nextReservationId, calendars });
}

/** Where it is: `1 ana cluster 4 [0,1,2,3] 100..200`. */
function showReservation({
  place: { id, userId, amount, resources, start, end },
  resourceId,
}: ReservationRecord): string {
  return (
    `${id} ${userId} ${resourceId} ${amount}${resources.length === 0 ? '' : ` [${resources.join(',')}]`} ` +
    `${start}..${end}`
  );
}

function showChange(change: ReservationsChange): string[] {
  const reported = listEvents(change).map(
    ({ type, resourceId, reservation, reason }) =>
      `${type} ` +
      `${reservation === undefined ? resourceId : showReservation(reservation)}${reason === '' ? '' : `: ${sayCause(reason)}`}`,
  );
  return change.kind === 'ReservationsForgotten' ? [`forgotten ${change.ids.join(',')}`] : reported;
}

function showCommand(command: ReservationsCommand): string[] {
  if (command.kind === 'WakeAt') return [`wake at ${command.at}`];
  const { reply } = command;
  if (!reply.ok) return [`refuse ${reply.code}: ${sayReason(reply.fault)}`];
  const value = reply.value as PlacementReply | ReservationRecord | ResourceReply;
  if ('state' in value)
    return [
      `ok ${value.state.resource.id} moved ` +
        `${value.movedCount}${value.shortenedCount === 0 ? '' : ` shortened ${value.shortenedCount}`} cancelled ` +
        `${value.cancelledCount}`,
    ];
  if ('place' in value) return [`ok ${showReservation(value)} ${value.status}`];
  if (value.kind === 'placed') return [`ok ${showReservation(value.reservation)} moved ${value.movedCount}`];
  const { code, fault, alternatives } = value.refusal;
  return [
    `no ${code}: ${sayReason(fault)}`,
    ...alternatives.map(
      ({ amount, startsAt, endsAt, reason }) => `  or ${amount} ${startsAt}..${endsAt}, ${sayReason(reason)}`,
    ),
  ];
}

/** What follows a word; undefined where it is not there. */
function after(words: readonly string[], word: string): string | undefined {
  const at = words.indexOf(word);
  return at < 0 ? undefined : words[at + 1];
}

function numberAfter(words: readonly string[], word: string): number | undefined {
  const text = after(words, word);
  return text === undefined ? undefined : Number(text);
}

type Verb = (
  words: readonly string[],
  asked: { readonly replyTo: number; readonly userId: string },
  state: ReservationsState,
) => ReservationsInput;

const verbs: Readonly<Record<string, Verb>> = {
  offers: (words, asked) => ({
    kind: 'ResourceOffered',
    ...asked,
    resource: { id: words[2] ?? '', type: 'thing', quantity: words[3] ?? '', rules: getRules(words) },
  }),
  rules: (words, asked) => ({ kind: 'RulesChanged', ...asked, resourceId: words[2] ?? '', rules: getRules(words) }),
  wants: (words, asked) => ({
    kind: 'ReservationRequested',
    ...asked,
    spec: findSpec(words),
    clientRequestId: after(words, 'key') ?? '',
    hold: numberAfter(words, 'hold') ?? 0,
    isDryRun: words.includes('dry-run'),
  }),
  renegotiates: (words, asked) => ({
    kind: 'RenegotiationRequested',
    ...asked,
    reservationId: Number(words[2]),
    spec: findSpec(words),
  }),
  confirms: (words, asked) => ({ kind: 'ConfirmationRequested', ...asked, reservationId: Number(words[2]) }),
  prepares: (words, asked) => ({
    kind: 'PrepareRequested',
    ...asked,
    reservationId: Number(words[2]),
    together: {
      groupId: after(words, 'as') ?? 'group',
      manager: after(words, 'at') ?? '',
      reservationId: numberAfter(words, 'with') ?? 0,
    },
  }),
  learns: (words) => ({
    kind: 'GroupDecided',
    reservationId: Number(words[2]),
    groupId: after(words, 'as') ?? 'group',
    isConfirmed: words.includes('confirmed'),
  }),
  cancels: (words, asked) => ({
    kind: 'CancellationRequested',
    ...asked,
    reservationId: Number(words[2]),
    reason: after(words, 'because') ?? '',
  }),
  releases: (words, asked) => ({ kind: 'ReleaseRequested', ...asked, reservationId: Number(words[2]) }),
  claims: (words, asked, state) => ({
    kind: 'ClaimShown',
    ...asked,
    claim: words.includes('forged') ? undefined : getClaim(state, words),
    resourceId: after(words, 'at') ?? '',
    shownBy: after(words, 'by') ?? '',
    key: after(words, 'key') ?? '',
  }),
  uses: (words, asked) => ({
    kind: 'UseReported',
    ...asked,
    reservationId: Number(words[2]),
    resourceId: after(words, 'at') ?? '',
    usedBy: after(words, 'by') ?? '',
    key: after(words, 'key') ?? '',
  }),
  maintains: (words, asked) => ({
    kind: 'MaintenanceAnnounced',
    ...asked,
    resourceId: words[2] ?? '',
    name: words[3] ?? '',
    startsAt: numberAfter(words, 'from') ?? 0,
    endsAt: numberAfter(words, 'until') ?? 0,
    amount: numberAfter(words, 'amount') ?? 0,
    reason: after(words, 'because') ?? '',
  }),
  withdraws: (words, asked) => ({
    kind: 'MaintenanceWithdrawn',
    ...asked,
    resourceId: words[2] ?? '',
    name: words[3] ?? '',
  }),
  fails: (words, asked) => ({
    kind: 'ResourceFailed',
    ...asked,
    resourceId: words[2] ?? '',
    part: derivePart(words),
    reason: after(words, 'because') ?? '',
  }),
  restores: (words, asked) => ({
    kind: 'ResourceRestored',
    ...asked,
    resourceId: words[2] ?? '',
    part: derivePart(words),
  }),
};

function getInput(line: string, state: ReservationsState): ReservationsInput {
  const words = line.split(' ');
  const verb = verbs[words[1] ?? ''];
  invariant(verb !== undefined, `no line begins like ${JSON.stringify(line)}`);
  return verb(words, { replyTo: 1, userId: words[0] ?? '' }, state);
}

function derivePart(words: readonly string[]): Extract<ReservationsInput, { kind: 'ResourceFailed' }>['part'] {
  const unit = numberAfter(words, 'unit');
  return unit === undefined ? { kind: 'amount', amount: numberAfter(words, 'amount') ?? 0 } : { kind: 'unit', unit };
}

function getRules(words: readonly string[]): ResourceRules {
  return {
    ...openRules,
    capPpm: (numberAfter(words, 'cap') ?? 100) * 10_000,
    algorithm: words.includes('suvs-p') ? 'suvs-p' : 'suvs',
    durationMax: numberAfter(words, 'longest') ?? 0,
    reservationsPerUserMax: numberAfter(words, 'per-user') ?? 0,
    amountPerUserMax: numberAfter(words, 'amount-per-user') ?? 0,
    movesMax: numberAfter(words, 'moves') ?? 16,
    unclaimedMax: numberAfter(words, 'unclaimed') ?? 0,
  };
}

function findSpec(words: readonly string[]): ReservationSpec {
  const timing = words.includes('immediate') ? 'immediate' : words.includes('on-demand') ? 'on-demand' : 'advance';
  return {
    resourceId: after(words, 'of') ?? '',
    amount: getAmount(words[words[1] === 'wants' ? 2 : 3] ?? ''),
    duration: numberAfter(words, 'for') ?? 0,
    timing,
    earliestStart: numberAfter(words, 'from'),
    latestEnd: numberAfter(words, 'until'),
  };
}

/** `4`, `30%`, `200KB/s`; `2..8` elastic; `2..8x1000` malleable. */
function getAmount(text: string): RequestedAmount {
  const [, least, most, work] = /^(\d+)\.\.(\d+)(?:x(\d+))?$/.exec(text) ?? [];
  if (least === undefined) return { kind: 'text', text };
  const range = { amountMin: Number(least), amountMax: Number(most) };
  return work === undefined
    ? { kind: 'elastic', ...range, referenceAmount: 0 }
    : { kind: 'malleable', ...range, work: Number(work) };
}

/** The claim that the manager would have signed, perhaps of an earlier revision, or with other contents. */
function getClaim(state: ReservationsState, words: readonly string[]): ClaimContents {
  const reservation = state.reservations.get(Number(words[2]));
  invariant(reservation !== undefined, `there is no reservation ${words[2] ?? ''}`);
  const { place, resourceId, revision } = reservation;
  return {
    reservationId: place.id,
    resourceId: after(words, 'of') ?? resourceId,
    userId: after(words, 'named') ?? place.userId,
    startsAt: numberAfter(words, 'start') ?? place.start,
    endsAt: numberAfter(words, 'end') ?? place.end,
    amount: numberAfter(words, 'amount') ?? place.amount,
    units: after(words, 'units')?.split(',').map(Number) ?? place.resources,
    revision: numberAfter(words, 'rev') ?? revision,
  };
}

/** What is away once a line was agreed to. */
function askedAfter(living: readonly AskedOutage[], words: readonly string[], now: number): readonly AskedOutage[] {
  const [, verb, resourceId = '', name = ''] = words;
  const amount = numberAfter(words, 'amount') ?? Infinity;
  const isSame = (one: AskedOutage): boolean => one.resourceId === resourceId && one.name === name;
  switch (verb) {
    case 'maintains':
      return living.some(isSame)
        ? living
        : [
            ...living,
            {
              resourceId,
              name,
              startsAt: numberAfter(words, 'from') ?? 0,
              endsAt: numberAfter(words, 'until') ?? 0,
              amount,
            },
          ];
    case 'withdraws':
      return living.filter((one) => !isSame(one));
    case 'fails':
      return words.includes('unit')
        ? living
        : [...living, { resourceId, name: '', startsAt: now, endsAt: Infinity, amount }];
    case 'restores':
      return words.includes('unit') ? living : lessFailed(living, resourceId, amount);
    default:
      return living;
  }
}

function lessFailed(asked: readonly AskedOutage[], resourceId: string, amount: number): AskedOutage[] {
  let left = amount;
  return asked.flatMap((one) => {
    if (one.resourceId !== resourceId || one.name !== '') return [one];
    const given = Math.min(left, one.amount);
    left -= given;
    return given === one.amount ? [] : [{ ...one, amount: one.amount - given }];
  });
}

/**
 * What is away at an instant at least: failed units are others than those that failed before, maintained ones may be
 * any; capacity adds up.
 */
function awayAt(asked: readonly AskedOutage[], { id, kind, total }: ResourceRecord, at: number): number {
  let [failed, maintained] = [0, 0];
  for (const { resourceId, name, startsAt, endsAt, amount } of asked) {
    if (resourceId !== id || startsAt > at || at >= endsAt) continue;
    if (name === '') failed += amount;
    else maintained = kind === 'shared' ? maintained + amount : Math.max(maintained, amount);
  }
  return Math.min(total, kind === 'shared' ? failed + maintained : Math.max(failed, maintained));
}

/**
 * Reservations of each unit, or of a capacity, never exceed the total less outages. Knows the reservations and the
 * owner's requests, but no calendar; it learns from the state machine which units an outage took.
 *
 * @throws {InvariantError}
 */
export function checkNothingOvercommitted(state: ReservationsState, asked: readonly AskedOutage[] = []): void {
  for (const { resource, outages } of state.resources.values()) {
    const living = [...state.reservations.values()]
      .filter((one) => isLiving(one) && one.resourceId === resource.id)
      .map(({ place }) => place);
    for (const { startsAt } of [...living.map(({ start }) => ({ startsAt: start })), ...asked]) {
      const together = living.filter((one) => one.start <= startsAt && startsAt < one.end);
      const used = together.reduce((sum, { amount }) => sum + amount, 0);
      const away = awayAt(asked, resource, startsAt);
      invariant(
        used <= resource.total - away,
        `${used} of ${resource.total} of ${resource.id} are reserved at ${startsAt}, and ${away} are away`,
      );
      const gone = [...outages.values()]
        .filter((one) => one.startsAt <= startsAt && (one.endsAt === 0 || startsAt < one.endsAt))
        .flatMap(({ units }) => units);
      invariant(
        resource.kind === 'shared' || new Set(gone).size >= away,
        `${new Set(gone).size} units of ${resource.id} are away at ${startsAt}; ${away} were asked for`,
      );
      const units = [...together.flatMap(({ resources }) => resources), ...new Set(gone)];
      invariant(
        new Set(units).size === units.length,
        `a unit of ${resource.id} is reserved twice, or away, at ${startsAt}`,
      );
    }
  }
}
