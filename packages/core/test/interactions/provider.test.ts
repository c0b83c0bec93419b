import test from 'ava';
import { sayReason } from '@mutirao/api/reasons';
import { takeSnapshot, restoreSnapshot, type ProviderSnapshot } from '@mutirao/core/machines/provider';
import { heuristicDefaults } from '@mutirao/core/requests';
import { checkInteractions, ProviderHarness } from '@mutirao/testkit';

const walks = {
  'provider-allocation': 'a demand becomes requests, these become machines, and what is surplus goes back',
  'provider-growing-bag':
    'of a bag that grows only what has no place is asked for, and what is not needed for a moment only is not given up',
  'provider-recovery': 'after a kill the provider adopts requests and agents before it settles with its broker',
  'provider-listings': 'listings that fail, lag or lack a request end nothing too early and nothing twice',
  'provider-requeued':
    'a request that its manager puts back into its queue waits again, and its next start is a start of its own',
  'provider-refusals': 'refusals make it pause, and then stop until new demand comes up',
  'provider-wide-tasks':
    'for tasks that no machine of an allocation could hold nothing is asked, and what was asked goes back',
  'provider-broker-away': 'a broker that reconnects receives its machines again, from agents that present themselves',
  'provider-reservations':
    'what is wanted inside a reservation is asked for with its claim, kept apart from all else, and given up ' +
    'when it is over',
  'provider-resource':
    'a broker that asks for the queue receives it: at once, when it changes, at most once a second, ' +
    'and seldom when it does not',
  'provider-clock':
    'when the clock is set graces and pauses last as long as they were meant to, forwards and backwards',
  'provider-credentials': 'an allocation whose walltime is long over has no agents, whatever its manager does not say',
} as const;

for (const [name, title] of Object.entries(walks)) {
  test(title, (t) => {
    const harness = new ProviderHarness();
    checkInteractions(t, new URL(`${name}.txt`, import.meta.url), (lines) => harness.perform(lines));
  });
}

test('allocations whose agents die at once are asked for less and less often, also after a restart', (t) => {
  const harness = new ProviderHarness();
  checkInteractions(t, new URL('provider-dying-agents.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('where requests hold whole nodes, whole nodes are asked for', (t) => {
  const harness = new ProviderHarness();
  checkInteractions(t, new URL('provider-whole-nodes.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('time-shared machines go to the broker with demand and change hands only when their agent holds nothing', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  checkInteractions(t, new URL('provider-time-shared.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('while a broker is away the provider keeps what machines report, gives them what it was leased, and delivers when the broker is back', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines', keptBytesMax: 350 });
  checkInteractions(t, new URL('provider-standby.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('a standby whose machines come and go starts nothing of a lease that runs, and has no machine count as lost before all that was kept of it is acknowledged', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  checkInteractions(t, new URL('provider-standby-losses.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('a provider that pre-acquires requests ahead of reservations, gives allocations to the claim at the start, and withdraws those of cancelled or moved ones', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 10_000 } });
  checkInteractions(t, new URL('provider-held.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('what is held follows a reservation that is renegotiated or moved, as far as it lasts into its new place, and never is more than is needed', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 10_000 } });
  checkInteractions(t, new URL('provider-held-moved.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('a broker that lost its journal gets nothing that was leased to, kept for or held for the one before it', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  checkInteractions(t, new URL('provider-replaced-broker.txt', import.meta.url), (lines) => harness.perform(lines));
  const { state, config } = harness;
  const deserialized = restoreSnapshot(config, JSON.parse(JSON.stringify(takeSnapshot(state))) as ProviderSnapshot);
  t.deepEqual(
    [...deserialized.brokers.values()].map(({ instance }) => instance),
    ['three'],
  );
});

test('a standby starts nothing that a former journal leased, even if the next one goes away before it has leased anything', (t) => {
  const startsAfter = (...lines: string[]): boolean => {
    const harness = new ProviderHarness({ resourceKind: 'machines' });
    harness.perform([
      'start',
      'limits requests=2 width=4 walltime=60000',
      'connect b instance=one',
      'demand b 0',
      'lease b 1 horizon=60000 10-19',
      ...lines,
    ]);
    harness.perform(['at 6000']);
    return harness.perform(['attach m']).includes('of lease 1');
  };
  t.true(startsAfter('disconnect b'));
  t.false(startsAfter('disconnect b', 'connect b instance=two', 'disconnect b'));
});

test('agents of an allocation, whenever they come back, end what they hold of a former journal first, also after a restart from a snapshot', (t) => {
  const harness = new ProviderHarness();
  const perform = (...lines: string[]): string[] =>
    harness
      .perform(lines)
      .split('\n')
      .filter((line) => /clear|joined/.test(line));
  perform('start', 'limits requests=1 width=1 walltime=90000', 'connect b instance=one', 'demand b 1');
  perform('listing');
  perform('accepted q1');
  t.deepEqual(perform('attach q1.0'), ['tell b joined p/q1.0 until=90001']);
  perform('detach q1.0');
  perform('at 20000'); // The machine is lost.
  t.is(harness.state.machines.size, 0);
  perform('connect b instance=two', 'demand b 1');
  harness.state = restoreSnapshot(
    harness.config,
    JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
  );
  perform('start', 'connect b instance=two', 'demand b 1');
  t.deepEqual(perform('attach q1.0 held=1'), ['clear p/q1.0 of 1']);
  perform('detach q1.0');
  harness.state = restoreSnapshot(
    harness.config,
    JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
  );
  perform('start', 'connect b instance=two', 'demand b 1');
  t.deepEqual(perform('attach q1.0 held=1'), ['clear p/q1.0 of 1']);
  perform('detach q1.0');
  t.deepEqual(perform('attach q1.0'), ['tell b joined p/q1.0 until=90001']);
});

test('what is kept for one broker says nothing of replicas of the same number that another leased', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  checkInteractions(t, new URL('provider-standby-two-brokers.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('a standby starts nothing that its broker left out of a repeated lease, and leaves machines alone that break what they get', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  checkInteractions(t, new URL('provider-standby-limits.txt', import.meta.url), (lines) => harness.perform(lines));
});

test('a standby starts nothing that its broker placed since it leased it, also after a restart', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  checkInteractions(t, new URL('provider-standby-trim.txt', import.meta.url), (lines) => harness.perform(lines));
});

/** A standby of broker b, which leased it 10 to 19, with a machine that was kept waiting. */
function aStandby(quarantined = ''): ProviderHarness {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  harness.perform(['start', 'limits requests=2 width=4 walltime=60000', 'connect b', 'demand b 0']);
  harness.perform([`lease b 1 horizon=60000 ${quarantined} 10-19`.replace('  ', ' ')]);
  harness.perform(['at 1000', 'disconnect b']);
  harness.perform(['at 6000']);
  return harness;
}

test('a machine whose disk is full gets nothing of a lease for ten seconds, and then as much as before', (t) => {
  const harness = aStandby();
  t.regex(harness.perform(['attach m']), /start 10,11 of lease 1/);
  t.notRegex(harness.perform(['report m 1 10,11 100 full']), /start/);
  t.notRegex(harness.perform(['at 15999', 'measured x count=0']), /start/);
  t.regex(harness.perform(['at 16000']), /start 12,13 of lease 1/);
});

test('a new run of an agent is not left alone for what the former one broke', (t) => {
  const harness = aStandby();
  harness.perform(['attach m']);
  for (const [sequence, ids] of [
    [1, '10,11'],
    [2, '12'],
    [3, '13'],
  ] as const)
    harness.perform([`report m ${sequence} ${ids} 100 broken`]);
  t.notRegex(harness.perform(['at 7000', 'detach m', 'attach m']), /start/);
  t.regex(harness.perform(['detach m', 'attach m incarnation=2']), /start 14,15 of lease 1/);
});

test('a standby gives nothing to a machine that was caught, whatever it is called, also after a restart', (t) => {
  const harness = aStandby('caught=iron,p/n');
  t.notRegex(harness.perform(['attach m identity=iron', 'attach n']), /start/);
  harness.perform(['restart']);
  t.notRegex(harness.perform(['attach m identity=iron']), /start/);
  t.regex(harness.perform(['attach o']), /start 10,11 of lease 1 on p\/o/);
});

test('a machine that was caught since its broker leased gets nothing after the lease is sent again', (t) => {
  const harness = aStandby();
  harness.perform(['connect b']);
  harness.perform(['lease b 1 horizon=60000 caught=p/m 10-19']);
  harness.perform(['disconnect b']);
  harness.perform(['at 11000']);
  t.notRegex(harness.perform(['attach m']), /start/);
});

test('a switch of the heuristic decides what is asked for next, outlives a restart, and gives way to other settings', (t) => {
  const harness = new ProviderHarness({ heuristicOptions: { ...heuristicDefaults, defaultTime: 10_000 } });
  checkInteractions(t, new URL('provider-heuristic.txt', import.meta.url), (lines) => {
    // Who decided last.
    if (lines[0] !== 'who') return harness.perform(lines);
    const drafted = harness.journal.flatMap((change) => (change.kind === 'RequestDrafted' ? [change] : [])).at(-1);
    return `${drafted?.requestId ?? 'none'} by ${drafted?.heuristic ?? 'nobody'}: ${drafted?.reasons[0] === undefined ? '' : sayReason(drafted.reasons[0])}`;
  });
});

test('the adaptive heuristic fills the hole that starts at once, learns the task time, and asks for what comes next', (t) => {
  const harness = new ProviderHarness({
    heuristic: 'adaptive',
    heuristicOptions: { ...heuristicDefaults, defaultTime: 10_000 },
  });
  checkInteractions(t, new URL('provider-adaptive.txt', import.meta.url), (lines) => harness.perform(lines));
});
