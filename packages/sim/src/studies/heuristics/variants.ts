import {
  finishConstants,
  finishHeuristic,
  finishWith,
  type FinishConstants,
  type RequestFacts,
  type RequestHeuristic,
  type TaskGroup,
} from '@mutirao/core/requests';

/** The heuristic `finish` with something in it otherwise. */
export interface HeuristicVariant {
  /** Of letters, digits, `-` and `.`. */
  readonly id: string;
  /** What is otherwise, in the words of the report. */
  readonly title: string;
  readonly constants?: Partial<FinishConstants>;
  /** Left out, at every event of the queue. */
  readonly decidesAt?: 'ends';
  /** Left out, what is idle is released. */
  readonly holdsIdle?: true;
  /** Left out, it uses how long running and cut tasks have run. */
  readonly forgetsRuns?: true;
}

/** A share by which no plan can be better. */
const never = 1 - 1e-9;

/** Each idea that a constant or the driver can switch off. */
const ablations: readonly HeuristicVariant[] = [
  {
    id: 'ends-only',
    title: 'decides where an own request has ended, as the others do, not at every event',
    decidesAt: 'ends',
  },
  { id: 'holds-idle', title: 'holds idle requests until the job or they end', holdsIdle: true },
  {
    id: 'one-time',
    title: 'supposes 600 s for a task before one has ended, not a range of times',
    constants: { priorShortest: 600_000, priorStep: 1e9 },
  },
  {
    id: 'promised-waits',
    title: 'takes promised waits for what requests will wait',
    constants: { waitShare: 1, waitShareWeight: 1e9 },
  },
  {
    id: 'fixed-waits',
    title: 'expects six tenths of every promised wait, whatever is seen',
    constants: { waitShareWeight: 1e9 },
  },
  { id: 'forgets-runs', title: 'forgets for how long running and cut tasks have run', forgetsRuns: true },
  {
    id: 'keeps-wide',
    title: 'keeps what waits for more processors than tasks are left for',
    constants: { widthSpare: 1e9 },
  },
  { id: 'any-waste', title: 'asks for what would be wasted, too', constants: { efficiencyMin: 0, wasteCost: 0 } },
  { id: 'keeps-waiting', title: 'gives up no request that waits', constants: { withdrawGain: never } },
  { id: 'keeps-running', title: 'gives up no request that runs', constants: { releaseGain: never } },
  { id: 'keeps-all', title: 'gives up none', constants: { withdrawGain: never, releaseGain: never } },
  { id: 'fills-slots', title: 'fills every slot that shortens the job at all', constants: { fillGain: 0 } },
  // Of nothing at all no plan would come to an end, and none be better than to ask for nothing.
  { id: 'no-future', title: 'expects next to nothing of a slot after its request', constants: { futureShare: 0.01 } },
  {
    id: 'no-moment',
    title:
      'takes whoever has run for longer than the shortest at all for another kind of task, and waits for no ' +
      'moment to see',
    constants: { likeShare: 0 },
  },
  { id: 'no-doubt', title: 'takes what it has learnt of task times to the letter', constants: { timeDoubt: 0 } },
  { id: 'no-margin', title: 'asks for no more time than a request needs', constants: { walltimeMargin: 0 } },
];

/** Other values of each constant. */
const otherConstants: readonly HeuristicVariant[] = [
  ...vary('priorShortest', [1000, 60_000]),
  ...vary('priorStep', [2, 10]),
  ...vary('waitShare', [0.3, 0.9]),
  ...vary('waitShareWeight', [1, 8]),
  ...vary('waitedMin', [3 * 60_000, 60 * 60_000]),
  ...vary('fillGain', [0.01, 0.1]),
  ...vary('withdrawGain', [0.1, 0.5]),
  ...vary('releaseGain', [0.1, 0.5]),
  ...vary('futureShare', [0.5]),
  ...vary('likeShare', [0.01, 0.05]),
  ...vary('timeDoubt', [0.2]),
  ...vary('timeDoubtWeight', [0.2]),
  ...vary('walltimeMargin', [0.1, 0.4]),
  ...vary('widthSpare', [1, 2]),
  ...vary('spareLoss', [0.05, 0.3]),
  ...vary('efficiencyMin', [0.8]),
  ...vary('wasteCost', [0.3, 3]),
];

function vary(name: keyof FinishConstants, values: readonly number[]): HeuristicVariant[] {
  return values.map((value) => ({
    id: `${name}-${value}`,
    title: `${name} ${value}, not ${finishConstants[name]}`,
    constants: { [name]: value },
  }));
}

/** The heuristic of a variant. */
export function varyFinish({ constants, decidesAt, holdsIdle, forgetsRuns }: HeuristicVariant): RequestHeuristic {
  const heuristic = constants === undefined ? finishHeuristic : finishWith({ ...finishConstants, ...constants });
  return {
    ...heuristic,
    ...(decidesAt === undefined ? {} : { decidesAt }),
    ...(holdsIdle === undefined ? {} : { releasesIdle: false }),
    ...(forgetsRuns === undefined ? {} : { draft: (facts: RequestFacts) => heuristic.draft(forgetRuns(facts)) }),
  };
}

function forgetRuns(facts: RequestFacts): RequestFacts {
  const begun = (groups: readonly TaskGroup[]): TaskGroup[] => groups.map((group) => ({ ...group, time: 0 }));
  return {
    ...facts,
    cutOff: [],
    pending: facts.pending.map((request) =>
      request.tasks === undefined ? request : { ...request, tasks: begun(request.tasks) },
    ),
  };
}

/** The variants in a part of the study; empty if there are none, and for any other heuristic. */
export function listVariants(part: string, heuristic: string | undefined): readonly HeuristicVariant[] {
  if (heuristic !== finishHeuristic.name) return [];
  return part === 'ablations' ? ablations : part === 'constants' ? otherConstants : [];
}
