import test from 'ava';
import { drawScenario, runWorld, type JobPlan, type LabPlan, type Scenario } from '../../src/index.ts';

/** Five processors of one provider that are there whenever nothing goes wrong. */
const hall: LabPlan = {
  machines: [1, 1, 2, 1].map((processors) => ({ processors, speed: 1, isLiar: false })),
  downTime: 1000,
};

/** Of each two jobs of a world one is of gangs. */
function withGangs(scenario: Scenario): Scenario {
  const jobs = scenario.jobs.map(
    ({ voteCount, credibility, reservation, scheduler, ...job }, index): JobPlan =>
      index % 2 === 0
        ? {
            ...job,
            taskCount: Math.min(job.taskCount, 20),
            brokenTaskCount: Math.min(job.brokenTaskCount, 20),
            gangProcessors: 2 + (index % 4),
          }
        : {
            ...job,
            ...(scheduler === undefined ? {} : { scheduler }),
            ...(voteCount === undefined ? {} : { voteCount }),
            ...(credibility === undefined ? {} : { credibility }),
            ...(reservation === undefined ? {} : { reservation }),
          },
  );
  return { ...scenario, jobs, labs: [...scenario.labs, hall] };
}

/**
 * Worlds in which machines that have nothing to do are kept for gangs, some that lack processors and some that cannot
 * begin, while tasks wait.
 */
const keeping = [28, 59, 60];

test('under faults no member of a gang begins before all are held, no processor is leaked, and worlds with gangs come to their end', (t) => {
  let runCount = 0;
  for (const seed of [0, 1, 2, 3, 4, 5, 6, 7, ...keeping]) {
    const { failure, runCount: runs } = runWorld(withGangs(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
    runCount += runs;
  }
  t.true(runCount > 100, `${runCount} runs`);
});
