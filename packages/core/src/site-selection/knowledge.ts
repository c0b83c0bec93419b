import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/**
 * How much a strategy knows: 0 the sizes of resources, 1 also the number of tasks, 2 also their widths, 3 also their
 * walltimes, 4 also the schedules
 * of the resources.
 *
 * @source gonzalez2010, section 4.
 */
export type KnowledgeLevel = 0 | 1 | 2 | 3 | 4;

/** What level 0 sees of an admissible resource. */
export interface SizeKnown {
  readonly processors: ProcessorCount;
}

/** What level 1 sees; like all below, of the tasks assigned to the resource, with the new one put on it. */
export interface CountKnown extends SizeKnown {
  /** n_i. */
  readonly taskCount: number;
}

/** What level 2 sees. */
export interface WidthKnown extends CountKnown {
  /** Sum of size_k. */
  readonly widthSum: ProcessorCount;
}

/** What level 3 sees. */
export interface WalltimeKnown extends WidthKnown {
  /** Sum of size_k p_k, p being the walltime, in processor-ms. */
  readonly workSum: number;
}

/**
 * What level 4 sees; C is the end in a tentative FCFS schedule, r the submission, both counted from the origin of the
 * schedule.
 */
export interface ScheduleKnown extends WalltimeKnown {
  /** C_j of the new task. */
  readonly endsAt: Instant;
  /** max C_k. */
  readonly lastEnd: Instant;
  /** Sum of size_k C_k. */
  readonly weightedEnds: number;
  /** Sum of (C_k - r_k). */
  readonly turnarounds: number;
  /** Sum of (C_k - r_k) size_k. */
  readonly weightedTurnarounds: number;
  /** Sum of (C_k - r_k) size_k p_k. */
  readonly workedTurnarounds: number;
  /** Sum of p_k. */
  readonly walltimes: number;
}

/** What a level sees of a resource, by level. */
interface KnownResources {
  0: SizeKnown;
  1: CountKnown;
  2: WidthKnown;
  3: WalltimeKnown;
  4: ScheduleKnown;
}

/**
 * What a level sees of the new task, by level; its width alone decides which resources are admissible, also at levels 0
 * and 1.
 */
interface KnownTasks {
  0: object;
  1: object;
  2: { readonly width: ProcessorCount };
  3: { readonly width: ProcessorCount; readonly walltime: Duration };
  4: { readonly width: ProcessorCount; readonly walltime: Duration; readonly submittedAt: Instant };
}

/** What a strategy of a level sees of an admissible resource. */
export type ResourceSeenAt<L extends KnowledgeLevel> = KnownResources[L];

/** What a strategy of a level sees of the task to assign. */
export type TaskSeenAt<L extends KnowledgeLevel> = KnownTasks[L];
