import { moveInstants, movedBy, type Duration } from '../../shared/index.ts';
import { isPending, type OwnRequest, type ProviderState } from './state.ts';

const promisedOfRequest = ['submittedAt', 'startedAt', 'promisedStart'] as const satisfies readonly (keyof OwnRequest)[];

/** Moves what the journal keeps along with the clock. */
export function movePromised(state: ProviderState, by: Duration): void {
  moveInstants(state, ['pausedUntil'], by);
  state.asked.submissions = state.asked.submissions.map((at) => movedBy(at, by));
  state.asked.withdrawals = state.asked.withdrawals.map((at) => movedBy(at, by));
  for (const broker of state.brokers.values()) moveInstants(broker, ['deputySince'], by);
  for (const request of state.requests.values()) if (isPending(request)) moveInstants(request, promisedOfRequest, by);
}
