import type { Bytes, Duration } from '../shared/index.ts';
import { isSamePlace, type CostModel } from './cost-model.ts';
import type { Workflow, WorkflowEdge, WorkflowTask } from './workflow.ts';

/** Processors and the network between them, over which any two can send at once. */
export interface Platform {
  readonly processors: readonly PlatformProcessor[];
  /** What every message takes before its first byte. */
  readonly startUp: Duration;
  /** Bytes per second, above 0. */
  readonly bandwidth: Bytes;
}

/** A processor of a platform. */
export interface PlatformProcessor {
  readonly name: string;
  /** Mflop/s, above 0. */
  readonly speed: number;
}

/**
 * The cost model of processors with speeds on a network in which all pairs are alike.
 *
 * @source moreira2009, 3.2.1.1 and 3.2.2.1: c(i, k) = L + data(i, k) / B; T = T_comm + f(n) / sum S, T_comm = T_L + b /
 * omega,
 *   for a task on an r x c grid of processors  b = exchange x (r + c - 2)
 * Symbols: L, T_L = `startUp`; B, omega = `bandwidth`; f(n) = `work`; S = `speed`; exchange = the task's, in bytes.
 * Departs from the source: one processor sends nothing to itself, so T_L is paid from two processors on; a grid is the
 * one nearest to a square whose
 * rows times columns is the number of processors; an edge without data costs nothing.
 */
export function platformCosts(workflow: Workflow, platform: Platform): CostModel {
  const { processors, startUp, bandwidth } = platform;
  const speeds = processors.map(({ speed }) => speed);
  const meanSlowness = speeds.reduce((sum, speed) => sum + 1 / speed, 0) / speeds.length;
  const transferTime = (edge: number, senderTime: Duration): Duration => {
    const { data, share } = workflow.edges[edge] as WorkflowEdge;
    return share * senderTime + (data > 0 ? startUp + (data * 1000) / bandwidth : 0);
  };
  const exchangeTime = (task: WorkflowTask, count: number): Duration => {
    if (count === 1) return 0;
    const rows = gridRows(count);
    return startUp + (task.exchange * (rows + count / rows - 2) * 1000) / bandwidth;
  };
  const time = (taskIndex: number, chosen: readonly number[]): Duration => {
    const task = workflow.tasks[taskIndex] as WorkflowTask;
    let speed = 0;
    for (const processor of chosen) speed += speeds[processor] as number;
    return exchangeTime(task, chosen.length) + (task.work * 1000) / speed;
  };
  return {
    time,
    transfer: (edge, sender, receivers) =>
      isSamePlace(sender.processors, receivers) ? 0 : transferTime(edge, sender.end - sender.start),
    meanTime: (taskIndex) => {
      const task = workflow.tasks[taskIndex] as WorkflowTask;
      return exchangeTime(task, task.widthMin) + (task.work * 1000 * meanSlowness) / task.widthMin;
    },
    meanTransfer: transferTime,
    capacity: (processor) => speeds[processor] as number,
  };
}

/**
 * Rows of the grid of `count` processors that is nearest to a square: the greatest divisor that is not above the root.
 */
function gridRows(count: number): number {
  let rows = 1;
  for (let divisor = 2; divisor * divisor <= count; divisor += 1) if (count % divisor === 0) rows = divisor;
  return rows;
}
