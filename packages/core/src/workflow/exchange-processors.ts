import type { Duration, Instant } from '../shared/index.ts';
import type { Offer, Placing } from './placing.ts';
import type { PlacementRule } from './schedule.ts';
import type { WorkflowTask } from './workflow.ts';

/** A task of the level that is being placed. */
export interface LevelTask {
  readonly task: number;
  /** Ascending. */
  readonly processors: readonly number[];
  readonly rule: PlacementRule;
}

/**
 * Moves processors, one at a time, from the task with the least b-level of a level to the one with the greatest, until
 * the least is one that has been the greatest.
 *
 * A processor moves once at most, since a task that has taken one gives none. Cost: O(processors x (tasks of the level
 * x processors + their edges)).
 *
 * @param level in the order in which they were placed. @param tails what comes after each task, by index.
 * @source moreira2009, 3.2.2.2, lines 15 to 23. Departs from the source: of a task that gives one away, the slowest
 *   goes; see HPTS for when a move is undone.
 */
export function exchangeProcessors(
  placing: Placing,
  level: readonly LevelTask[],
  tails: readonly Duration[],
): readonly LevelTask[] {
  let [current, offers] = [level, replay(placing, level)];
  const wereGreatest = new Set<number>();
  for (;;) {
    const move = findMove(placing, current, offers, tails);
    if (move === undefined || wereGreatest.has(move.giver)) return current;
    wereGreatest.add(move.taker);
    const next = moveOne(placing, current, move);
    const nextOffers = replay(placing, next);
    if (
      findTime(nextOffers[move.taker]) >= findTime(offers[move.taker]) ||
      lastEnd(next, nextOffers, tails) > lastEnd(current, offers, tails)
    )
      return current;
    [current, offers] = [next, nextOffers];
  }
}

const findTime = (offer: Offer | undefined): Duration => (offer === undefined ? 0 : offer.end - offer.start);

/** When each task of a level runs, one after another behind all that was placed before. */
function replay(placing: Placing, level: readonly LevelTask[]): Offer[] {
  const free = placing.freeTimes();
  return level.map(({ task, processors }) => {
    const offer = placing.offerBehind(free, task, processors);
    for (const processor of processors) free[processor] = offer.end;
    return offer;
  });
}

/**
 * The task that gives a processor and the task that takes it, by their place in the level; undefined if there is no
 * such pair.
 */
function findMove(
  { problem: { workflow } }: Placing,
  level: readonly LevelTask[],
  offers: readonly Offer[],
  tails: readonly Duration[],
): { readonly giver: number; readonly taker: number } | undefined {
  const ranked = level.map(({ task, processors }, place) => {
    const { widthMin, widthMax } = workflow.tasks[task] as WorkflowTask;
    return {
      place,
      level: findTime(offers[place]) + (tails[task] as number),
      canTake: processors.length < widthMax,
      canGive: processors.length > widthMin,
    };
  });
  const taker = ranked
    .filter(({ canTake }) => canTake)
    .reduce<(typeof ranked)[number] | undefined>(
      (most, each) => (most === undefined || each.level > most.level ? each : most),
      undefined,
    );
  const giver = ranked
    .filter(({ canGive }) => canGive)
    .reduce<(typeof ranked)[number] | undefined>(
      (least, each) => (least === undefined || each.level < least.level ? each : least),
      undefined,
    );
  return giver === undefined || taker === undefined || giver.level >= taker.level
    ? undefined
    : { giver: giver.place, taker: taker.place };
}

function moveOne(
  { problem: { costs } }: Placing,
  level: readonly LevelTask[],
  { giver, taker }: { readonly giver: number; readonly taker: number },
): LevelTask[] {
  const taken = new Set((level[taker] as LevelTask).processors);
  const slowest = (level[giver] as LevelTask).processors.toSorted(
    (one, other) => costs.capacity(one) - costs.capacity(other) || other - one,
  );
  // Both may run on a processor one after the other; what the taker has it cannot be given.
  const moved = slowest.find((processor) => !taken.has(processor));
  if (moved === undefined) return [...level];
  return level.map((each, place) => {
    if (place === giver)
      return { ...each, processors: each.processors.filter((processor) => processor !== moved), rule: 'exchanged' };
    if (place === taker)
      return { ...each, processors: [...each.processors, moved].sort((one, other) => one - other), rule: 'exchanged' };
    return each;
  });
}

/** When the workflow could end at best after a level. */
function lastEnd(level: readonly LevelTask[], offers: readonly Offer[], tails: readonly Duration[]): Instant {
  return level.reduce(
    (last, { task }, place) => Math.max(last, (offers[place] as Offer).end + (tails[task] as number)),
    -Infinity,
  );
}
