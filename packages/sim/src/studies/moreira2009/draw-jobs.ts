import { invariant, Prng, type Instant } from '@mutirao/core/shared';
import {
  makeWorkflow,
  operationCost,
  type Arrival,
  type EdgeDraft,
  type Operation,
  type TaskDraft,
} from '@mutirao/core/workflow';

/** Jobs of a draw. */
export const jobCount = 12;

/** Tasks of all jobs of a draw. */
export const taskCount = 200;

const arrivalGap: Instant = 10_000;
const degreeMin = 2;
const degreeMax = 5;
const drawn: readonly Operation[] = ['TRD', 'Q', 'QR', 'C'];

/** How the seed can be read where it does not say enough. */
export interface JobReading {
  /**
   * `any`: all ways to divide the inner tasks among the jobs are equally likely; `even`: all jobs are equally long, but
   * for one task.
   */
  readonly sizes: 'any' | 'even';
  /** What the processors of a task send each other, as a multiple of what {@link operationCost} says. */
  readonly exchangeFactor: number;
}

/** How many tasks of a job have no predecessor, both, and no successor. */
export interface JobShape {
  readonly entries: number;
  readonly inner: number;
  readonly exits: number;
}

/**
 * Draws the jobs of one run: one every ten seconds. The same seed gives the same jobs under every strategy; another
 * `exchangeFactor` changes nothing else.
 *
 * @source moreira2009, 5.2: Na, Nc in 1..4, Nb the rest; degree 2..5; edges from lower to higher ids; operations TRD,
 *   Q, QR, C on matrices of 200 to 1200; an edge costs 30 % of its sender.
 * Departs from the source: it prints Nb for Nc, and no size of a job; a job has at least two inner tasks, without which
 * the degrees cannot be kept.
 */
export function drawArrivals(seed: string, reading: JobReading): Arrival[] {
  const root = new Prng(seed);
  return drawShapes(root.fork('shapes'), reading.sizes).map((shape, job) => {
    const prng = root.fork(`job ${job}`);
    const edges = drawEdges(prng.fork('edges'), shape).map(
      ([from, to]): EdgeDraft => ({ from: `${job + 1}.${from + 1}`, to: `${job + 1}.${to + 1}`, share: 0.3 }),
    );
    const tasks = Array.from({ length: getSize(shape) }, (_, index): TaskDraft => {
      const operation = drawn[prng.below(drawn.length)] as Operation;
      const { work, exchange } = operationCost(operation, 200 + prng.below(1001));
      return {
        id: `${job + 1}.${index + 1}`,
        work,
        exchange: exchange * reading.exchangeFactor,
        widthMin: 1,
        widthMax: 20,
      };
    });
    return { workflow: makeWorkflow({ tasks, edges }), at: job * arrivalGap };
  });
}

const getSize = ({ entries, inner, exits }: JobShape): number => entries + inner + exits;

/** Draws how the tasks are divided among the jobs. */
export function drawShapes(prng: Prng, sizes: JobReading['sizes']): JobShape[] {
  const ends = Array.from({ length: jobCount }, () => ({ entries: 1 + prng.below(4), exits: 1 + prng.below(4) }));
  if (sizes === 'even') {
    return ends.map(({ entries, exits }, job) => ({
      entries,
      exits,
      inner:
        Math.floor(((job + 1) * taskCount) / jobCount) - Math.floor((job * taskCount) / jobCount) - entries - exits,
    }));
  }
  const spare = taskCount - 2 * jobCount - ends.reduce((sum, { entries, exits }) => sum + entries + exits, 0);
  // A row of tasks and partitions, of which every order is as likely as any other.
  const cuts = new Set<number>();
  while (cuts.size < jobCount - 1) cuts.add(prng.below(spare + jobCount - 1));
  const places = [-1, ...[...cuts].sort((one, other) => one - other), spare + jobCount - 1];
  return ends.map((end, job) => ({ ...end, inner: 2 + (places[job + 1] as number) - (places[job] as number) - 1 }));
}

/** Draws the edges of a job, again until every task has two to five. */
export function drawEdges(prng: Prng, shape: JobShape): [from: number, to: number][] {
  for (let attempt = 0; ; attempt += 1) {
    invariant(attempt < 1000, `no edges for ${JSON.stringify(shape)}`);
    const links = new Links(prng.fork(`attempt ${attempt}`), shape);
    if (links.draw()) return links.edges;
  }
}

/** Edges that are being drawn: tasks are known by their place, entries first, exits last. */
class Links {
  readonly edges: [from: number, to: number][] = [];
  readonly #prng: Prng;
  readonly #shape: JobShape;
  readonly #degrees: number[];
  readonly #linked = new Set<string>();

  constructor(prng: Prng, shape: JobShape) {
    this.#prng = prng;
    this.#shape = shape;
    this.#degrees = new Array<number>(getSize(shape)).fill(0);
  }

  /** Whether every task came to as many edges as it must have. */
  draw(): boolean {
    const { entries, exits } = this.#shape;
    const size = this.#degrees.length;
    for (let task = entries; task < size; task += 1) this.#linkOne(task, (other) => other < task);
    const senders = new Set(this.edges.map(([from]) => from));
    for (let task = size - exits - 1; task >= 0; task -= 1)
      if (!senders.has(task)) this.#linkOne(task, (other) => other > task);
    for (let task = 0; task < size; task += 1) {
      const wanted = degreeMin + this.#prng.below(degreeMax - degreeMin + 1);
      while ((this.#degrees[task] as number) < wanted && this.#linkOne(task, () => true));
    }
    return this.#degrees.every((degree) => degree >= degreeMin && degree <= degreeMax);
  }

  /** Links a task with one of those that it may be linked with; false when there is none. */
  #linkOne(task: number, isWanted: (other: number) => boolean): boolean {
    const others = [...this.#degrees.keys()].filter((other) => isWanted(other) && this.#mayLink(task, other));
    if (others.length === 0) return false;
    const other = others[this.#prng.below(others.length)] as number;
    const [from, to] = [Math.min(task, other), Math.max(task, other)];
    this.edges.push([from, to]);
    this.#linked.add(`${from} ${to}`);
    for (const end of [from, to]) this.#degrees[end] = (this.#degrees[end] as number) + 1;
    return true;
  }

  #mayLink(one: number, other: number): boolean {
    const { entries, exits } = this.#shape;
    const [from, to] = [Math.min(one, other), Math.max(one, other)];
    return (
      from < to &&
      to >= entries &&
      from < this.#degrees.length - exits &&
      !this.#linked.has(`${from} ${to}`) &&
      [from, to].every((end) => (this.#degrees[end] as number) < degreeMax)
    );
  }
}
