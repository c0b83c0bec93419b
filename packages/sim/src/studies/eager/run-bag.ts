import { Heap, invariant, type Instant } from '@mutirao/core/shared';
import type { BagPolicy, BagResult, BagSetup } from './bag-setup.ts';
import { BagState } from './bag-state.ts';
import { decide } from './decide.ts';
import type { IntermittentMachine, Run } from './intermittent-machine.ts';

/** Something that will happen: a machine comes or goes, a run ends, or the cap must be checked. */
interface Event {
  readonly at: Instant;
  /** Grows from event to event. */
  readonly order: number;
  readonly machine?: IntermittentMachine;
  readonly run?: Run;
}

/**
 * Runs a bag of tasks over machines that come and go: no messages and no latency, the broker learns of everything at
 * once.
 *
 * The same setup and policy, the same result; the machines and the tasks of a setup are the same under each policy.
 */
export function runBag(setup: BagSetup, policy: BagPolicy): BagResult {
  const events = new Heap<Event>((one, other) => one.at < other.at || (one.at === other.at && one.order < other.order));
  let order = 0;
  const push = (event: Omit<Event, 'order'>): void => {
    events.push({ ...event, order: order++ });
  };
  const state = new BagState(setup, policy, (run) => {
    push({ at: run.endsAt, run });
  });
  for (const machine of state.machines) push({ at: machine.changesAt, machine });
  const decideNow = (): void => {
    const lookAt = decide(state);
    if (lookAt < Infinity) push({ at: lookAt });
  };
  decideNow();
  while (state.doneCount < setup.taskCount) {
    const first = events.first;
    invariant(first, 'a bag is not done, and nothing will ever happen');
    state.now = first.at;
    for (let event: Event | undefined = first; event?.at === state.now; event = events.first) {
      events.pop();
      take(state, event);
      if (event.machine !== undefined) push({ at: event.machine.changesAt, machine: event.machine });
    }
    if (state.doneCount < setup.taskCount) decideNow();
  }
  state.result.makespan = state.now;
  return state.result;
}

function take(state: BagState, { machine, run }: Event): void {
  if (machine !== undefined) {
    machine.change();
    if (machine.run !== undefined) lose(state, machine.run);
  } else if (run !== undefined && run.machine.run === run) state.finish(run);
}

function lose(state: BagState, run: Run): void {
  state.stop(run, 'killed');
  if (run.task.runs.length === 0) state.returnToQueue(run.task);
}
