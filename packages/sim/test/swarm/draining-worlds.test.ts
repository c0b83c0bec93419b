import test from 'ava';
import { drawScenario, runWorld, type JobPlan, type LabPlan, type Scenario } from '../../src/index.ts';

/** Machines that are there whenever nothing goes wrong. */
const hall: LabPlan = {
  machines: [1, 1, 2, 1].map((processors) => ({ processors, speed: 1, isLiar: false })),
  downTime: 1000,
};

/** Providers are drained, again and again, some at once; of each three jobs of a world one is of gangs. */
function draining(scenario: Scenario): Scenario {
  const jobs = scenario.jobs.map(
    ({ voteCount, credibility, reservation, scheduler, ...job }, index): JobPlan =>
      index % 3 === 1
        ? { ...job, taskCount: Math.min(job.taskCount, 20), gangProcessors: 2 }
        : {
            ...job,
            ...(scheduler === undefined ? {} : { scheduler }),
            ...(voteCount === undefined ? {} : { voteCount }),
            ...(credibility === undefined ? {} : { credibility }),
            ...(reservation === undefined ? {} : { reservation }),
          },
  );
  return { ...scenario, jobs, labs: [...scenario.labs, hall], drainsPerHour: 30 };
}

test('while providers are drained, restarted and undrained nothing is placed there, no task fails by it, and all comes to its end', (t) => {
  let runCount = 0;
  for (let seed = 0; seed < 8; seed += 1) {
    const { failure, runCount: runs } = runWorld(draining(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
    runCount += runs;
  }
  t.true(runCount > 100, `${runCount} runs`);
});
