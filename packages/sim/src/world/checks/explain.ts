import {
  explainJob,
  explainRequest,
  explainTask,
  listMachineRecords,
  listProviders,
  listRequests,
} from '@mutirao/core/machines/broker';
import { invariant } from '@mutirao/core/shared';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** Every question has an answer, whatever the state. */
export class ExplainCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const broker = this.#world.broker.current?.process;
    if (broker === undefined) return;
    const { state, now } = broker;
    for (const job of state.jobs.values()) {
      const explained = explainJob(state, 'user', job.jobId, now);
      invariant(explained !== undefined, `job ${job.jobId} is not explained`);
      for (let taskIndex = 0; taskIndex < job.taskCount; taskIndex += 7) {
        invariant(
          explainTask(state, { userId: 'user', jobId: job.jobId, taskIndex, past: [] }, now),
          `task ${taskIndex} of job ${job.jobId} is not explained`,
        );
      }
    }
    for (const name of state.requests.keys())
      invariant(explainRequest(state, name, now), `request ${name} is not explained`);
    listMachineRecords(state, now);
    listRequests(state, true);
    listProviders(state);
  }
}
