import type { Duration, Instant, TaskIndex } from '../../shared/index.ts';
import type { Slowness } from '../../times/index.ts';
import type { PlacementRule } from '../../workflow/index.ts';
import type { BrokerJob, BrokerMachine, TaskQueue } from './state.ts';

/** What the broker plans with: the plan that is followed, and what ends taught about the times that files state. Nothing of it is promised: a restarted broker plans anew. */
export interface Planning {
  /** Undefined while nothing is planned. */
  plan: GridPlan | undefined;
  /** Why the plan is to be made anew; empty when it is not. */
  staleBecause: string;
  /** By job whose file states times: what its runs took, at par, beside what was stated for them. */
  readonly calibrations: WeakMap<BrokerJob, Calibration>;
  /** How runs on a machine compare with what was expected of them, where files state times. */
  readonly paces: WeakMap<BrokerMachine, Slowness>;
  /** When tasks that run are expected to end, by {@link foreseenKey}. */
  readonly foreseen: Map<string, Foreseen>;
  /** When the first of these is late by more than its bound; Infinity without any. Never later than that, and sometimes sooner. */
  lateAt: Instant;
}

/** Sums over the runs of a job that ended well. */
export interface Calibration {
  readonly taken: Duration;
  readonly stated: Duration;
}

/** When a task is expected to end, and how far off that may be before the plan is made anew. */
export interface Foreseen {
  readonly job: BrokerJob;
  readonly index: TaskIndex;
  readonly end: Instant;
  readonly bound: Duration;
}

/** What a plan says of one task. */
export interface PlannedTask {
  readonly queue: TaskQueue;
  readonly index: TaskIndex;
  readonly machine: BrokerMachine;
  readonly start: Instant;
  readonly end: Instant;
  readonly rule: PlacementRule;
  readonly heldBy: 'arrival' | 'processor' | 'data';
  /** The task whose data or end was waited for. */
  readonly behind: { readonly job: BrokerJob; readonly index: TaskIndex } | undefined;
  /** The best other machine, and when the task would have ended there. */
  readonly runnerUp: { readonly machine: BrokerMachine; readonly end: Instant } | undefined;
}

/** What was planned together. */
export interface GridPlan {
  readonly madeAt: Instant;
  readonly because: string;
  /** The algorithm whose plan it is. */
  readonly scheduler: string;
  /** Machines that were planned with, in their order. */
  readonly machines: readonly BrokerMachine[];
  /** Queues whose tasks could be planned. */
  readonly queues: ReadonlySet<TaskQueue>;
  /** By machine: what is to begin there, by the planned start; what has begun is taken out when it is come across. */
  readonly lanes: ReadonlyMap<BrokerMachine, PlannedTask[]>;
  /** What has not begun, by job and index. */
  readonly tasks: ReadonlyMap<BrokerJob, Map<TaskIndex, PlannedTask>>;
  /** Tasks for which no machine stays long enough, while one that does may come. */
  readonly tooLong: ReadonlyMap<BrokerJob, ReadonlySet<TaskIndex>>;
  /** When each job is expected to end, what was not planned in detail included. */
  readonly ends: ReadonlyMap<BrokerJob, Instant>;
  /** Tasks that are planned and have not begun. */
  leftCount: number;
  /** From so few on what is behind them is to be planned, too; 0 where nothing is. */
  readonly leftMin: number;
  /** No other plan is made before. */
  readonly notBefore: Instant;
}

/** Nothing is planned, nothing learnt. */
export function createPlanning(): Planning {
  return { plan: undefined, staleBecause: '', calibrations: new WeakMap(), paces: new WeakMap(), foreseen: new Map(), lateAt: Infinity };
}

/** How what is foreseen of a task is kept. */
export function foreseenKey(jobId: number, index: TaskIndex): string {
  return `${jobId}.${index}`;
}

/** What the plan says of a task that has not begun; undefined where it says nothing. */
export function findPlanned({ plan }: Planning, job: BrokerJob, index: TaskIndex): PlannedTask | undefined {
  return plan?.tasks.get(job)?.get(index);
}
