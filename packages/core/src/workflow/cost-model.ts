import { invariant, type Duration } from '../shared/index.ts';
import type { Placement } from './schedule.ts';
import type { Workflow } from './workflow.ts';

/** The sender: where the task ran, and for how long. */
export type Sender = Pick<Placement, 'processors' | 'start' | 'end'>;

/**
 * What tasks and transfers take on the machines at hand. Schedulers know nothing else of either, so estimates of a live
 * grid, and outputs that the
 * receiver has already, come in here.
 */
export interface CostModel {
  /** Run time of a task on processors, one or more, each once; finite, 0 or more. */
  time(task: number, processors: readonly number[]): Duration;
  /**
   * From the end of an edge's sender until its data is at processors; finite, 0 or more.
   *
   * @param receivers none: somewhere that the sender is not.
   */
  transfer(edge: number, sender: Sender, receivers: readonly number[]): Duration;
  /**
   * Run time of a task on one processor (or its fewest), the mean over all of them: what tasks are ranked by before
   * they are placed.
   */
  meanTime(task: number): Duration;
  /** Time of a transfer between two processors, the mean over all pairs, when its sender runs for `senderTime`. */
  meanTransfer(edge: number, senderTime: Duration): Duration;
  /** Computing power of a processor; only ratios matter. What HPTS shares out among tasks. */
  capacity(processor: number): number;
}

/** Run times and transfers that are given one by one, as in the tables of articles. */
export interface CostTables {
  /** Run time, by index of the task and of the processor. */
  readonly times: readonly (readonly Duration[])[];
  /** Time of the transfer between two processors, by index of the edge. */
  readonly transfers: readonly Duration[];
}

/** A cost model of tables, in which every task runs on one processor. */
export function tableCosts(workflow: Workflow, { times, transfers }: CostTables): CostModel {
  invariant(
    times.length === workflow.tasks.length && transfers.length === workflow.edges.length,
    'tables that do not fit the workflow',
  );
  const means = times.map((row) => row.reduce((sum, time) => sum + time, 0) / row.length);
  const getTransfer = (edge: number): Duration => transfers[edge] as number;
  return {
    time: (task, processors) => times[task]?.[processors[0] as number] as number,
    transfer: (edge, sender, receivers) => (isSamePlace(sender.processors, receivers) ? 0 : getTransfer(edge)),
    meanTime: (task) => means[task] as number,
    meanTransfer: getTransfer,
    capacity: () => 1,
  };
}

/** Whether data need not move: receivers are the very processors that sent it. */
export function isSamePlace(senders: readonly number[], receivers: readonly number[]): boolean {
  return senders.length === receivers.length && senders.every((processor, index) => processor === receivers[index]);
}
