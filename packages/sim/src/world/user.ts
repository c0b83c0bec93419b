import type { BrokerInput } from '@mutirao/core/machines/broker';
import type { JobSpec, TaskGroup, Verification } from '@mutirao/core/messages';
import type { Duration, JobId, Reply } from '@mutirao/core/shared';
import type { Kernel } from './kernel.ts';
import { getEdges, predecessorsIn, readPath } from './plan-edges.ts';
import { findAlternatives, findRequest } from './plan-resources.ts';
import type { Promises } from './promises.ts';
import type { FakeReservationManager } from './fake-reservation-manager.ts';
import type { JobPlan } from './scenario.ts';
import { getLabel } from './truth.ts';

/** What a user needs. */
export interface UserSetup {
  readonly kernel: Kernel;
  readonly promises: Promises;
  readonly plans: readonly JobPlan[];
  /** The reservation that a job is submitted with. */
  readonly reservations: Pick<FakeReservationManager, 'shownFor'>;
  /** Asks the broker; `hear` gets undefined when no answer came. */
  ask(make: (replyTo: number) => BrokerInput, receive: (reply: Reply | undefined) => void): void;
}

const tryAgainAfter: Duration = 5_000;

/** Submits the jobs of a scenario, each until it is accepted, and cancels and retries those that the scenario names. */
export class SimulatedUser {
  readonly #setup: UserSetup;
  #openCount: number;
  /** Counts the journals of the broker. */
  #journal = 1;
  /** Plans that were accepted by the present one. */
  #accepted = new Set<number>();

  constructor(setup: UserSetup) {
    this.#setup = setup;
    this.#openCount = setup.plans.length;
    for (const [index, plan] of setup.plans.entries()) {
      setup.kernel.after(plan.submittedAfter, () => {
        this.#submit(index, plan);
      });
    }
  }

  /** Whether the user still has something to ask for. */
  get isWaiting(): boolean {
    return this.#openCount > 0;
  }

  /** The broker's journal is gone: the user submits accepted jobs again, and asks the next broker for the others. */
  loseJournal(): void {
    const { kernel, plans } = this.#setup;
    const lost = [...this.#accepted];
    this.#journal += 1;
    this.#accepted = new Set();
    this.#openCount += lost.length;
    for (const index of lost)
      kernel.after(tryAgainAfter, () => {
        this.#submit(index, plans[index] as JobPlan);
      });
  }

  #submit(index: number, plan: JobPlan, isReserved = true): void {
    const { kernel, promises, ask, reservations } = this.#setup;
    const gates = this.#findGates(index, plan);
    if (gates === undefined) {
      // The job that this one waits for has no number yet.
      kernel.after(tryAgainAfter, () => {
        this.#submit(index, plan, isReserved);
      });
      return;
    }
    const label = getLabel(index, this.#journal);
    const reservation = isReserved ? reservations.shownFor(String(index)) : undefined;
    const spec: JobSpec = { ...findSpec(label, plan), ...gates, ...(reservation === undefined ? {} : { reservation }) };
    ask(
      (replyTo) => ({ kind: 'JobSubmitted', replyTo, userId: 'user', clientJobId: label, spec }),
      (reply) => {
        if (reply?.ok !== true) {
          // Even if the reservation is over already, the user still needs the job.
          const isStillReserved = isReserved && reply === undefined;
          kernel.after(tryAgainAfter, () => {
            this.#submit(index, plan, isStillReserved);
          });
          return;
        }
        const { jobId } = reply.value as { readonly jobId: JobId };
        promises.reportAccepted(label, jobId);
        this.#accepted.add(index);
        this.#openCount -= 1;
        this.#spec(plan.cancelledAfter, (replyTo) => ({
          kind: 'JobCancelled',
          replyTo,
          userId: 'user',
          jobId,
          reason: 'the user changed her mind',
        }));
        this.#spec(plan.tasksCancelledAfter, (replyTo) => ({
          kind: 'TasksCancelled',
          replyTo,
          userId: 'user',
          jobId,
          taskIndexes: listUnwanted(plan),
          reason: 'the user wants fewer of them',
        }));
        this.#spec(plan.updatedAfter, (replyTo) => ({
          kind: 'JobUpdated',
          replyTo,
          userId: 'user',
          jobId,
          ...updateOf(plan),
        }));
        this.#spec(
          plan.heldAfter,
          (replyTo) => ({ kind: 'TasksHeld', replyTo, userId: 'user', jobId, taskIndexes: listHeld(plan) }),
          () => {
            this.#spec(heldFor, (replyTo) => ({
              kind: 'TasksReleased',
              replyTo,
              userId: 'user',
              jobId,
              taskIndexes: [],
            }));
          },
        );
        this.#spec(plan.retriedAfter, (replyTo) => ({
          kind: 'TasksRetried',
          replyTo,
          userId: 'user',
          jobId,
          taskIndexes: [],
        }));
      },
    );
  }

  /** What a plan's job waits for, at the time of the submission; undefined where that has no number yet. */
  #findGates(index: number, plan: JobPlan): Pick<JobSpec, 'after' | 'beginAt' | 'expireAt'> | undefined {
    const { kernel, promises, plans } = this.#setup;
    const { awaits, beginsAfter, expiresAfter } = plan;
    const times = {
      ...(beginsAfter === undefined ? {} : { beginAt: kernel.now + beginsAfter }),
      ...(expiresAfter === undefined ? {} : { expireAt: kernel.now + Math.max(expiresAfter, (beginsAfter ?? 0) + 1) }),
    };
    const before = plans[index - 1];
    if (awaits === undefined || before === undefined) return times;
    const jobId = promises.jobIdOf(getLabel(index - 1, this.#journal));
    if (jobId === undefined) return undefined;
    const condition = awaits === 'each' && before.taskCount !== plan.taskCount ? 'succeeded' : awaits;
    return { ...times, after: [{ jobId, condition }] };
  }

  /**
   * Asks for something after a while, again until there is an answer, be it a refusal: a job that has ended cannot be
   * cancelled.
   */
  #spec(after: Duration | undefined, make: (replyTo: number) => BrokerInput, then: () => void = () => undefined): void {
    if (after === undefined) return;
    this.#openCount += 1;
    const { kernel, ask } = this.#setup;
    const journal = this.#journal;
    const tryNow = (): void => {
      // A question about a job that is gone with its journal would be about another one.
      if (journal !== this.#journal) {
        this.#openCount -= 1;
        return;
      }
      ask(make, (reply) => {
        // A broker with a full disk refuses everything for a while.
        if (reply === undefined || (!reply.ok && reply.code === 'MUT_DISK_FULL')) kernel.after(tryAgainAfter, tryNow);
        else {
          this.#openCount -= 1;
          then();
        }
      });
    };
    kernel.after(after, tryNow);
  }
}

/** For how long a user holds tasks. */
const heldFor: Duration = 90_000;

/** The tasks that the user holds in a job with holds: all of one job, the first half of another. */
function listHeld({ taskCount }: JobPlan): number[] {
  return taskCount % 2 === 0 ? [] : Array.from({ length: Math.ceil(taskCount / 2) }, (_, index) => index);
}

/** What its user changes of how a job is served: it goes before others, and may run more, or less than all at once. */
export function updateOf({ priority = 0, runningMax }: JobPlan): {
  readonly priority: number;
  readonly runningMax: number;
} {
  return { priority: priority + 2, runningMax: runningMax === undefined ? 3 : 2 * runningMax };
}

/** Every third task of a plan, which its user cancels in a job with cancellations. */
export function listUnwanted({ taskCount }: Pick<JobPlan, 'taskCount'>): number[] {
  return Array.from({ length: Math.ceil(taskCount / 3) }, (_, index) => 3 * index);
}

/** How a plan's results are verified; undefined where nothing is said. */
export function getVerification({ voteCount = 0, credibility = 0 }: JobPlan): Verification | undefined {
  if (credibility > 0) return { kind: 'credibility', threshold: credibility };
  return voteCount > 0 ? { kind: 'vote', count: voteCount } : undefined;
}

function findWidth({ gangProcessors = 0, replicasMax }: JobPlan): Pick<JobSpec, 'processors' | 'gang' | 'replicasMax'> {
  return gangProcessors === 0
    ? { processors: 1, replicasMax }
    : { processors: gangProcessors, gang: true, replicasMax: 1 };
}

/** The job of a plan; its label is in the environment of its tasks, whence the world knows them again. */
export function findSpec(label: string, plan: JobPlan): JobSpec {
  return {
    label,
    environment: { SIMULATED_JOB: label },
    limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
    ...findWidth(plan),
    ...findRequest(plan),
    failuresMax: plan.failuresMax,
    ...(plan.runningMax === undefined ? {} : { runningMax: plan.runningMax }),
    ...(plan.priority === undefined ? {} : { priority: plan.priority }),
    ...(plan.failedTasksMax === undefined ? {} : { failedTasksMax: plan.failedTasksMax }),
    homeDirectory: '/home/user',
    deadline: undefined,
    verification: getVerification(plan),
    ...(plan.siteSelection === undefined ? {} : { siteSelection: plan.siteSelection }),
    ...(plan.scheduler === undefined ? {} : { scheduler: plan.scheduler }),
    ...(plan.replicationCap === undefined ? {} : { replicationCap: plan.replicationCap }),
    ...((plan.predecessorsMax ?? 0) === 0 ? {} : { edges: getEdges(plan) }),
    groups: listGroups(label, plan),
  };
}

/**
 * Where tasks wait for each other and write something, each is a group of its own that reads what those before it
 * wrote.
 */
function listGroups(label: string, plan: JobPlan): TaskGroup[] {
  const group: TaskGroup = {
    values: { kind: 'range', first: 0, count: plan.taskCount, step: 1 },
    command: 'work',
    noOp: false,
    requirements: '',
    inputs: Array.from({ length: plan.inputCount }, (_, index) => ({
      source: { kind: 'path' as const, path: `/home/user/${label}-${index}` },
      root: 'playpen' as const,
      path: `in${label}${index}`,
      condition: '',
    })),
    outputs: plan.hasOutput ? [{ root: 'playpen', path: 'out', localPath: '/home/user/out', condition: '' }] : [],
    check: plan.isChecked ? 'check' : '',
    ...findAlternatives(plan),
    // Every other planned job says how long its tasks take, and is not far off.
    ...(plan.scheduler === 'plan' && plan.taskCount % 2 === 0 ? { expectedTime: plan.meanTaskTime } : {}),
  };
  if (!plan.hasOutput || (plan.predecessorsMax ?? 0) === 0) return [group];
  return Array.from({ length: plan.taskCount }, (_, taskIndex) => ({
    ...group,
    values: { kind: 'range', first: taskIndex, count: 1, step: 1 },
    ...moldedTo(plan, taskIndex),
    inputs: [
      ...group.inputs,
      ...predecessorsIn(plan, taskIndex).map((before) => ({
        source: { kind: 'output' as const, taskIndex: before, path: 'out' },
        root: 'playpen' as const,
        path: readPath(before),
        condition: '',
      })),
    ],
  }));
}

/** Moldable tasks are among those of workflows, but gangs are all as wide. */
function moldedTo({ gangProcessors = 0 }: JobPlan, taskIndex: number): Pick<TaskGroup, 'processorsMax'> {
  return gangProcessors > 0 ? {} : { processorsMax: 1 + (taskIndex % 3) };
}
