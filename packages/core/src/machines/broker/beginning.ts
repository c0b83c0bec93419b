import { workqueue } from '../../bag/index.ts';
import type { Beginning } from '../../debugging-trace/index.ts';
import { invariant, type Instant } from '../../shared/index.ts';
import type { BrokerOptions } from './options.ts';
import { restore } from './restore.ts';
import { resume } from './resume.ts';
import { snapshot } from './snapshot.ts';
import type { BrokerState } from './state.ts';

const schedulers = [workqueue];

/** Describes a state as its journal told it, before `resume` and any step, for the head of a trace. Cost: that of a snapshot. */
export function saveBrokerBeginning(state: BrokerState): Beginning {
  const { scheduler, ...options } = state.options;
  return { options: { ...options, scheduler: scheduler.name }, state: JSON.parse(snapshot(state)) };
}

/** Makes the state that was saved, resumed at `at`. @throws {InvariantError} for a scheduler or a snapshot that this release does not know. */
export function openBrokerBeginning(saved: Beginning, at: Instant): BrokerState {
  const options = saved.options as Omit<BrokerOptions, 'scheduler'> & { readonly scheduler: string };
  const scheduler = schedulers.find(({ name }) => name === options.scheduler);
  invariant(scheduler, `there is no scheduler ${options.scheduler}`);
  const state = restore(JSON.stringify(saved.state), { ...options, scheduler });
  resume(state, at);
  return state;
}
