import type { BagQueue } from '@mutirao/core/bag';
import { IndexSet, Prng, type Duration, type Instant } from '@mutirao/core/shared';
import { compareRun, expectedRemainingOn, expectedTotalOn, TimeCurve } from '@mutirao/core/times';
import type { BagPolicy, BagResult, BagSetup } from './bag-setup.ts';
import { IntermittentMachine, SimulatedTask, type Run } from './intermittent-machine.ts';

/** A bag, its machines, and its state. */
export class BagState {
  readonly setup: BagSetup;
  readonly policy: BagPolicy;
  readonly machines: readonly IntermittentMachine[];
  readonly tasks: readonly SimulatedTask[];
  readonly ready = new IndexSet();
  readonly running = new Set<SimulatedTask>();
  readonly queue: BagQueue;
  /** What was seen of the tasks' times. */
  readonly times = new TimeCurve();
  readonly result: { -readonly [Field in keyof BagResult]: BagResult[Field] } = {
    makespan: 0,
    used: 0,
    losers: 0,
    killed: 0,
    replicaCount: 0,
    transferCount: 0,
  };
  now: Instant = 0;
  doneCount = 0;
  readonly #onStart: (run: Run) => void;

  /** @param onStart called with each run that starts. */
  constructor(setup: BagSetup, policy: BagPolicy, onStart: (run: Run) => void) {
    this.setup = setup;
    this.policy = policy;
    this.#onStart = onStart;
    const rng = new Prng(`eager ${setup.seed}`);
    this.machines = Array.from(
      { length: setup.machineCount },
      (_, index) => new IntermittentMachine(rng.fork(`machine ${index}`), setup),
    );
    this.tasks = drawTasks(rng.fork('tasks'), setup, policy.replicasMax);
    this.ready.addRange(0, setup.taskCount);
    const { ready } = this;
    this.queue = {
      processors: 1,
      scheduler: policy.scheduler,
      get readyCount() {
        return ready.size;
      },
    };
  }

  /** How much longer a run of `elapsed` is expected to take on a machine; undefined before anything is known. */
  expected(machine: IntermittentMachine, elapsed: Duration): Duration | undefined {
    return expectedRemainingOn(this.times, machine.slowness, elapsed);
  }

  /** In how long the first of a task's runs is expected to end. */
  getRemaining({ runs }: SimulatedTask): Duration | undefined {
    const known = runs
      .map((run) => this.expected(run.machine, this.now - run.startedAt))
      .filter((rest) => rest !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /** When the first of a task's runs is expected to end; Infinity before anything is known. */
  expectedEnd({ runs }: SimulatedTask): Instant {
    return Math.min(
      ...runs.map(
        ({ machine, startedAt }) =>
          startedAt + (expectedTotalOn(this.times, machine.slowness, this.now - startedAt) ?? Infinity),
      ),
    );
  }

  /** Starts a run; a file that the machine does not hold is brought first. */
  start(machine: IntermittentMachine, task: SimulatedTask): void {
    const { data } = this.setup;
    let time = machine.timeFor(task.work);
    if (data !== undefined && !machine.files.has(task.file)) {
      time += Math.ceil((1000 * data.fileSize) / data.bytesPerSecond);
      machine.files.add(task.file);
      this.result.transferCount++;
    }
    const run: Run = { task, machine, startedAt: this.now, endsAt: this.now + time };
    this.ready.delete(task.index);
    this.running.add(task);
    machine.run = run;
    task.runs.push(run);
    this.result.replicaCount++;
    this.#onStart(run);
  }

  /** Takes a run's result and gives its siblings up. */
  finish(run: Run): void {
    const time = this.now - run.startedAt;
    this.result.used += time;
    run.machine.slowness = compareRun(run.machine.slowness, { time, isCensored: false }, this.times);
    this.times.add(time);
    detach(run);
    for (const sibling of [...run.task.runs]) this.stop(sibling, 'losers');
    this.running.delete(run.task);
    this.doneCount++;
  }

  /** Ends a run without a result; a task without any is ready again. */
  stop(run: Run, column: 'losers' | 'killed'): void {
    const time = this.now - run.startedAt;
    this.result[column] += time;
    if (time > 0) {
      run.machine.slowness = compareRun(run.machine.slowness, { time, isCensored: true }, this.times);
      this.times.addCensored(time);
    }
    detach(run);
  }

  /** Makes a task ready that has no run any more. */
  returnToQueue(task: SimulatedTask): void {
    this.running.delete(task);
    this.ready.add(task.index);
  }
}

function detach(run: Run): void {
  run.machine.run = undefined;
  run.task.runs.splice(run.task.runs.indexOf(run), 1);
}

function drawTasks(
  rng: Prng,
  { taskCount, taskTimeMean, taskTimeSpread, data }: BagSetup,
  replicasMax: number,
): SimulatedTask[] {
  return Array.from({ length: taskCount }, (_, index) => {
    const work = taskTimeMean * (1 + taskTimeSpread * (2 * rng.fraction() - 1));
    return new SimulatedTask(index, { work, file: rng.below(data?.fileCount ?? 1), replicasMax });
  });
}
