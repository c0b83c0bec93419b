import { invariant, type Duration, type Instant } from '../shared/index.ts';
import type { Placement, PlacementReason, PlacementRule, Schedule } from './schedule.ts';
import type { SchedulingProblem } from './scheduling-problem.ts';
import { Timeline } from './timeline.ts';
import type { WorkflowEdge, WorkflowTask } from './workflow.ts';

/** When a task could begin and end on processors. */
export interface Offer {
  readonly processors: readonly number[];
  /** When its data is there and its job has arrived. */
  readonly readyAt: Instant;
  readonly start: Instant;
  readonly end: Instant;
}

/** A schedule that is being made: what is placed so far, and when processors are free. */
export class Placing {
  readonly problem: SchedulingProblem;
  /** Processors that are there or will be, ascending. */
  readonly processors: readonly number[];
  /**
   * Whether data comes while the processors that wait for it compute something else; if not, they are idle for as long
   * as it takes.
   */
  readonly #overlaps: boolean;
  readonly #placed: (Placement | undefined)[];
  readonly #timelines: readonly Timeline[];
  /** Each processor as a list of its own, so that none is made for each question. */
  readonly #alone: readonly (readonly number[])[];

  constructor(problem: SchedulingProblem, overlaps = true) {
    this.problem = problem;
    this.#overlaps = overlaps;
    this.#placed = [...problem.fixed];
    this.#alone = problem.availableFrom.map((_, processor) => [processor]);
    this.processors = problem.availableFrom.flatMap((from, processor) => (from === Infinity ? [] : [processor]));
    this.#timelines = problem.availableFrom.map((from) => new Timeline(Math.max(from, problem.now)));
    for (const placement of problem.fixed)
      if (placement !== undefined && placement.end > problem.now) this.#occupy(placement);
  }

  /** The placement of a task; undefined as long as it has none. */
  find(task: number): Placement | undefined {
    return this.#placed[task];
  }

  /**
   * When the data of a task, whose predecessors are all placed, can be at processors; none for a place where no
   * predecessor is. Cost: O(edges of the task).
   */
  readyAt(task: number, processors: readonly number[]): Instant {
    const { workflow, costs, now, releasedAt } = this.problem;
    let ready = Math.max(now, releasedAt[task] as number);
    for (const edge of workflow.incoming[task] as readonly number[]) {
      const sender = this.#getPlaced((workflow.edges[edge] as WorkflowEdge).from);
      ready = Math.max(
        ready,
        sender.end === Infinity ? Infinity : sender.end + costs.transfer(edge, sender, processors),
      );
    }
    return ready;
  }

  /** From when on nothing more is placed on a processor. */
  freeFrom(processor: number): Instant {
    return (this.#timelines[processor] as Timeline).end;
  }

  /**
   * A processor's offer to a task of one processor: the first hole that it fits into (`inserting`), or the time after
   * all tasks placed there.
   */
  getOffer(task: number, processor: number, inserting: boolean): Offer {
    const processors = this.#alone[processor] as readonly number[];
    const readyAt = this.readyAt(task, processors);
    const duration = this.problem.costs.time(task, processors);
    const start = inserting
      ? (this.#timelines[processor] as Timeline).findStart(readyAt, duration)
      : Math.max(readyAt, this.freeFrom(processor));
    return { processors, readyAt, start, end: this.#endOn(processors, start + duration) };
  }

  /** When a task that would end then does: never, where one of its processors is gone before. */
  #endOn(processors: readonly number[], end: Instant): Instant {
    const { availableUntil } = this.problem;
    if (availableUntil === undefined) return end;
    for (const processor of processors) if (end > (availableUntil[processor] as number)) return Infinity;
    return end;
  }

  /** From when on nothing more is placed on each processor, by index; the caller may change it. */
  freeTimes(): Instant[] {
    return this.#timelines.map(({ end }) => end);
  }

  /**
   * What several processors offer, all from one instant on, behind everything that is placed on them. @param processors
   * ascending.
   */
  offerOfGang(task: number, processors: readonly number[]): Offer {
    return this.offerBehind(this.freeTimes(), task, processors);
  }

  /**
   * What processors offer that are free from other instants on. @param free by index of the processor. @param
   * processors ascending.
   */
  offerBehind(free: readonly Instant[], task: number, processors: readonly number[]): Offer {
    const readyAt = this.readyAt(task, processors);
    let idleFrom = -Infinity;
    for (const processor of processors) idleFrom = Math.max(idleFrom, free[processor] as number);
    const start = Math.max(readyAt, this.#overlaps ? idleFrom : idleFrom + this.#receiving(task, processors, idleFrom));
    return {
      processors,
      readyAt,
      start,
      end: this.#endOn(processors, start + this.problem.costs.time(task, processors)),
    };
  }

  /**
   * How long processors that are idle from an instant on receive before a task can begin there: all that is sent comes
   * at once, none of it before they are idle.
   */
  #receiving(task: number, processors: readonly number[], idleFrom: Instant): Duration {
    const { workflow, costs } = this.problem;
    let receiving = 0;
    for (const edge of workflow.incoming[task] as readonly number[]) {
      const sender = this.#getPlaced((workflow.edges[edge] as WorkflowEdge).from);
      if (costs.transfer(edge, sender, processors) === 0) continue;
      // What `transfer` answers may hold a wait that is over once they are idle; between any two of equal pairs the
      // mean is the transfer alone.
      receiving = Math.max(
        receiving,
        Math.max(0, sender.end - idleFrom) + costs.meanTransfer(edge, sender.end - sender.start),
      );
    }
    return receiving;
  }

  /**
   * The offer that ends first, and the one after it; of equal ones that of the processor with the lowest index. Cost:
   * O(processors x (edges of the task + holes)).
   */
  bestOffers(task: number, inserting: boolean): { readonly best: Offer; readonly second: Offer | undefined } {
    let [best, second]: [Offer | undefined, Offer | undefined] = [undefined, undefined];
    for (const processor of this.processors) {
      const offer = this.getOffer(task, processor, inserting);
      if (best === undefined || offer.end < best.end) [best, second] = [offer, best];
      else if (second === undefined || offer.end < second.end) second = offer;
    }
    invariant(best !== undefined, 'no processor to place a task on');
    return { best, second };
  }

  /**
   * The gang of the fewest processors that a rigid task takes: those that could begin first, the fastest of equal ones,
   * on the machine where it ends first. Cost: O(processors x (edges of the task + log processors)).
   */
  gangOffer(task: number): Offer {
    const { costs, workflow } = this.problem;
    const { id, widthMin } = workflow.tasks[task] as WorkflowTask;
    invariant(
      widthMin <= this.processors.length,
      `task ${id} takes ${widthMin} processors; there are ${this.processors.length}`,
    );
    const from = (processor: number): Instant =>
      Math.max(this.freeFrom(processor), this.readyAt(task, this.#alone[processor] as readonly number[]));
    const sorted = this.processors
      .map((processor) => ({ processor, from: from(processor), speed: costs.capacity(processor) }))
      .sort((one, other) => one.from - other.from || other.speed - one.speed || one.processor - other.processor);
    const gangs = groupGangs(sorted, widthMin, this.problem.machineOf);
    invariant(gangs.length > 0, `task ${id} takes ${widthMin} processors of one machine; no machine has that number`);
    return gangs
      .map((gang) => this.offerOfGang(task, gang))
      .reduce((best, offer) => (offer.end < best.end ? offer : best));
  }

  /** Takes an offer. */
  accept(task: number, offer: Offer, rule: PlacementRule, runnerUp?: Offer): Placement {
    const { processors, start, end } = offer;
    const isInserted = rule === 'earliest-finish' && processors.some((processor) => this.freeFrom(processor) > start);
    const reason: PlacementReason = {
      rule: isInserted ? 'inserted' : rule,
      ...this.#explain(task, offer),
      runnerUp: runnerUp === undefined ? undefined : { processor: runnerUp.processors[0] as number, end: runnerUp.end },
    };
    const placement = { task, processors, start, end, reason };
    this.#placed[task] = placement;
    this.#occupy(placement);
    return placement;
  }

  /** The schedule, when all tasks are placed. @throws {InvariantError} before. */
  finish(scheduler: string): Schedule {
    return { scheduler, placements: this.#placed.map((_, task) => this.#getPlaced(task)) };
  }

  #explain(task: number, { processors, start, readyAt }: Offer): Pick<PlacementReason, 'heldBy' | 'behind'> {
    const { workflow, costs } = this.problem;
    if (start > readyAt) {
      const behind = processors
        .map((processor) => (this.#timelines[processor] as Timeline).taskEndingAt(start))
        .find((found) => found !== undefined);
      return { heldBy: 'processor', behind };
    }
    for (const edge of workflow.incoming[task] as readonly number[]) {
      const { from } = workflow.edges[edge] as WorkflowEdge;
      const sender = this.#getPlaced(from);
      if (sender.end === Infinity || sender.end + costs.transfer(edge, sender, processors) === start)
        return { heldBy: 'data', behind: from };
    }
    return { heldBy: 'arrival', behind: undefined };
  }

  #getPlaced(task: number): Placement {
    const placement = this.#placed[task];
    invariant(placement !== undefined, `task ${task} is not placed`);
    return placement;
  }

  #occupy({ task, processors, start, end }: Placement): void {
    // What has no place occupies none.
    if (end < Infinity) for (const processor of processors) this.#timelines[processor]?.occupy(task, start, end);
  }
}

/** The first `width` processors in their order: of all, or of each machine that has that many. */
function groupGangs(
  sorted: readonly { readonly processor: number }[],
  width: number,
  machineOf: readonly number[] | undefined,
): number[][] {
  const gangs = new Map<number, number[]>();
  for (const { processor } of sorted) {
    const machine = machineOf?.[processor] ?? 0;
    const gang = gangs.get(machine) ?? [];
    gangs.set(machine, gang);
    if (gang.length < width) gang.push(processor);
  }
  return [...gangs.values()]
    .filter(({ length }) => length === width)
    .map((gang) => gang.sort((one, other) => one - other));
}

/**
 * Run times and transfers by which tasks are ranked before they are placed: means over all processors. Settled tasks
 * keep the time that they have.
 */
export function meanCosts({ workflow, costs, fixed, after }: SchedulingProblem): {
  readonly times: Duration[];
  readonly transfers: Duration[];
  readonly after?: readonly Duration[];
} {
  const times = workflow.tasks.map((_, task) => {
    const placement = fixed[task];
    return placement === undefined ? costs.meanTime(task) : placement.end - placement.start;
  });
  const transfers = workflow.edges.map(({ from }, edge) => costs.meanTransfer(edge, times[from] as number));
  return { times, transfers, ...(after === undefined ? {} : { after }) };
}
