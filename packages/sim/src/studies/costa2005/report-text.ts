import { grouped } from './markdown.ts';
import { listTypes, type StudySettings } from './scenarios.ts';

/** The options that the same study is run with again, but its seed. */
export function listOptions({ isQuick, instants, taskCountMax }: StudySettings): string {
  return `${isQuick ? ' --quick' : ''}${instants === undefined ? '' : ` --instants ${instants}`}${taskCountMax === undefined ? '' : ` --max-tasks ${taskCountMax}`}`;
}

/** What of the study was run. */
function getExtent(settings: StudySettings): string {
  const { isQuick, instants, taskCountMax } = settings;
  if (isQuick)
    return (
      'This is the **short form (`--quick`)**: only the nine homogeneous job types of 100 to 10,000 tasks, at 20 ' +
      'instants each; a look, not the study.'
    );
  const types =
    taskCountMax === undefined
      ? 'All 36 job types'
      : `The ${listTypes(settings).length} of 36 job types that have at most ${grouped(taskCountMax)} tasks`;
  return (
    `${types}, at ${instants ?? '50'} ` +
    `instants${instants === undefined && (taskCountMax ?? Infinity) >= 100_000 ? ' (jobs of 100,000 tasks: 20)' : ''}.`
  );
}

/** The head of the page. */
export function introduction(settings: StudySettings, runCount: number): string {
  return `# costa2005's study of the request heuristics, run again

Written by \`mutirao sim study costa2005${listOptions(settings)} --seed ${settings.seed} --out DIR\`; nothing in it was entered by hand.
${getExtent(settings)}
${grouped(runCount)} grid jobs were simulated, each alone on one resource among the requests of an archived log, with maxPR from 1 to 6 and the static, adaptive and
mixed heuristics. "The thesis" is costa2005, chapter 4. A job type meets the same instants and has the same tasks under each heuristic and
each maxPR, as there.
`;
}

/** What the thesis leaves open and how it was settled here. */
export const assumptions = `- Logs: the archive's cleaned ones, not those of the thesis (other periods of SP2, flurries removed). Processors of a record are the
  allocated ones, else the requested ones; its walltime is the larger of requested time and run time; records without positive run time or
  processors are dropped. CTC SP2 is replayed on 512 processors.
- Local users are served with conservative backfilling, and on an early end by \`start-now\`: the first request, from the head of the queue,
  that can start now for its whole walltime without delaying another; the others keep their promised starts.
- At one instant: submissions, ends in the order of starts, each with its compression, then starts.
- maxT_r is 18 h on SP2 and CTC, 36 h on BlueHorizon; maxP is the machine; DEFAULT_TIME is 600 s.
- static: M and p are fixed before the loop, p = min(maxP, ceil(pending tasks / free slots)). Pending tasks and requests include running ones.
- adaptive: in Eq. 3.3, t_r/E is rounded down to whole tasks and times count from now; no candidate is taken twice; p is at least 1 after
  scaling; est2 is kept within 0..maxT_r. Holes are taken in order of time, at each breakpoint the rectangle of best own throughput.
- exchange: Alg. 3.3 does not say which chosen request a candidate replaces when several exchanges raise V. Here it is the one whose exchange
  gives the greatest V; the other reading, the first whose exchange raises V, is varied below.
- mixed: at the first decision one request of (maxP, maxT_r) is added, unscaled; later decisions are adaptive.
- Decisions are made at submission and at each end of an own request. A request is held until the grid job or its walltime ends, also when
  it idles. A task that ends exactly at its walltime is done.
- Instants are uniform from the first submission to the last local end; after the log the machine is empty, and runs that end after it are counted above.
- The first completions are the shortest tasks, so that early estimates of E are low.`;

/** What stands below tables and figures. */
export const notes = {
  speedup: `A speedup is the static turnarounds of a scenario over those of the other heuristic (Eq. 4.1), a scenario being a job type with a maxPR. The mean is over scenarios; the ratio
of sums adds up the mean turnarounds of all scenarios first, so that long jobs are nearly all of it. +- is half of the 95 % confidence interval, the instants being what was drawn.`,
  quickDiffers:
    'The thesis averages over all 36 job types and the short form over nine, so that this is a first look only.',
  differs:
    'For each trace: the numbers, then what of the difference the study itself shows. What the thesis did and ' +
    'does not say cannot be found here.',
  waste: `The first three columns are waste (Eq. 3.4) over the useful time of the tasks, all runs together. Above 1, adaptive wastes less. Scenarios in which adaptive wastes
nothing at all are left out of the mean of ratios. The thesis: adaptive wastes less on SP2 and BlueHorizon in most cases, static on CTC SP2, and the more so with more load.`,
  outcome:
    'The thesis: static never wins on CTC SP2 as logged, where speedups reach 200; mixed lies between the ' +
    'others for every single job.',
  heterogeneity:
    'Adaptive over static, mean of speedups; job types that differ in heterogeneity alone meet the same ' +
    'instants. The thesis: the difference is below 2 % on average.',
  starts: `The percentage (and number) of requests that the second simulator starts at another time. It was written apart from the first, shares no code with it, and is as plain as
possible: a list of breakpoints, read from its beginning each time. The thesis says that its own differences come from requests of one second, which its two simulators take in
another order; the last two columns are the second simulator with such other orders, all else being the same. The thesis does not say which compression its simulators have.`,
  averaging: `The same runs, averaged in four ways; the text of the thesis does not settle between the first and the third. In the geometric mean a speedup of 2 and one of 1/2 cancel out. In the
last, the ratio of each single run counts alike, so that runs in which adaptive is done at once and static waits for days make the mean.`,
  variation: `Three job types only (100 x 100 s, 1000 x 1000 s, 100 x 10000 s; homogeneous), at the same 20 instants in every row of a trace; speedups are means over scenarios, waste is
the ratio of sums.`,
  users: (
    instants: number,
  ): string => `The thesis has static divide the pending tasks among the free requests (Alg. 3.1), as a small change of what the users of OurGrid did, who asked for the most in both directions. On all
homogeneous job types of at most 10,000 tasks, at ${instants} instants, both ways are compared here. This is not what the thesis says that it simulated, and nothing was tuned to it; it shows how
much depends on what static requests.`,
  figures: {
    4.1:
      ' (section 4.4.1). A line for each job type, a panel for each heterogeneity; intervals are in the table ' +
      'below.',
    4.2: ' (section 4.4.1), with 95 % intervals.',
    4.3: ' (section 4.4.1), with 95 % intervals.',
    4.4: ' (section 4.4.2).',
    4.5: ' (section 4.4.2).',
    4.6: ' (section 4.5). A line is the mean over the heterogeneities.',
    4.7:
      ' (section 4.6). Above 1, adaptive wastes less; where either wastes nothing there is no point. Each panel ' +
      'has its own axis.',
    4.8: ' (section 4.6).',
    4.9: ' (section 4.6).',
    '4.10': ' (section 4.6). A line is the mean over the heterogeneities.',
  } as Readonly<Record<string, string>>,
};

/** What the thesis has and this page has not. */
export function departures({ isQuick, instants }: StudySettings): string {
  return `- Assumptions were varied one at a time and for few job types; \`mutirao sim job\` takes options to vary them for any scenario.
- The thesis ran 100 to 1000 jobs per scenario until the error was below 5 %; here it is ${instants ?? (isQuick ? '20' : '50 (20 for 100,000 tasks)')}, and the intervals say what that gives.
- The log of the CPAD cluster, with which the thesis compares its simulator too (section 4.8), is not available.
- Nothing was tuned towards the numbers of the thesis.${
    isQuick
      ? `
- Heterogeneous jobs and jobs of 100,000 tasks are in the whole study only. The latter pull the mean of speedups towards 1.
- Table 4.7 is about the first requests of each log; the whole study replays all of them. Static as the users asked is in the whole study only.`
      : ''
  }`;
}
