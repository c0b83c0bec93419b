import test from 'ava';
import { parseJobs, parseOwnJobs, type JobListing, type SlurmJob } from '../../../src/slurm/parse-queue.ts';
import { unlimitedWalltime } from '../../../src/unlimited-walltime.ts';

// As Slurm 22.05 of Debian 12 wrote it, with TZ=UTC.
const recorded = `5|root|1|1-00:00:00|COMPLETED|2026-11-20T18:59:45|2026-11-20T18:59:46|2026-11-20T18:59:46|None|main|wrap
2_1|root|32|1-02:04:00|PENDING|2026-11-20T18:59:45|N/A|N/A|PartitionTimeLimit|main|we"i|rd
na;me é
2_2|root|32|1-02:04:00|PENDING|2026-11-20T18:59:45|N/A|N/A|PartitionTimeLimit|main|we"i|rd
na;me é
7|root|1|UNLIMITED|PENDING|2026-11-20T18:59:46|N/A|N/A|PartitionConfig|main|wrap
1|root|3|1:00|RUNNING|2026-11-20T18:59:45|2026-11-20T18:59:45|2026-11-20T19:00:45|None|main|abc.q1
3|root|100|1-00:00:00|CANCELLED|2026-11-20T18:59:45|2026-11-20T18:59:48|2026-11-20T18:59:48|PartitionConfig|main|wrap
14|root|10|1:00|COMPLETING|2026-11-20T20:00:02|2026-11-20T20:00:03|2026-11-20T20:00:04|NonZeroExitCode|main|i1.q4
12|root|10|1:00|FAILED|2026-11-20T19:59:49|2026-11-20T19:59:49|2026-11-20T19:59:49|NonZeroExitCode|main|i1.q2
13|root|10|1:00|TIMEOUT|2026-11-20T20:00:00|2026-11-20T20:00:01|2026-11-20T20:01:10|TimeLimit|main|i1.q3
`;

function getJobs(listing: JobListing): readonly SlurmJob[] {
  if (listing.kind === 'garbage') throw new Error(`garbage: ${listing.line}`);
  return listing.jobs;
}

/** Midnight of the recorded day. */
const day = 1_795_132_800_000;

function at(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return day + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

test('a listing of our own jobs is read with names of several lines, quotes and bars', (t) => {
  const jobs = getJobs(parseOwnJobs(recorded));
  t.deepEqual(
    jobs.map(({ id }) => id),
    ['1', '2_1', '2_2', '3', '5', '7', '12', '13', '14'],
  );
  t.is(jobs[1]?.request.clientRequestId, 'we"i|rd\nna;me é');
  t.is(jobs[1]?.reason, 'PartitionTimeLimit');
  t.deepEqual(jobs[0]?.request, {
    managerRequestId: '1',
    userId: 'root',
    width: 3,
    walltime: 60_000,
    status: 'running',
    submittedAt: at('18:59:45'),
    startsAt: at('18:59:45'),
    endedAt: 0,
    endReason: '',
    clientRequestId: 'abc.q1',
  });
});

test('of a job that is just completing nobody says yet how it ended', (t) => {
  const line = (reason: string): string =>
    `<job>15|root|1|1:00|COMPLETING|2026-11-20T20:00:02|2026-11-20T20:00:03|2026-11-20T20:00:04|${reason}|main|i1.q5\n`;
  for (const [reason, endReason] of [
    ['None', ''],
    ['NonZeroExitCode', 'FAILED, NonZeroExitCode'],
    ['TimeLimit', 'MUT_WALLTIME_ENDED'],
  ] as const)
    t.like(getJobs(parseOwnJobs(line(reason)))[0]?.request, { status: 'ended', endReason });
});

test("a line of a job's name is not read as a job, whatever it looks like", (t) => {
  const line = (id: number, name: string): string =>
    `<job>${id}|root|1|5:00|PENDING|2026-11-20T18:59:45|N/A|N/A|None|main|${name}\n`;
  const jobs = getJobs(
    parseOwnJobs(`${line(1, 'x\n12|root|1')}${line(2, `y\n${line(3, 'z').slice(5)}`)}${line(4, '')}`),
  );
  t.deepEqual(
    jobs.map(({ id, request }) => [id, request.clientRequestId.slice(0, 4)]),
    [
      ['1', 'x\n12'],
      ['2', 'y\n3|'],
      ['4', ''],
    ],
  );
  t.is(parseOwnJobs(`${line(1, 'x')}<job>12|root|\n`).kind, 'garbage');
});

test('a job that could never be placed, which has no processors, spoils no listing', (t) => {
  const lines =
    '14|root|0|5:00|FAILED|2026-11-20T18:59:45|2026-11-20T18:59:45|2026-11-20T18:59:45|BadConstraints\n' +
    '15|ana|2|5:00|PENDING|2026-11-20T18:59:46|N/A|N/A|None\n';
  t.deepEqual(
    getJobs(parseJobs(lines)).map(({ id, request }) => [id, request.width, request.status]),
    [
      ['14', 1, 'ended'],
      ['15', 2, 'queued'],
    ],
  );
});

test('ended jobs have an end and a reason, and one that was cancelled while it waited never started', (t) => {
  const byId = new Map(getJobs(parseOwnJobs(recorded)).map(({ id, request }) => [id, request]));
  t.like(byId.get('5'), { status: 'ended', startsAt: at('18:59:46'), endedAt: at('18:59:46'), endReason: 'COMPLETED' });
  t.like(byId.get('3'), { status: 'ended', startsAt: 0, endedAt: at('18:59:48') });
  t.is(byId.get('12')?.endReason, 'FAILED, NonZeroExitCode');
  t.is(byId.get('13')?.endReason, 'MUT_WALLTIME_ENDED');
  t.is(byId.get('14')?.endReason, 'FAILED, NonZeroExitCode', 'one that is completing');
});

test('a job without a limit counts as a very long one, and a waiting one without a promise starts at 0', (t) => {
  const [job] = getJobs(parseJobs('7|ana|1|UNLIMITED|PENDING|2026-11-20T18:59:46|N/A|N/A|Priority\n'));
  t.like(job?.request, { walltime: unlimitedWalltime, startsAt: 0, endedAt: 0, status: 'queued', userId: 'ana' });
});

test('an announced start is read', (t) => {
  const [job] = getJobs(
    parseJobs('7_[3-9%2]|ana|1|10:00|PENDING|2026-11-20T18:59:46|2026-11-20T19:30:00|2026-11-20T19:40:00|Resources\n'),
  );
  t.like(job?.request, { managerRequestId: '7_[3-9%2]', startsAt: at('19:30:00'), endedAt: 0 });
});

test('a job that waits for something else than processors and is promised nothing is held back', (t) => {
  const isHeldBack = (reason: string, start = 'N/A', state = 'PENDING'): boolean | undefined => {
    const [job] = getJobs(parseJobs(`7|ana|1|10:00|${state}|2026-11-20T18:59:46|${start}|N/A|${reason}\n`));
    return job?.request.isHeldBack;
  };
  for (const reason of [
    'Dependency',
    'BeginTime',
    'JobHeldUser',
    'JobHeldAdmin',
    'QOSMaxJobsPerUserLimit',
    'AssocGrpCpuLimit',
    'JobArrayTaskLimit',
    'PartitionDown',
    'ReqNodeNotAvail, UnavailableNodes:n1',
  ])
    t.true(isHeldBack(reason), reason);
  for (const reason of ['Priority', 'Resources', 'None', '']) t.is(isHeldBack(reason), undefined, reason);
  t.is(isHeldBack('Dependency', '2026-11-20T19:30:00'), undefined, 'a promise counts');
  t.is(isHeldBack('JobHeldUser', '2026-11-20T19:30:00', 'RUNNING'), undefined);
});

test('an empty listing is a good one', (t) => {
  t.deepEqual(getJobs(parseJobs('')), []);
  t.deepEqual(getJobs(parseOwnJobs('')), []);
});

test('a listing with one malformed line is refused as a whole', (t) => {
  const good = '7|ana|1|10:00|PENDING|2026-11-20T18:59:46|N/A|N/A|None';
  for (const bad of [
    'slurm_load_jobs error: Unable to contact slurm controller',
    '<html>',
    '7|ana',
    '8|ana|x|10:00|PENDING|2026-11-20T18:59:46|N/A|N/A|None',
    '8|ana|1|10:00|PENDING|yesterday|N/A|N/A|None',
    good.slice(0, 25),
    good.slice(0, -5),
  ]) {
    t.is(parseJobs(`${good}\n${bad}\n`).kind, 'garbage', bad);
  }
  t.is(parseOwnJobs('some words before any job\n').kind, 'garbage');
  t.is(parseOwnJobs(`${recorded}14|root|10|1:`).kind, 'garbage');
});

test('ten thousand jobs are read, in the order of arrival', (t) => {
  const lines = Array.from(
    { length: 10_000 },
    (_, index) =>
      `${20_000 - index}|u${index % 7}|${1 + (index % 64)}|1:00:00|PENDING|2026-11-20T18:${String(59 - (index % 60)).padStart(2, '0')}:00|N/A|N/A|Priority`,
  );
  const jobs = getJobs(parseJobs(lines.join('\n')));
  t.is(jobs.length, 10_000);
  t.true(
    jobs.every(({ request, id }, index) => {
      const before = jobs[index - 1];
      return (
        before === undefined ||
        before.request.submittedAt < request.submittedAt ||
        (before.request.submittedAt === request.submittedAt && Number(before.id) < Number(id))
      );
    }),
  );
});
