import type { HeldReplica } from '@mutirao/core/machines/agent';
import type { GangMembership } from '@mutirao/core/messages';
import { invariant, Prng, type Duration, type ProcessorCount } from '@mutirao/core/shared';
import { predecessorsIn, readPath } from './plan-edges.ts';
import type { JobPlan, LabMachinePlan, Scenario } from './scenario.ts';
import { isTooGreedy } from './plan-resources.ts';
import { TrueResources } from './true-resources.ts';

/** Whether a plan's results are voted on. */
export function isVoted({ voteCount = 0, credibility = 0 }: JobPlan): boolean {
  return voteCount > 0 || credibility > 0;
}

/** The content of an output that a failed run left. */
export const leftByFailed = 'left';

/** The end of a task's run. */
export interface RunDisposition {
  /** It used more memory than it had, and is ended for that. */
  readonly isTooGreedy: boolean;
  readonly time: Duration;
  readonly exitStatus: number;
}

/** Where a run takes place. */
export interface RunPlace {
  /** Names the agent's process; two that follow each other on one machine differ. */
  readonly incarnation: string;
  readonly machine: string;
  /** Work that it does in a time. */
  readonly speed: number;
  /** What it has in addition to processors; left out for nothing. */
  readonly has?: LabMachinePlan['has'] | undefined;
}

/** A replica of a job; another journal gives its number again. */
export interface LabelledReplica {
  readonly label: string;
  readonly replicaId: number;
}

/** A job's label: the number of its plan, and of the journal that it is submitted to unless that is the first. */
export function getLabel(planIndex: number, journal: number): string {
  return journal === 1 ? String(planIndex) : `${planIndex}@${journal}`;
}

function planIndexOf(label: string): number {
  return Number(label.split('@')[0]);
}

function resultKey({ label, replicaId }: LabelledReplica): string {
  return `${label} r${replicaId}`;
}

/** Another journal gives a gang's number again, to a job of another label. */
function gangKey(label: string, gangId: number): string {
  return `${label} g${gangId}`;
}

/** A result that a broker took. */
export interface AcceptedResult {
  readonly label: string;
  readonly taskIndex: number;
  readonly replicaId: number;
  /** Of its first output; left out where it has none. */
  readonly sha256?: string | undefined;
}

/** What a run brought. */
export interface RunResult {
  readonly label: string;
  readonly taskIndex: number;
  /** Of the machine, whatever its name. */
  readonly identity: string;
  /** Wrong ones begin with `bad`. */
  readonly digest: string;
}

/** A failure that a broker counted. */
export interface CountedFailure {
  readonly label: string;
  readonly taskIndex: number;
  readonly replicaId: number;
  readonly reason: string;
}

/** A run that began. */
interface TrueRun {
  readonly label: string;
  readonly incarnation: string;
  readonly taskIndex: number;
  readonly exitStatus: number;
  readonly time: Duration;
  readonly processors: ProcessorCount;
  /** The manager of its allocation ended it, whatever its status says. */
  isSignalled: boolean;
}

/**
 * What really happens, whatever the machines believe: which runs hold which processors, and which results were taken.
 *
 * Every check throws an InvariantError at the moment of the wrong.
 */
export class Truth {
  readonly #scenario: Scenario;
  readonly #rng: Prng;
  /** By incarnation: the replica on each slot. */
  readonly #slots = new Map<string, Map<number, string>>();
  readonly #resources = new TrueResources();
  /** What each replica id ever ran; after a fall of home an id may have been given twice. */
  readonly #runs = new Map<number, TrueRun[]>();
  #runCount = 0;
  /** By gang: the replicas that ever listened. */
  readonly #held = new Map<string, Set<number>>();
  /** By job: the tasks of which a result was ever taken. */
  readonly #taken = new Map<string, Set<number>>();
  /**
   * Outputs of results that were taken, by job and task, the last one last: a broker that falls may forget one and take
   * another.
   */
  readonly #contents = new Map<string, Set<string>>();
  /** What each run that ended well really brought, by job and replica. */
  readonly #results = new Map<string, RunResult>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#rng = new Prng(`truth ${scenario.seed}`);
  }

  /** Runs that ever began. */
  get runCount(): number {
    return this.#runCount;
  }

  /** Runs that go on now. */
  get runningCount(): number {
    let count = 0;
    for (const slots of this.#slots.values()) count += new Set(slots.values()).size;
    return count;
  }

  /** The job that a label names, whichever journal it was submitted to. */
  planOf(label: string): JobPlan {
    const plan = this.#scenario.jobs[planIndexOf(label)];
    invariant(plan, `a task of job "${label}", which nobody submitted`);
    return plan;
  }

  /** A member of a gang has its processors and listens; it is about to say so. */
  noteHeld({ start: { replicaId, gang }, template }: HeldReplica): void {
    if (gang === undefined) return;
    const key = gangKey(template.environment['SIMULATED_JOB'] ?? '', gang.gangId);
    this.#held.set(key, (this.#held.get(key) ?? new Set()).add(replicaId));
  }

  /** All members of its gang are held, if it is of one. */
  #checkHeld(label: string, replicaId: number, gang: GangMembership | undefined): void {
    if (gang === undefined) return;
    const { gangId, members } = gang;
    const listening = this.#held.get(gangKey(label, gangId))?.size ?? 0;
    invariant(
      listening === members,
      `member r${replicaId} of a gang of ${members} starts when ${listening} of them are held`,
    );
  }

  #takeSlots(
    { incarnation, machine }: Pick<RunPlace, 'incarnation' | 'machine'>,
    replicaId: number,
    slots: readonly number[],
  ): void {
    const held = this.#slots.get(incarnation) ?? new Map<number, string>();
    this.#slots.set(incarnation, held);
    for (const slot of slots) {
      invariant(!held.has(slot), `${machine} runs r${replicaId} in slot ${slot}, where ${held.get(slot) ?? ''} runs`);
      held.set(slot, `r${replicaId}`);
    }
  }

  /** A run begins: its processors must be free. Returns what becomes of it, if nothing ends it before. */
  beginRun({ incarnation, machine, speed, has }: RunPlace, replica: HeldReplica): RunDisposition {
    const { start, template, slots } = replica;
    const { replicaId, taskIndex, inputs, gang } = start;
    const label = template.environment['SIMULATED_JOB'] ?? '';
    const plan = this.planOf(label);
    invariant(taskIndex < plan.taskCount, `task ${taskIndex} of a job of ${plan.taskCount}`);
    for (const before of predecessorsIn(plan, taskIndex)) {
      invariant(
        this.#taken.get(label)?.has(before),
        `task ${taskIndex} of job "${label}" begins, and no result was taken of task ${before}, which it waits for`,
      );
    }
    this.#checkInputs(label, { taskIndex, inputs });
    this.#checkHeld(label, replicaId, gang);
    this.#takeSlots({ incarnation, machine }, replicaId, slots);
    this.#resources.begin({ incarnation, machine, has }, replica, plan);
    this.#runCount += 1;
    const rng = this.#rng.fork(`job ${label} task ${taskIndex}`);
    const workTime = Math.max(1, Math.round(plan.meanTaskTime * (1 + plan.spread * (2 * rng.fraction() - 1))));
    const isGreedy = isTooGreedy(plan, template.resources?.memory ?? 0);
    const exitStatus = isGreedy ? 137 : Number(this.#fails(plan, taskIndex, rng));
    const runs = this.#runs.get(replicaId) ?? [];
    this.#runs.set(replicaId, runs);
    const time = Math.ceil(workTime / speed);
    runs.push({
      label,
      incarnation,
      isSignalled: false,
      taskIndex,
      exitStatus,
      time,
      processors: gang === undefined ? slots.length : (plan.gangProcessors ?? 1),
    });
    return { time, exitStatus, isTooGreedy: isGreedy };
  }

  #fails(plan: JobPlan, taskIndex: number, rng: Prng): boolean {
    return taskIndex < plan.brokenTaskCount || rng.fork(`run ${this.#runCount}`).fraction() < plan.failureProbability;
  }

  /** It reads the accepted outputs of its predecessors, and nothing else. */
  #checkInputs(label: string, { taskIndex, inputs }: Pick<HeldReplica['start'], 'taskIndex' | 'inputs'>): void {
    const plan = this.planOf(label);
    if (!plan.hasOutput) return;
    for (const before of predecessorsIn(plan, taskIndex)) {
      const read = inputs.find(({ path }) => path === readPath(before))?.content.sha256 ?? 'nothing';
      const written = this.#contents.get(`${label} ${before}`);
      invariant(
        written?.has(read),
        `task ${taskIndex} of job "${label}" reads ${read} of task ${before}, whose result that never was`,
      );
    }
  }

  /** The output of the result that was taken of a task last. */
  contentTaken(label: string, taskIndex: number): string {
    return [...(this.#contents.get(`${label} ${taskIndex}`) ?? ['none'])].at(-1) ?? 'none';
  }

  /** A result was taken: that replica must have run that task, and well. */
  checkAccepted({ label, taskIndex, replicaId, sha256 = '' }: AcceptedResult): void {
    const runs = this.#runs.get(replicaId) ?? [];
    const isTrue = runs.some(
      (run) => run.label === label && run.taskIndex === taskIndex && run.exitStatus === 0 && !run.isSignalled,
    );
    invariant(
      isTrue,
      `r${replicaId} never did task ${taskIndex} of job "${label}", or was ended by a shutdown, and its result ` +
        'was taken',
    );
    const taken = this.#taken.get(label) ?? new Set();
    this.#taken.set(label, taken.add(taskIndex));
    const contents = this.#contents.get(`${label} ${taskIndex}`) ?? new Set<string>();
    contents.delete(sha256);
    this.#contents.set(`${label} ${taskIndex}`, contents.add(sha256));
    this.#checkOutvoted(label, taskIndex, this.#results.get(resultKey({ label, replicaId }))?.digest ?? '');
    invariant(
      !this.planOf(label).hasOutput || sha256 !== '',
      `the result of r${replicaId} was taken without its output`,
    );
    invariant(sha256 !== leftByFailed, `what the failed r${replicaId} left was taken for a result`);
    invariant(
      !this.planOf(label).isChecked || !sha256.startsWith('bad'),
      `the result of r${replicaId} is wrong, was checked, and was taken`,
    );
  }

  /** The manager of its allocation ended a run, whatever its status says. */
  noteSignalled({ label, replicaId }: LabelledReplica, incarnation: string): void {
    for (const run of this.#runs.get(replicaId) ?? [])
      if (run.label === label && run.incarnation === incarnation) run.isSignalled = true;
  }

  /** Whether the manager of its allocation ended a run of this replica. */
  wasSignalled({ label, replicaId }: LabelledReplica): boolean {
    return (this.#runs.get(replicaId) ?? []).some((run) => run.label === label && run.isSignalled);
  }

  /** A run ended well and brought this. */
  noteResult(replicaId: number, result: RunResult): void {
    this.#results.set(resultKey({ label: result.label, replicaId }), result);
  }

  /** What a run brought; it must have ended well. */
  writtenBy(replica: LabelledReplica): string {
    const result = this.#results.get(resultKey(replica));
    invariant(result, `r${replica.replicaId} is asked for its result and never had one`);
    return result.digest;
  }

  /** A wrong result that was voted on was accepted: enough machines must really have brought it. */
  #checkOutvoted(label: string, taskIndex: number, digest: string): void {
    const { voteCount = 0, credibility = 0 } = this.planOf(label);
    if (voteCount === 0 || credibility > 0 || !digest.startsWith('bad')) return;
    const liars = new Set<string>();
    for (const result of this.#results.values()) {
      if (result.label === label && result.taskIndex === taskIndex && result.digest === digest)
        liars.add(result.identity);
    }
    const majority = Math.floor(voteCount / 2) + 1;
    invariant(
      liars.size >= majority,
      `task ${taskIndex} of job "${label}" is wrong by ${liars.size} machines, and ${majority} had to agree`,
    );
  }

  /** A failure was counted: that replica must have failed at that task, or its result been wrong. */
  checkFailed({ label, taskIndex, replicaId, reason }: CountedFailure): void {
    const runs = (this.#runs.get(replicaId) ?? []).filter((run) => run.label === label && run.taskIndex === taskIndex);
    if (reason === 'MUT_NO_MAJORITY') {
      invariant(isVoted(this.planOf(label)), `job "${label}" is not voted on, and lacks a majority`);
      return;
    }
    const isTrue =
      reason === 'MUT_CHECK_FAILED'
        ? this.planOf(label).isChecked && runs.length > 0
        : runs.some((run) => run.exitStatus !== 0 && !run.isSignalled);
    invariant(
      isTrue,
      `r${replicaId} did not fail at task ${taskIndex} of job "${label}", and it was counted (${reason})`,
    );
  }

  /** Whether that replica ever began to run. */
  hasBegun(replicaId: number): boolean {
    return this.#runs.has(replicaId);
  }

  /** What the runs took whose results are those of these replicas. */
  findTime(replicaIds: Iterable<number>): Duration {
    let time = 0;
    for (const replicaId of replicaIds) {
      const run = this.#runs.get(replicaId)?.find(({ exitStatus, isSignalled }) => exitStatus === 0 && !isSignalled);
      if (run !== undefined) time += run.time * run.processors;
    }
    return time;
  }

  /** A run is over, however it ended. */
  endRun(incarnation: string, slots: readonly number[]): void {
    for (const slot of slots) this.#slots.get(incarnation)?.delete(slot);
  }

  /** What a run used in addition to its processors is free again. */
  endUse(incarnation: string, { start: { replicaId } }: HeldReplica): void {
    this.#resources.end(incarnation, replicaId);
  }

  /** An agent's process is gone, and what it ran with it. */
  endAllRuns(incarnation: string): void {
    this.#slots.delete(incarnation);
    this.#resources.endAll(incarnation);
  }

  /** Longest work of any task of the scenario. */
  static longestWork({ jobs }: Scenario): Duration {
    return jobs.reduce((longest, { meanTaskTime, spread }) => Math.max(longest, meanTaskTime * (1 + spread)), 0);
  }
}
