import { grouped } from '../costa2005/markdown.ts';
import { nameType } from '../costa2005/scenarios.ts';
import type { HeuristicsPart } from './records.ts';
import { patience } from './run-chunk.ts';
import {
  findCandidate,
  heuristicsTraces,
  mainPending,
  mainTypes,
  partNames,
  plainlyServed,
  policyNames,
  smaller,
  variedOn,
  wholeStudy,
  type HeuristicsSettings,
} from './scenarios.ts';

/** What the page begins with. */
export function introduction(settings: HeuristicsSettings, runCount: number): string {
  const { heuristics, traces } = settings;
  return [
    '# The request heuristics compared',
    '',
    `Written by \`mutirao sim study heuristics ${listOptions(settings)} --out DIR\`; nothing in it was entered by hand.`,
    `${grouped(runCount)} grid jobs were simulated, each alone on one resource among the requests of a log: ` +
      `${traces.map(({ title }) => title).join(', ')}.`,
    `Compared are ${heuristics.map((name) => `\`${name}\``).join(', ')} ` +
      '(docs/internals/heuristics.md says what each does).',
    '',
  ].join('\n');
}

/** The options that the same study is run with again. */
function listOptions(settings: HeuristicsSettings): string {
  const { seed, instants, traces, types, pending, policies, heuristics, parts } = settings;
  const whole = wholeStudy(seed);
  const [first] = traces;
  const isOwn = first !== undefined && !whole.traces.some(({ id }) => id === first.id);
  const some = (option: string, used: readonly (string | number)[], all: readonly (string | number)[]): string[] =>
    used.join(',') === all.join(',') ? [] : [`${option} ${used.join(',')}`];
  return [
    `--seed ${seed}`,
    `--instants ${instants}`,
    ...(isOwn
      ? [`--trace ${first.title} --processors ${first.processors} --max-walltime ${first.walltimeMax / 3_600_000}h`]
      : some(
          '--traces',
          traces.map(({ id }) => id),
          whole.traces.map(({ id }) => id),
        )),
    ...some('--types', types.map(nameType), whole.types.map(nameType)),
    ...some('--max-pending', pending, whole.pending),
    ...some('--policies', policies, whole.policies),
    ...some('--heuristics', heuristics, whole.heuristics),
    ...some('--parts', parts, whole.parts),
  ].join(' ');
}

/** How everything is measured, exactly. */
export function definitions({ instants, pending, types }: HeuristicsSettings): string {
  return [
    `A *scenario* is a job type (tasks x mean task time - heterogeneity; ${types.length} of them) with a maxPR ` +
      `(${pending.join(', ')}) on one trace under one policy. Its job is submitted at ${instants} ` +
      ('instants: the time between the first and the last submission of the log is cut into as many slices, and ' +
        'one instant is drawn in each. Every heuristic and every maxPR meets the same instants, ') +
      'task times and order of draws; heterogeneities of one shape share their instants too.',
    'The *speedup* of a heuristic X in a scenario is better / X: X is the mean turnaround over the instants, ' +
      'better the lesser of the two mean turnarounds of static and adaptive. The better one is chosen ' +
      ('for the scenario as a whole, on the very instants that are compared, never instant by instant; so static ' +
        'and adaptive themselves come to at most 1. Over scenarios the geometric mean is taken.'),
    'Intervals hold 95 %: 1000 paired bootstrap samples of the instants (the same for all heuristics and all ' +
      'scenarios that share instants; the better one chosen again each time), the middle 95 % of them.',
    "*Held out* is the last third of each trace's time, by instants. What was fitted, was fitted on the first " +
      'two thirds of the archived traces; figures for the held-out third alone follow those for all.',
    'Static, adaptive and the others of the seed decide at the submission and where a request of theirs has ' +
      'ended, and keep what they asked for until it ends, as in costa2005. `finish` decides at every event of the ' +
      'queue and ' +
      'releases what is idle; what that alone makes is shown by the part `ablations`, where it was run.',
  ].join('\n\n');
}

/** The remarks below the tables. */
export const notes = {
  speedup: 'Above 1 is faster than the better of static and adaptive. In parentheses: the 95 % interval.',
  shapes: 'The speedup over all maxPR and heterogeneities of a shape.',
  losses:
    'A scenario counts as lost beyond its interval when the whole interval of its speedup lies below 0.95. Each ' +
    'of those is listed, the worst first, with where its records show the time to go: before the first start ' +
    '(what was asked for came later), in work that was cut off or processors held idle, or at a few instants only.',
  waste:
    "Waste is processor time held less the run time of the job's tasks, here in parts of the latter: first of " +
    "all jobs together, in which long ones weigh most, then the mean over scenarios relative to static's (below 1 is " +
    'less than static wastes).',
  requests:
    'Means of a job. Withdrawals are requests that were taken out while they waited, releases those that were ' +
    'while they ran, given up or idle; what is left when the job is done is not counted. An hour is any 60 ' +
    'minutes of a job.',
  local:
    'The mean wait of local requests that waited when the job was submitted or came before its end, cut to that ' +
    'time, without the job; how much longer (+) or shorter (-) it is with it; and the share of jobs with which ' +
    'the sum of these ' +
    ('waits is longer, and shorter. What a job does to those who still wait when it ends is not in it. Windows ' +
      'differ with the heuristic, since a job that ends sooner is there for less time.'),
  queues:
    'Under these two no request is promised a place, so that a heuristic sees the listing only. Nine job types, ' +
    'fewer values of maxPR and instants. First come, first served, of the archived logs only ' +
    (`${plainlyServed.join(', ')}: where over a thousand requests wait behind what cannot start yet, as seen on ` +
      'blue, a job of one that decides at every event takes up to half a minute to simulate.'),
  ablations:
    'Turnaround with the idea switched off over turnaround as it is (geometric mean over the scenarios of nine ' +
    'job types): above 1, the idea helps. Waste likewise, of means.',
  constants:
    'Turnaround with the other constant over turnaround as it is, likewise: above 1, the constant is better as it is.',
  large: 'A small sample: these jobs run for weeks, so that much of the log passes by.',
} as const;

/** Logs of the folder that are not replayed, and why. */
export const tracesNotUsed =
  'Of the archived logs, NASA iPSC and SDSC Paragon say of no request for how long its user asked; a queue of ' +
  'exact estimates would be another world than that of the others, so they are not replayed. ' +
  ('CTC SP2 is there twice: at the 512 processors that costa2005 takes it for, and at the 338 that its batch ' +
    'partition had, where the same requests make a load of 84 %.');

/** What of the whole study was not run, and what no such study shows. */
export function leftOut(settings: HeuristicsSettings, parts: readonly HeuristicsPart[]): string {
  const missing = [
    ...listMissing(
      'Traces',
      heuristicsTraces.map(({ id }) => id),
      settings.traces.map(({ id }) => id),
    ),
    ...listMissing('Policies', policyNames, settings.policies),
    ...listMissing('Parts', partNames, settings.parts),
    ...listMissing('Heuristics', wholeStudy(settings.seed).heuristics, settings.heuristics),
    ...(settings.types.length < mainTypes.length
      ? [`Job types: ${settings.types.length} of ${mainTypes.length} were run.`]
      : []),
    ...listMissing('maxPR', mainPending.map(String), settings.pending.map(String)),
    ...(settings.instants < 50 ? [`Instants: ${settings.instants} in place of 50.`] : []),
  ];
  const runs = parts.flatMap(({ result }) => result.runs);
  const late = runs.filter(({ endsAfterLog, isEndless }) => endsAfterLog && !isEndless).length;
  const candidate = findCandidate(settings);
  return [
    missing.length === 0
      ? 'The whole study was run.'
      : `Of the whole study this is a part:\n\n${missing.map((line) => `- ${line}`).join('\n')}`,
    ...describeEndless(parts),
    `${grouped(late)} of ${grouped(runs.length)} jobs ended after the log's last request had, on a machine that ` +
      'local users had left.',
    `Ideas are switched off and constants varied on ${variedOn.join(' and ')} only, under \`start-now\`. That ` +
      'plans are made of maximal rectangles, and chosen by the end of the job, cannot be switched off.',
    ...(settings.policies.includes('fcfs')
      ? [`First come, first served, was run on ${plainlyServed.join(' and ')} alone of the archived logs.`]
      : []),
    `FCFS, EASY, ${candidate === undefined ? '' : 'the ideas switched off and the constants '}have ` +
      `${smaller.pending.join(', ')} for maxPR, heterogeneity ${smaller.heterogeneity}x and at most ` +
      `${smaller.instantsMax} instants. ` +
      ('One job at a time is alone among local users who do not mind it: two users of one heuristic, who would ' +
        'compete for the same holes, are not simulated here. Tasks come to processors, and ends are seen, without ' +
        'delay.'),
  ].join('\n\n');
}

/** Jobs that were stopped, by heuristic. */
function describeEndless(parts: readonly HeuristicsPart[]): string[] {
  const counts = new Map<string, number>();
  for (const {
    chunk: { heuristic, variant },
    result: { runs },
  } of parts) {
    const count = runs.filter(({ isEndless }) => isEndless).length;
    const name = variant === undefined ? `\`${heuristic}\`` : `\`${heuristic}\` (${variant.title})`;
    if (count > 0) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  if (counts.size === 0) return [];
  const list = [...counts].map(([name, count]) => `${grouped(count)} of ${name}`).join(', ');
  return [
    `Stopped after ${patience / (365 * 24 * 3_600_000)} years, and counted with that time: ${list}. In ` +
      'the one that was looked into the last tasks are handed on for ever between requests whose walltimes ' +
      'overlap, each time to one that ends too soon for them.',
  ];
}

function listMissing(what: string, all: readonly string[], used: readonly string[]): string[] {
  const missing = all.filter((name) => !used.includes(name));
  return missing.length === 0 ? [] : [`${what} left out: ${missing.join(', ')}.`];
}
