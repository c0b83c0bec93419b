import type { StudySettings } from './scenarios.ts';

/** The head of the page. */
export function introduction({ isQuick, seed }: StudySettings, runCount: number): string {
  const extent = isQuick
    ? 'This is the **short form (`--quick`)**: only the nine homogeneous job types of 100 to 10,000 tasks, at 20 instants each; a look, not the study.'
    : 'All 36 job types, at 50 instants (jobs of 100,000 tasks: 20).';
  return `# costa2005's study of the request heuristics, run again

Written by \`mutirao sim study costa2005${isQuick ? ' --quick' : ''} --seed ${seed} --out DIR\`; nothing in it was entered by hand.
${extent}
${runCount} grid jobs were simulated, each alone on one resource among the requests of an archived log, with maxPR from 1 to 6 and the static, adaptive and
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
- mixed: at the first decision one request of (maxP, maxT_r) is added, unscaled; later decisions are adaptive.
- Decisions are made at submission and at each end of an own request. A request is held until the grid job or its walltime ends, also when
  it idles. A task that ends exactly at its walltime is done.
- Instants are uniform from the first submission to the last local end; after the log the machine is empty, and runs that end after it are counted above.
- The first completions are the shortest tasks, so that early estimates of E are low.`;

/** What the thesis has and this page has not. */
export function departures({ isQuick }: StudySettings): string {
  return `- Table 4.7 (start times compared with another simulator) is no part of this study.
- Assumptions were varied one at a time and for three job types only; \`mutirao sim job\` takes options to vary them for any scenario.
- The thesis ran 100 to 1000 jobs per scenario until the error was below 5 %; here it is ${isQuick ? '20' : '50 (20 for 100,000 tasks)'}, and the intervals say what that gives.
- Why numbers differ was not settled. The logs differ, and so may any of the assumptions. Nothing was tuned towards the numbers of the
  thesis.${isQuick ? `
- Heterogeneous jobs and jobs of 100,000 tasks are in the whole study only. The latter pull the mean of speedups towards 1.` : ''}`;
}
