import type { Duration, Instant, Prng, ProcessorCount } from '../shared/index.ts';
import { AdmissibleSets, type AdmissibleRange } from './admissible.ts';
import type { KnowledgeLevel } from './knowledge.ts';
import type { AssignedTask, QueueModel } from './queue-model.ts';
import { strategyOfLevel } from './strategies/index.ts';
import type { SiteSelectionStrategy, Situation, Strategy } from './strategy.ts';

/** A resource that tasks can be placed on, and how much is known of its queue. */
export interface SiteSelectionResource {
  readonly name: string;
  readonly book: QueueModel;
  /** The level of knowledge while it is fresh: 4 its queue, 0 only its size. */
  readonly level: KnowledgeLevel;
  /** When its queue was last reported; Infinity for one that is always known. */
  readonly receivedAt: Instant;
}

/** What tasks are placed by. */
export interface SiteSelectionRules {
  readonly strategy: SiteSelectionStrategy;
  /** a, in 0..1. */
  readonly admissibility: number;
  /**
   * A queue whose last report is older is stale: then its assigned tasks still count, but not their expected ends
   * (level 3 at most).
   */
  readonly staleAfter: Duration;
}

/** Why less is known of an admissible resource than the strategy needs. */
export interface LackOfKnowledge {
  /** Its place in the order of size. */
  readonly index: number;
  readonly level: KnowledgeLevel;
  readonly why: 'stale' | 'unknown';
}

/** Where a task goes, and why. */
export interface AssignedResource {
  readonly kind: 'assigned';
  /** The resource's place in the order of size. */
  readonly index: number;
  readonly admissible: AdmissibleRange;
  readonly admissibility: number;
  /** What decided: the strategy of the rules, or the one of a lower level that it fell back to. */
  readonly strategy: string;
  /**
   * The values of the admissible resources, in their order; the least won. Empty where only one was admissible, which
   * needs no comparing.
   */
  readonly values: readonly number[];
  /** Resources of which too little is known for the strategy of the rules; empty if it decided itself. */
  readonly lacking: readonly LackOfKnowledge[];
}

/** A task that no resource is wide enough for. */
export interface TooWideTask {
  readonly kind: 'too-wide';
  readonly width: ProcessorCount;
  /** Processors of the widest resource; 0 without any. */
  readonly widest: ProcessorCount;
}

/** What a table decides of a task. */
export type SiteSelectionDecision = AssignedResource | TooWideTask;

/**
 * Resources in the order of size, of equal ones in the order in which they were given, among which tasks are placed.
 */
export class SiteSelectionTable {
  readonly resources: readonly SiteSelectionResource[];
  readonly sets: AdmissibleSets;

  constructor(resources: readonly SiteSelectionResource[]) {
    this.resources = [...resources].sort((one, other) => one.book.processors - other.book.processors);
    this.sets = new AdmissibleSets(this.resources.map(({ book }) => book.processors));
  }

  /**
   * Chooses a resource for a task, with the reason; does not assign it.
   *
   * If less is known of an admissible resource than the strategy needs, all are compared at the level that is known of
   * each, by that level's own strategy: values of two strategies cannot be compared. Cost: O(admissible), and the cost
   * of `QueueModel.foresee` at level 4.
   *
   * @param now counted, like the task's submission, from the origin of the models. @throws {InvariantError} for an
   *   admissibility out of 0..1.
   */
  decide(rules: SiteSelectionRules, task: AssignedTask, now: Instant, prng: Prng): SiteSelectionDecision {
    const admissible = this.sets.getRange(task.width, rules.admissibility);
    if (admissible === undefined) return { kind: 'too-wide', width: task.width, widest: this.sets.widest };
    const { first, last } = admissible;
    if (first === last)
      return {
        kind: 'assigned',
        index: first,
        admissible,
        admissibility: rules.admissibility,
        strategy: rules.strategy.name,
        values: [],
        lacking: [],
      };
    const lacking = this.#findLacking(admissible, rules, now);
    const level = lacking.reduce<KnowledgeLevel>(
      (least, each) => (each.level < least ? each.level : least),
      rules.strategy.level,
    );
    const strategy = level === 4 || level === rules.strategy.level ? rules.strategy : strategyOfLevel[level];
    const values = this.#getValues(strategy, admissible, task, { now, prng });
    let best = 0;
    // Of equal values the first: the smaller resource, then the lower index.
    for (let at = 1; at < values.length; at += 1) if ((values[at] as number) < (values[best] as number)) best = at;
    return {
      kind: 'assigned',
      index: first + best,
      admissible,
      admissibility: rules.admissibility,
      strategy: strategy.name,
      values,
      lacking,
    };
  }

  #findLacking(
    { first, last }: AdmissibleRange,
    { strategy, staleAfter }: SiteSelectionRules,
    now: Instant,
  ): LackOfKnowledge[] {
    const lacking: LackOfKnowledge[] = [];
    for (let index = first; index <= last; index += 1) {
      const { level, receivedAt } = this.resources[index] as SiteSelectionResource;
      const isStale = level === 4 && now - receivedAt > staleAfter;
      const known = isStale ? 3 : level;
      if (known < strategy.level) lacking.push({ index, level: known, why: isStale ? 'stale' : 'unknown' });
    }
    return lacking;
  }

  #getValues(
    strategy: SiteSelectionStrategy,
    { first, last }: AdmissibleRange,
    task: AssignedTask,
    { now, prng }: { readonly now: Instant; readonly prng: Prng },
  ): number[] {
    const seen = <T>(see: (book: QueueModel) => T): T[] => {
      const all: T[] = [];
      for (let index = first; index <= last; index += 1)
        all.push(see((this.resources[index] as SiteSelectionResource).book));
      return all;
    };
    if (strategy.level === 4)
      return evaluateAll(strategy, { task, admissible: seen((book) => book.foresee(task, now)), prng });
    const situation = { task, admissible: seen((book) => book.countWith(task.width, task.walltime)), prng };
    switch (strategy.level) {
      case 0:
        return evaluateAll(strategy, situation);
      case 1:
        return evaluateAll(strategy, situation);
      case 2:
        return evaluateAll(strategy, situation);
      case 3:
        return evaluateAll(strategy, situation);
    }
  }
}

function evaluateAll<L extends KnowledgeLevel>(strategy: Strategy<L>, situation: Situation<L>): number[] {
  return situation.admissible.map((resource) => strategy.evaluate(resource, situation));
}
