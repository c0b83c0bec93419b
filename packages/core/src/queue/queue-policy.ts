import type { Instant } from '../shared/index.ts';
import type { NodePlan } from './nodes/node-plan.ts';
import type { RequestPlan } from './request-plan.ts';

/** The requests of a resource: by processors alone, or by all that its nodes have. */
export type QueuePlan = RequestPlan | NodePlan;

/**
 * Gives a waiting request a place in the plan, or takes its place away; the caller of a policy applies it at once, and
 * may journal it.
 */
export type Place = (id: number, startsAt: Instant | undefined) => void;

/**
 * Decides which request starts when on a space-shared resource.
 *
 * The order of the queue is the plan's: that of arrival, or of ranks (`buc`).
 *
 * A policy sees events one at a time and decides by calling `place`; a request starts when its place begins
 * (`RequestPlan.findDue`). It keeps nothing of its own: plan and event determine its decisions.
 */
export interface QueuePolicy {
  readonly name: string;
  /**
   * Whether waiting requests have places. In the order of arrival those are upper bounds on their starts; in one of
   * ranks, until a request comes that goes before.
   */
  readonly promises: boolean;
  /** A request arrived and is in `plan.waiting`, without a place: the last one if the order is that of arrival. */
  onSubmitted(plan: QueuePlan, id: number, now: Instant, place: Place): void;
  /** A running request ended, or a waiting one was withdrawn; it is out of the plan. */
  onEnded(plan: QueuePlan, now: Instant, place: Place): void;
}
