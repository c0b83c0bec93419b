import type { AssignedTask, SiteSelectionResource } from '../../../site-selection/index.ts';
import type { Cause, GetReason } from '../../../reasons/index.ts';
import type { Duration, TaskIndex } from '../../../shared/index.ts';
import type { BrokerProvider, TaskQueue } from '../state.ts';
import { type Turn, wakeBy } from '../turn.ts';
import { isDraining } from '../machines/takes-work.ts';
import { adaptiveFor } from './choosing.ts';
import { choiceFor } from './choice-for.ts';
import type { SiteAssignment } from './assignment.ts';
import type { ResourceView } from './resource-view.ts';

/** Between two looks at what starts too late at a provider. */
const lookEvery: Duration = 60_000;

/** Why tasks cannot stay at a provider. */
type Move = Pick<GetReason<'site-left'>, 'formerProviderId' | 'moved'>;

/** Finds out whether tasks that wait at a provider stay there. */
export class Mover {
  readonly #turn: Turn;
  readonly #part: TaskQueue;
  readonly #provider: BrokerProvider;
  readonly #view: () => ResourceView;

  /** @param part of a queue, assigned to one provider. @param view made on first use. */
  constructor(turn: Turn, part: TaskQueue, view: () => ResourceView) {
    this.#turn = turn;
    this.#part = part;
    this.#provider = part.place as BrokerProvider;
    this.#view = view;
  }

  /**
   * Why waiting tasks cannot stay; undefined if they can. A provider that is away has its grace, as its machines have.
   */
  whyNot(source: TaskQueue): Move | undefined {
    const { state, now } = this.#turn;
    const { providerId, awaySince } = this.#provider;
    if (awaySince !== undefined) {
      const due = awaySince + state.options.suspectGrace;
      if (due > now) wakeBy(this.#turn, due);
      return due > now ? undefined : { formerProviderId: providerId, moved: 'away' };
    }
    if (isDraining(this.#provider)) return { formerProviderId: providerId, moved: 'draining' };
    // Only reports of providers, or machines that come and go, change the answer.
    return this.#turn.mayChangeDemand &&
      isAnnouncedOf(this.#provider) &&
      this.#view().suits(source, this.#provider) === false
      ? { formerProviderId: providerId, moved: 'unsuitable' }
      : undefined;
  }

  /**
   * Moves the first tasks that are late, as long as another admissible resource would start them within half the time
   * by which they are late: at least
   * `lateAfter` behind the start that was foreseen when they were placed (where none was, behind their assignment).
   */
  moveLate(source: TaskQueue): SiteAssignment[] {
    const { state, now } = this.#turn;
    const moved: SiteAssignment[] = [];
    const lookAt = state.choosing.looks.get(this.#part) ?? 0;
    if (lookAt > now && lookAt <= now + lookEvery) {
      wakeBy(this.#turn, lookAt);
      return moved;
    }
    for (const index of this.#part.ready.values()) {
      const late = this.#lateBy(index);
      if (late < state.options.siteSelection.lateAfter) {
        wakeBy(this.#turn, now + state.options.siteSelection.lateAfter - late);
        return moved;
      }
      const assignment = this.#moveTo(source, index, late);
      if (assignment === undefined) break;
      moved.push(assignment);
    }
    state.choosing.looks.set(this.#part, now + lookEvery);
    wakeBy(this.#turn, now + lookEvery);
    return moved;
  }

  /** Which of the others would start a task first. */
  #soonest(
    resources: readonly SiteSelectionResource[],
    task: AssignedTask,
  ): { readonly resource: SiteSelectionResource; readonly wait: Duration } | undefined {
    let best: { readonly resource: SiteSelectionResource; readonly wait: Duration } | undefined;
    for (const resource of resources) {
      const wait = resource.name === this.#provider.providerId ? undefined : this.#view().waitOn(resource, task);
      if (wait !== undefined && (best === undefined || wait < best.wait)) best = { resource, wait };
    }
    return best;
  }

  /** By how long a task has waited beyond the start that was foreseen. */
  #lateBy(index: TaskIndex): Duration {
    const place = this.#part.job.assigned.get(index);
    return place === undefined ? 0 : this.#turn.now - (place.startsBy ?? place.at);
  }

  #moveTo(source: TaskQueue, index: TaskIndex, late: Duration): SiteAssignment | undefined {
    const { state, now } = this.#turn;
    const view = this.#view();
    const choice = choiceFor(state, source);
    if (choice === undefined) return undefined;
    const { table } = view.candidatesFor(source);
    const task = view.findTask(source.job, index);
    const range = table.sets.getRange(
      task.width,
      choice.admissibility === 'adaptive' ? adaptiveFor(state.choosing, view.sizes).value : choice.admissibility,
    );
    const best =
      range === undefined ? undefined : this.#soonest(table.resources.slice(range.first, range.last + 1), task);
    if (best === undefined || best.wait > late / 2) return undefined;
    view.assign(best.resource, task);
    const { providerId: formerProviderId } = this.#provider;
    const reason: Cause = { code: 'site-starts-sooner', waitMs: best.wait, formerProviderId, lateMs: late };
    return { taskIndex: index, providerId: best.resource.name, startsBy: now + best.wait, reason };
  }
}

/** Whether the provider has reported its resource: before that, nothing can be concluded from what is missing. */
function isAnnouncedOf({ isConnected, isSynced, resource }: BrokerProvider): boolean {
  return isConnected && isSynced && resource !== undefined;
}
