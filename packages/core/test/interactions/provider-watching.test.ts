import test from 'ava';
import { sayReason } from '@mutirao/api/reasons';
import {
  takeSnapshot,
  restoreSnapshot,
  type ProviderConfig,
  type ProviderSnapshot,
} from '@mutirao/core/machines/provider';
import { checkInteractions, describeFacts, ProviderHarness, WatchingHeuristic } from '@mutirao/testkit';

/**
 * A harness with a provider whose heuristic watches; beside the usual lines `asked` tells what it was asked with since
 * the last such line, `why Q` and `why` reasons.
 */
function openHarness(config: Partial<ProviderConfig> = {}): (lines: readonly string[]) => string {
  const heuristic = new WatchingHeuristic();
  const harness = new ProviderHarness({ heuristic: 'watching', findHeuristic: heuristic.find, ...config });
  let reported = 0;
  return (lines) => {
    const [verb, requestId] = (lines[0] ?? '').split(' ');
    if (verb === 'why')
      return (
        requestId === undefined ? harness.state.resourceStatus : (harness.state.requests.get(requestId)?.reasons ?? [])
      )
        .map((reason) => sayReason(reason))
        .join('\n');
    if (verb === 'deserialize') {
      harness.state = restoreSnapshot(
        harness.config,
        JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
      );
      return '';
    }
    if (verb !== 'asked') return harness.perform(lines);
    const answer = heuristic.asked.slice(reported).map(describeFacts).join('\n');
    reported = heuristic.asked.length;
    return answer;
  };
}

test('a heuristic that watches is asked at what happens, gives up what waits, and gets the slot when the manager has confirmed that', (t) => {
  checkInteractions(t, new URL('provider-watching.txt', import.meta.url), openHarness());
});

test('what is asked of a manager within an hour is bounded, also across restarts and when the clock is set back', (t) => {
  checkInteractions(
    t,
    new URL('provider-watching-budget.txt', import.meta.url),
    openHarness({ perHour: { submissions: 4, withdrawals: 1 } }),
  );
});

test('a queue that is hidden, stale or makes no sense, limits that change and gangs make no request beyond the limits and no loop', (t) => {
  checkInteractions(t, new URL('provider-watching-trouble.txt', import.meta.url), openHarness());
});
