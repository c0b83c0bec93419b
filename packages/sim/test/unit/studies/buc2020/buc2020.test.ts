import test from 'ava';
import { firstComeFirstServed, replayByScores } from '@mutirao/core/queue';
import type { SwfRequest } from '@mutirao/formats';
import {
  bucClaims,
  bucCsv,
  bucLogs,
  listChanges,
  chooseRealUsers,
  families,
  inject,
  measureBuc,
  reportBuc,
  summarizeRun,
  getTrace,
  type BucLog,
  type BucMeasured,
  type BucRun,
} from '@mutirao/sim/buc2020';

const settings = { isQuick: true, seed: '1' };
const log: BucLog = { ...bucLogs[0]!, processors: 4 };

/**
 * A log in which each of twelve users has so many jobs as her number, times two, and uses that many twelfths of her
 * walltimes.
 */
function aLog(): SwfRequest[] {
  const requests: SwfRequest[] = [];
  for (let user = 1; user <= 12; user += 1) {
    for (let job = 0; job < 2 * user; job += 1) {
      const at = 3_000_000 * requests.length;
      requests.push({
        jobId: requests.length,
        submittedAt: at,
        width: 1 + (job % 3),
        walltime: 7_200_000,
        runTime: 600_000 * user,
        loggedWait: 0,
        requestedTime: 7_200_000,
        hasOverrun: false,
        userId: user,
      });
    }
  }
  return requests;
}

test('requests without requested time are left out, overruns are known, and the median width is that of the rest', (t) => {
  const [one, two] = aLog() as [SwfRequest, SwfRequest];
  const trace = getTrace(log, [
    one,
    { ...two, requestedTime: 0, width: 3 },
    { ...two, requestedTime: 1000, hasOverrun: true, walltime: 5000, runTime: 5000, width: 2 },
    { ...one, width: 4 },
  ]);
  t.like(trace, { untimedCount: 1, overrunCount: 1, medianWidth: 2 });
  t.deepEqual(
    trace.requests.map(({ hasOverrun }) => hasOverrun),
    [false, true, false],
  );
});

test("each user's hundred jobs come among those of the log, at the same shares of its time whatever the load", (t) => {
  const trace = getTrace(log, aLog());
  const half = trace.requests.map((request) => ({ ...request, submittedAt: request.submittedAt / 2 }));
  const [plain, dense] = [inject(trace.requests, trace, settings, 0), inject(half, trace, settings, 0)];
  t.is(plain.length, trace.requests.length + 300);
  t.true(plain.every(({ submittedAt }, index) => index === 0 || submittedAt >= (plain[index - 1]?.submittedAt ?? 0)));
  for (const [userId, runTime] of [
    ['injected 0 %', 1000],
    ['injected 50 %', 1_800_000],
    ['injected 100 %', 3_600_000],
  ] as const) {
    const mine = plain.filter((request) => request.userId === userId);
    t.is(mine.length, 100);
    t.true(
      mine.every(
        (request) =>
          request.runTime === runTime && request.walltime === 3_600_000 && request.width === trace.medianWidth,
      ),
    );
    const shares = dense.filter((request) => request.userId === userId).map(({ submittedAt }) => 2 * submittedAt);
    t.true(shares.every((at, index) => Math.abs(at - (mine[index]?.submittedAt ?? 0)) <= 2));
  }
  t.notDeepEqual(inject(trace.requests, trace, settings, 1), plain);
});

test('the real users are the worst, the middling and the best of the ten with most jobs', (t) => {
  t.deepEqual(
    chooseRealUsers(getTrace(log, aLog())).map(({ userId, title }) => [userId, title]),
    [
      ['user 3', 'Real 1'],
      ['user 6', 'Real 2'],
      ['user 12', 'Real 3'],
    ],
  );
});

test('waits and scores are summed up by user', (t) => {
  const one = { width: 4, walltime: 100_000, runTime: 100_000, hasOverrun: false };
  const trace = [
    { ...one, userId: 'a', submittedAt: 0 },
    { ...one, userId: 'a', submittedAt: 10_000 },
    { ...one, userId: 'b', submittedAt: 20_000 },
  ];
  const run = summarizeRun(trace, replayByScores(firstComeFirstServed, undefined, 4, trace), new Set(['a']));
  t.deepEqual(run, {
    users: new Map([['a', { jobCount: 2, waitSum: 90_000, meanScore: 65, meanScoreAtSubmission: 60 }]]),
    waitSum: 90_000 + 180_000,
    longestWait: 180_000,
    requestCount: 3,
  });
});

/** Measured waits of the injected users, by service and injection. */
function getMeasured(waits: Readonly<Record<string, readonly (readonly number[])[]>>): BucMeasured {
  const titles = Object.keys(waits);
  const runs = [0, 1, 2].map((service) =>
    [0, 1, 2].map(
      (injection): BucRun => ({
        users: new Map(
          titles.map((title) => [
            title,
            { jobCount: 1, waitSum: waits[title]?.[service]?.[injection] ?? 0, meanScore: 0, meanScoreAtSubmission: 0 },
          ]),
        ),
        waitSum: 1,
        longestWait: 1,
        requestCount: 1,
      }),
    ),
  );
  return {
    trace: getTrace(log, aLog()),
    loadFactor: 1,
    family: families[0],
    watched: titles.map((title) => ({ userId: title, title })),
    runs,
  };
}

test('a statement is held, not held, without difference or not testable by the interval of the changes', (t) => {
  const measured = getMeasured({
    'Injected 1': [
      [100, 100, 100],
      [109, 110, 111],
      [90, 110, 100],
    ],
    'Injected 2': [
      [100, 100, 100],
      [109, 110, 111],
      [50, 51, 52],
    ],
    'Injected 3': [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ],
  });
  const getVerdict = (says: RegExp, nth = 0): string | undefined =>
    bucClaims.slice(bucClaims.findIndex((claim) => says.test(claim.says)))[nth]?.test(measured).verdict;
  t.deepEqual(
    [0, 1].map((nth) => getVerdict(/^Injected 1/, nth)),
    ['held', 'no difference'],
  );
  t.deepEqual(
    [0, 1, 2].map((nth) => getVerdict(/^Injected 2/, nth)),
    ['not held', 'held', 'held'],
  );
  t.is(getVerdict(/^Injected 3/), 'not testable');
  t.deepEqual(
    [0, 1].map((nth) => getVerdict(/Injected 2 fares better/, nth)),
    ['no difference', 'held'],
  );
  t.deepEqual(listChanges(measured, 'Injected 2', [0, 2]), [-50, -49, -48]);
});

test('the same seed gives the same page, which has a figure for each that it shows', (t) => {
  const trace = getTrace(log, aLog());
  const measure = (): BucMeasured[] => families.map((family) => measureBuc(trace, 1, family, settings));
  const [one, other] = [reportBuc(settings, measure(), 'buc2020'), reportBuc(settings, measure(), 'buc2020')];
  t.deepEqual(one, other);
  t.deepEqual(
    [...one.page.matchAll(/\(buc2020\/(.*?\.svg)\)/g)].map(([, name]) => name),
    one.figures.map(({ name }) => name),
  );
  t.is(one.figures.length, 2);
  for (const { svg } of one.figures) t.is(svg.match(/class="bar"/g)?.length, 9);
  t.regex(one.page, /\| injected 0 % \| 4\.8 \| 4\.80 \|/);
  t.regex(one.page, /\| injected 50 % \| 96\.14 \| 96\.14 \|/);
  t.is(bucCsv(measure()).trimEnd().split('\n').length, 1 + 3 * 3 * 3 * 7);
});
