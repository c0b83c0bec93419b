import {
  explainChoice,
  type AdaptiveAdmissibility,
  type SiteSelectionChoice,
  type SiteSelectionDecision,
  type SiteSelectionResource,
} from '../../../site-selection/index.ts';
import type { TaskIndex } from '../../../shared/index.ts';
import { type BrokerJob, type TaskQueue } from '../state.ts';
import { commit, type Turn, wakeBy } from '../turn.ts';
import { ReadyOrder } from '../workflow/ready-order.ts';
import { adaptiveFor } from './choosing.ts';
import { choiceFor } from './choice-for.ts';
import { Mover } from './move-assigned.ts';
import type { ChosenPlacing, SiteAssignment } from './assignment.ts';
import { type Candidates, ResourceView } from './resource-view.ts';

/**
 * Assigns ready tasks that take several processors to the providers' resources, by the strategy of their job or of the
 * grid, and moves waiting ones that cannot stay. A task keeps its assignment until it ends: one that is assigned
 * elsewhere was lost there, or started far too late.
 *
 * Assigns nothing while the broker waits for a provider, connected or known before, to report its resource. If no
 * suitable resource has a known size, tasks go wherever there is room, as they do without site selection. Cost: O(open
 * jobs and their queues); with an assignment or a move, that of `ResourceView`, and a decision for each of
 * `decisionsMax` tasks at most.
 */
export function chooseResources(turn: Turn): void {
  const placer = new Placer(turn);
  for (const job of turn.state.openJobs.values())
    if (job.status === 'running' && isOfInterest(turn, job)) placer.serve(job);
  if (placer.isExhausted) wakeBy(turn, turn.now + 1);
}

/** Most jobs are not placed, and cost nothing. */
function isOfInterest({ state: { choosing } }: Turn, { siteSelection, assigned, queues }: BrokerJob): boolean {
  return (
    (siteSelection ?? choosing.byDefault) !== 'none' ||
    assigned.size > 0 ||
    queues.some(({ place }) => place === 'undecided')
  );
}

class Placer {
  readonly #turn: Turn;
  readonly #order = new ReadyOrder();
  #awaits: boolean | undefined;
  #known: ResourceView | undefined;
  #learnt: AdaptiveAdmissibility | undefined;
  #left: number;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#left = turn.state.options.siteSelection.decisionsMax;
  }

  /** More tasks remain to be assigned, in another step. */
  get isExhausted(): boolean {
    return this.#left <= 0;
  }

  get #isAwaiting(): boolean {
    this.#awaits ??= awaits(this.#turn);
    return this.#awaits;
  }

  /** What follows the load; it learns from all that is placed, once anything is placed by it. */
  get #adaptive(): AdaptiveAdmissibility {
    this.#learnt ??= adaptiveFor(this.#turn.state.choosing, this.#view.sizes);
    return this.#learnt;
  }

  get #view(): ResourceView {
    this.#known ??= new ResourceView(this.#turn.state, this.#turn.now);
    return this.#known;
  }

  serve(job: BrokerJob): void {
    const assignments: SiteAssignment[] = [];
    for (const queue of job.queues) {
      if (queue.source === undefined) this.#assignFrom(queue, assignments);
      else if (queue.ready.size > 0 && !this.#isAwaiting) this.#reconsider(queue, queue.source, assignments);
    }
    if (assignments.length > 0)
      commit(this.#turn, { kind: 'TasksAssigned', jobId: job.jobId, assignments, at: this.#turn.now });
  }

  #assignFrom(queue: TaskQueue, assignments: SiteAssignment[]): void {
    const choice = choiceFor(this.#turn.state, queue);
    queue.place = choice === undefined ? undefined : 'undecided';
    if (choice === undefined || queue.readyCount === 0 || this.#isAwaiting) {
      // A wider resource may appear while nothing is placed, and the entry must be gone when this is checked again.
      this.#turn.state.choosing.tooWide.delete(queue);
      return;
    }
    const { aheadMax } = this.#turn.state.options.siteSelection;
    const room = aheadMax - countWaiting(queue);
    // Only when half of the places are free, so that the view is not computed for each task that begins.
    if (room < aheadMax / 2 || this.#isHopeless(queue)) return;
    const candidates = this.#view.candidatesFor(queue);
    if (isNobodyKnown(queue, candidates)) queue.place = undefined;
    else this.#assignTasks(queue, room, { choice, candidates }, assignments);
  }

  /** Whether no resource was wide enough for it, and nothing has come in since that could change this. */
  #isHopeless(queue: TaskQueue): boolean {
    const {
      state: { choosing },
      mayChangeDemand,
    } = this.#turn;
    return choosing.tooWide.has(queue) && !mayChangeDemand;
  }

  #assignTasks(
    queue: TaskQueue,
    roomMax: number,
    { choice, candidates }: { readonly choice: SiteSelectionChoice; readonly candidates: Candidates },
    assignments: SiteAssignment[],
  ): void {
    const { state, now } = this.#turn;
    let room = roomMax;
    state.choosing.tooWide.delete(queue);
    for (const index of this.#order.getTasks(queue)) {
      if (this.#left <= 0 || room-- <= 0) return;
      const assignment = this.#choose(queue, index, choice, candidates);
      if (assignment === undefined) {
        state.choosing.tooWide.add(queue);
        return;
      }
      if (state.choosing.adaptive !== undefined) this.#adaptive.noteArrival(queue.processors, now);
      assignments.push(assignment);
    }
  }

  /** Undefined where no resource is wide enough. */
  #choose(
    queue: TaskQueue,
    taskIndex: TaskIndex,
    choice: SiteSelectionChoice,
    { table }: Candidates,
  ): ChosenPlacing | undefined {
    const {
      state: {
        choosing,
        options: {
          siteSelection: { staleAfter },
        },
      },
      now,
    } = this.#turn;
    this.#left -= 1;
    const admissibility = choice.admissibility === 'adaptive' ? this.#adaptive.value : choice.admissibility;
    const task = this.#view.findTask(queue.job, taskIndex);
    const decision: SiteSelectionDecision = table.decide(
      { strategy: choice.strategy, admissibility, staleAfter },
      task,
      0,
      choosing.prng,
    );
    if (decision.kind === 'too-wide') return undefined;
    const resource = table.resources[decision.index] as SiteSelectionResource;
    const wait = this.#view.waitOn(resource, task);
    this.#view.assign(resource, task);
    return {
      taskIndex,
      providerId: resource.name,
      ...(wait === undefined ? {} : { startsBy: now + wait }),
      reason: explainChoice(
        decision,
        table.resources.map(({ name }) => name),
      ),
    };
  }

  /** Moves waiting tasks that cannot stay, and the first of those that start too late. */
  #reconsider(part: TaskQueue, source: TaskQueue, assignments: SiteAssignment[]): void {
    const { state } = this.#turn;
    const mover = new Mover(this.#turn, part, () => this.#view);
    const why = mover.whyNot(source);
    if (why === undefined) {
      assignments.push(...mover.moveLate(source));
      return;
    }
    const choice = choiceFor(state, source);
    const candidates = this.#view.candidatesFor(source);
    for (const index of part.ready.values()) {
      if (this.#left <= 0) return;
      const assignment = choice === undefined ? undefined : this.#choose(source, index, choice, candidates);
      if (assignment !== undefined) assignments.push({ ...assignment, reason: { ...assignment.reason, ...why } });
      else if (candidates.hasUnknown || choice === undefined)
        assignments.push({ taskIndex: index, providerId: '', reason: { code: 'site-left', ...why } });
      else return;
    }
  }
}

/** Whether the broker waits for a provider to report its resource. */
function awaits(turn: Turn): boolean {
  let is = false;
  for (const { resourceAwaitedUntil: until } of turn.state.providers.values()) {
    if (until === undefined || until <= turn.now) continue;
    is = true;
    // Without open jobs there is nothing to wait for, and a report wakes the broker sooner.
    if (turn.state.openJobs.size > 0) wakeBy(turn, until);
  }
  return is;
}

/**
 * Whether nothing that would do is known, and a provider is there that may do: then tasks go wherever there is room.
 */
function isNobodyKnown({ processors }: TaskQueue, { table, hasUnknown }: Candidates): boolean {
  return hasUnknown && table.sets.firstOf(processors) === undefined;
}

/** Tasks of a whole queue that are placed and wait. */
export function countWaiting(queue: TaskQueue): number {
  let count = 0;
  for (const part of queue.job.queues) if (part.source === queue) count += part.ready.size;
  return count;
}
