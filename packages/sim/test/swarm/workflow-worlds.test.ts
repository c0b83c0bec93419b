import test from 'ava';
import { drawScenario, runWorld, type JobPlan, type Scenario } from '../../src/index.ts';

/**
 * All jobs of a world wait within themselves; every other one passes data, which machines keep and lose as they go and
 * come.
 */
function withEdges(scenario: Scenario): Scenario {
  return {
    ...scenario,
    jobs: scenario.jobs.map(
      ({ voteCount: _votes, credibility: _credibility, ...job }, index): JobPlan => ({
        ...job,
        predecessorsMax: 1 + (index % 3),
        hasOutput: index % 2 === 0,
      }),
    ),
  };
}

test('under faults no task of a workflow begins before its predecessors were accepted, none reads anything but accepted outputs, and ten worlds of workflows come to their end', (t) => {
  let runCount = 0;
  for (let seed = 0; seed < 10; seed += 1) {
    const { failure, runCount: runs } = runWorld(withEdges(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
    runCount += runs;
  }
  t.true(runCount > 100, `${runCount} runs`);
});

test('under faults worlds whose workflows and bags are placed by a plan come to their end', (t) => {
  let runCount = 0;
  for (let seed = 20; seed < 30; seed += 1) {
    const scenario = drawScenario(String(seed));
    const jobs = withEdges(scenario).jobs.map(
      (job, index): JobPlan => ({ ...job, ...(index % 3 === 2 ? { predecessorsMax: 0 } : {}), scheduler: 'plan' }),
    );
    const { failure, runCount: runs } = runWorld({ ...scenario, jobs });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
    runCount += runs;
  }
  t.true(runCount > 100, `${runCount} runs`);
});
