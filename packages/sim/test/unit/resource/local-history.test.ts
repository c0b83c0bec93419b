import test from 'ava';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type TracedRequest,
} from '@mutirao/core/queue';
import { Prng } from '@mutirao/core/shared';
import { LocalHistory, SimulatedResource, type ResourceSetup } from '@mutirao/sim';

function aSetup(policy: ResourceSetup['policy']): ResourceSetup {
  const prng = new Prng('local users');
  let at = 50;
  const trace: TracedRequest[] = Array.from({ length: 3000 }, () => {
    at += prng.below(4);
    const walltime = 1 + prng.below(30);
    return { submittedAt: at, width: 1 + prng.below(6), walltime, runTime: 1 + prng.below(walltime) };
  });
  return { policy, processors: 16, trace };
}

function describe({ plan, submittedCount, nextInstant }: SimulatedResource): unknown {
  const entries = [...plan.running.values(), ...plan.waiting.values()].map(({ id, startsAt }) => [id, startsAt]);
  return {
    submittedCount,
    nextInstant,
    entries,
    free: [...plan.profile.segments(nextInstant)].slice(1),
    first: plan.profile.freeAt(nextInstant),
  };
}

for (const policy of [
  conservativeBackfilling('start-now'),
  conservativeBackfilling('reinsert'),
  easyBackfilling,
  firstComeFirstServed,
]) {
  test(`under ${policy.name} a resource taken from a checkpoint is the one that a replay from the start leads to`, (t) => {
    const setup = aSetup(policy);
    const history = new LocalHistory(setup);
    for (let instant = 0; instant < history.end + 100; instant += 377) {
      const straight = new SimulatedResource(setup);
      straight.advance(instant);
      t.deepEqual(describe(history.resourceAt(instant)), describe(straight));
    }
  });
}

test('resources of one history do not meet', (t) => {
  const history = new LocalHistory(aSetup(conservativeBackfilling('reinsert')));
  const instant = (history.start + history.end) / 2;
  const before = describe(history.resourceAt(instant));
  history.resourceAt(instant).advance(Infinity);
  t.deepEqual(describe(history.resourceAt(instant)), before);
});

test('a history begins with the first submission and ends with the last end', (t) => {
  const trace = [
    { submittedAt: 5, width: 2, walltime: 100, runTime: 40 },
    { submittedAt: 6, width: 2, walltime: 10, runTime: 10 },
  ];
  const { start, end } = new LocalHistory({ policy: firstComeFirstServed, processors: 2, trace });
  t.deepEqual([start, end], [5, 55]);
});
