import type { BagMachine, ReplicableTask } from '@mutirao/core/bag';
import type { Duration, Instant, ProcessorCount, Prng, TaskIndex } from '@mutirao/core/shared';
import { unknownSlowness, type Slowness } from '@mutirao/core/times';
import { drawWeibull } from '../../world/storm.ts';
import type { BagSetup } from './bag-setup.ts';

/** Means that a machine has come and gone for before the job is submitted. */
const cyclesBefore = 20;

/** A machine of one processor that comes and goes by a random generator of its own, whatever runs on it. */
export class IntermittentMachine implements BagMachine {
  readonly processors: ProcessorCount = 1;
  readonly speed: number;
  isUp = true;
  /** When it comes or goes next. */
  changesAt: Instant;
  /** Undefined while nothing runs on it. */
  run: Run | undefined;
  /** What was seen of it. */
  slowness: Slowness = unknownSlowness;
  /** Files that its storage holds; they outlive its absences. */
  readonly files = new Set<number>();
  readonly #rng: Prng;
  readonly #setup: BagSetup;

  constructor(rng: Prng, setup: BagSetup) {
    this.#rng = rng;
    this.#setup = setup;
    this.speed = 1 + rng.fraction() * (setup.speedMax - 1);
    this.changesAt = -cyclesBefore * (setup.upTime.mean + setup.downTimeMean);
    while (this.changesAt <= 0) this.change();
  }

  get heldProcessors(): ProcessorCount {
    return this.run === undefined ? 0 : 1;
  }

  /** Comes or goes, and knows when it does next. */
  change(): void {
    const { upTime, downTimeMean } = this.#setup;
    this.isUp = !this.isUp;
    this.changesAt += Math.max(
      1,
      Math.ceil(drawWeibull(this.#rng, this.isUp ? upTime : { mean: downTimeMean, shape: 1 })),
    );
  }

  /** How long the machine takes to run this amount of work. */
  timeFor(work: Duration): Duration {
    return Math.max(1, Math.ceil(work / this.speed));
  }
}

/** One run of a task on a machine. */
export interface Run {
  readonly task: SimulatedTask;
  readonly machine: IntermittentMachine;
  readonly startedAt: Instant;
  readonly endsAt: Instant;
}

/** A task of a simulated bag. */
export class SimulatedTask implements ReplicableTask {
  readonly processors = 1;
  readonly index: TaskIndex;
  /** Its run time on a machine of speed 1. */
  readonly work: Duration;
  /** The file that it reads. */
  readonly file: number;
  readonly replicasMax: number;
  /** Those that run, the eldest first. */
  readonly runs: Run[] = [];
  /** In how long the first of them is expected to end; set before each decision. */
  remaining: Duration | undefined;

  constructor(
    index: TaskIndex,
    drawn: { readonly work: Duration; readonly file: number; readonly replicasMax: number },
  ) {
    this.index = index;
    this.work = drawn.work;
    this.file = drawn.file;
    this.replicasMax = drawn.replicasMax;
  }

  get replicaCount(): number {
    return this.runs.length;
  }

  get runningSince(): Instant {
    return this.runs[0]?.startedAt ?? 0;
  }
}
