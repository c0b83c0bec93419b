// Bags of tasks on a cluster whose provider asks by the heuristics that learn.
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { callUnary } from '@mutirao/runtime/rpc';
import { Grid, taskGroup } from '@mutirao/testkit';

for (const heuristic of ['initial', 'adaptive', 'mixed']) {
  test.serial(
    `a bag larger than one allocation is done under the ${heuristic} heuristic, which learns how long its tasks are`,
    async (t) => {
      const grid = await Grid.start({
        clusters: [2],
        clusterArgs: ['--walltime-max', '5s', '--requests-max', '1'],
        providerArgs: ['--heuristic', heuristic, '--default-task-time', '2s'],
      });
      try {
        const jobId = await grid.client.submit([taskGroup('sleep 0.7', 20)]);
        const job = await grid.client.waitEnded(jobId);
        t.is(job.status, JobStatus.FINISHED);
        const { requests } = await callUnary(
          grid.client.raw,
          'listRequests',
          { includeEnded: true },
          { deadlineMs: 60_000 },
        );
        const reasons = requests.flatMap((request) => request.reasons.map(({ code }) => code));
        t.true(requests.length >= 2, 'twenty tasks of 0.7 s on two processors outlive an allocation of 5 s');
        t.true(requests.every((request) => request.heuristic === heuristic));
        const isLearning = heuristic === 'mixed' ? 'mixed-largest-request' : 'task-time-default';
        t.true(reasons.includes(isLearning), reasons.join('\n'));
        t.true(
          reasons.some((code) => /^task-time-from-(longest-here|idle-requests)$/.test(code)),
          reasons.join('\n'),
        );
        if (heuristic === 'initial') return;
        const compared = requests.find(({ candidates }) => candidates.some(({ chosen }) => chosen));
        t.truthy(compared, 'no request has its candidates');
        t.regex(
          await grid.client.explain({ $case: 'request', value: `${compared!.providerId}/${compared!.requestId}` }),
          /Candidate \(chosen\): 2 processors/,
        );
      } finally {
        await grid.stop();
      }
    },
  );
}
