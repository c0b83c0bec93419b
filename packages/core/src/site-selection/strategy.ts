import type { Prng } from '../shared/index.ts';
import type { KnowledgeLevel, ResourceSeenAt, TaskSeenAt } from './knowledge.ts';

/** What a strategy of a level decides by. */
export interface Situation<L extends KnowledgeLevel> {
  readonly task: TaskSeenAt<L>;
  /** The admissible resources f..r. */
  readonly admissible: readonly ResourceSeenAt<L>[];
  /** For what is left to chance. */
  readonly prng: Prng;
}

/**
 * A way to choose among the admissible resources of a task: the least value wins; of equal ones the smaller resource,
 * then the lower index.
 *
 * Its level bounds what it can see, by type: `evaluate` of level 2 cannot read a walltime.
 */
export interface Strategy<L extends KnowledgeLevel> {
  readonly name: string;
  readonly level: L;
  /** The value of one of `admissible`. */
  evaluate(resource: ResourceSeenAt<L>, situation: Situation<L>): number;
}

/** A strategy of any level. */
export type SiteSelectionStrategy = { readonly [L in KnowledgeLevel]: Strategy<L> }[KnowledgeLevel];
