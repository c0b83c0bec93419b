import type { Verification } from '@mutirao/core/messages';
import { Prng } from '@mutirao/core/shared';
import { BagVotes, type VotedTask } from './bag-votes.ts';

/** The machines that work on a bag, and how its results are verified. */
export interface TrustCase {
  readonly verification: Verification;
  readonly machineCount: number;
  readonly taskCount: number;
  /** Share of machines that are saboteurs, in [0, 1]. */
  readonly saboteurShare: number;
  /** Of a result of theirs to be wrong, in [0, 1]. */
  readonly errorRate: number;
  /** Whether wrong results of a task are all the same. */
  readonly colludes: boolean;
  /** Share of the bag in which saboteurs behave, in [0, 1): what makes them turncoats. */
  readonly honestUntil: number;
}

/** What became of a bag. */
export interface TrustOutcome {
  /** Of the tasks that were taken, those whose result is wrong. */
  readonly wrongCount: number;
  readonly takenCount: number;
  /** On which machines never agreed. */
  readonly hungCount: number;
  readonly runCount: number;
  readonly quarantinedSaboteurs: number;
  readonly quarantinedHonest: number;
}

const right = 'right';

/**
 * Runs a bag in rounds: in each, every machine that is not shut out does one run, of the first task that needs another
 * result and has none of this machine, else of a new one.
 *
 * All tasks take the same time, nothing is lost, and all decisions use the broker's own algorithms.
 */
export function runTrustBag(setup: TrustCase, seed: string): TrustOutcome {
  return new Bag(setup, seed).run();
}

class Bag {
  readonly #setup: TrustCase;
  readonly #rng: Prng;
  readonly #votes: BagVotes;
  readonly #tasks: VotedTask[] = [];
  #open: VotedTask[] = [];
  readonly #machines: string[];
  readonly #saboteurs: ReadonlySet<string>;
  #next = 0;
  #runCount = 0;
  #hungCount = 0;

  constructor(setup: TrustCase, seed: string) {
    this.#setup = setup;
    this.#rng = new Prng(`trust ${seed}`);
    this.#votes = new BagVotes(setup.verification, seed);
    this.#machines = Array.from({ length: setup.machineCount }, (_, index) => `m${index}`);
    this.#saboteurs = new Set(this.#machines.slice(0, Math.round(setup.machineCount * setup.saboteurShare)));
  }

  run(): TrustOutcome {
    while (this.#next < this.#setup.taskCount || this.#open.length > 0) if (!this.#round()) break;
    const taken = this.#tasks.filter(({ accepted }) => accepted !== '');
    const quarantined = [...this.#votes.quarantined];
    return {
      wrongCount: taken.filter(({ accepted }) => accepted !== right).length,
      takenCount: taken.length,
      hungCount: this.#hungCount + this.#open.length,
      runCount: this.#runCount,
      quarantinedSaboteurs: quarantined.filter((machine) => this.#saboteurs.has(machine)).length,
      quarantinedHonest: quarantined.filter((machine) => !this.#saboteurs.has(machine)).length,
    };
  }

  /** False when no machine may do anything any more. */
  #round(): boolean {
    const runs: { readonly task: VotedTask; readonly machine: string }[] = [];
    for (const machine of this.#shuffled()) {
      const task = this.#choose(machine);
      if (task === undefined) continue;
      task.running += 1;
      runs.push({ task, machine });
    }
    this.#runCount += runs.length;
    for (const { task, machine } of runs) {
      task.running -= 1;
      task.votes.push({ voter: machine, digest: this.#bring(task, machine) });
    }
    this.#decideAll();
    return runs.length > 0;
  }

  #shuffled(): string[] {
    const machines = this.#machines.filter((machine) => !this.#votes.quarantined.has(machine));
    for (let last = machines.length - 1; last > 0; last -= 1) {
      const other = this.#rng.below(last + 1);
      [machines[last], machines[other]] = [machines[other] as string, machines[last] as string];
    }
    return machines;
  }

  #choose(machine: string): VotedTask | undefined {
    const open = this.#open.find(
      (task) => this.#missing(task) > task.running && task.votes.every(({ voter }) => voter !== machine),
    );
    if (open !== undefined) return open;
    if (this.#next >= this.#setup.taskCount) return undefined;
    const task: VotedTask = { index: this.#next, votes: [], accepted: '', running: 0 };
    this.#next += 1;
    this.#tasks.push(task);
    this.#open.push(task);
    return task;
  }

  #missing(task: VotedTask): number {
    const decision = this.#votes.decide(task);
    return decision.kind === 'open' ? decision.votesMissing : 0;
  }

  #bring(task: VotedTask, machine: string): string {
    const { errorRate, colludes, honestUntil, taskCount } = this.#setup;
    const lies =
      this.#saboteurs.has(machine) && task.index >= honestUntil * taskCount && this.#rng.fraction() < errorRate;
    if (!lies) return right;
    return colludes ? 'wrong' : `wrong ${machine}`;
  }

  #decideAll(): void {
    const former = this.#open;
    this.#open = [];
    for (const task of former) this.#settle(task);
  }

  #settle(task: VotedTask): void {
    const decision = this.#votes.decide(task);
    if (decision.kind === 'open') this.#open.push(task);
    else if (decision.kind === 'deadlocked') this.#hungCount += 1;
    else for (const machine of this.#votes.accept(task, decision.digest)) this.#doubt(machine);
  }

  /** What was taken on its word runs again, and its votes on open tasks are void. */
  #doubt(machine: string): void {
    for (const task of this.#open) task.votes = task.votes.filter(({ voter }) => voter !== machine);
    for (const task of this.#tasks) {
      if (
        task.accepted === '' ||
        !task.votes.some(({ voter, digest }) => voter === machine && digest === task.accepted)
      )
        continue;
      const left = task.votes.filter(({ voter, digest }) => voter !== machine && digest === task.accepted);
      if (this.#votes.decide(task, left).kind === 'accepted') continue;
      Object.assign(task, { accepted: '', votes: [] });
      this.#open.push(task);
    }
  }
}
