import { heuristicNames } from '@mutirao/core/requests';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { jobTypes, nameType, type JobType } from '../costa2005/scenarios.ts';
import { listVariants, type HeuristicVariant } from './variants.ts';

/** A log of local users, the machine that it is replayed on, and the limits of grid jobs on it. */
export interface HeuristicsTrace {
  /** In file names and on the command line; of letters, digits, `-`, `_` and `.`. */
  readonly id: string;
  readonly title: string;
  /** In the folder that MUTIRAO_DATA names, or absolute. */
  readonly file: string;
  readonly processors: ProcessorCount;
  /** maxT_r. */
  readonly walltimeMax: Duration;
}

/** How a resource's queue is served: conservative backfilling by what it does after an early end, or the policy. */
export type PolicyName = 'start-now' | 'reinsert' | 'fcfs' | 'easy';

/** What a study is made of; each part answers a question of its own. */
export type PartName = 'main' | 'queues' | 'ablations' | 'constants' | 'large';

/** What is run; two studies with the same settings have the same results. */
export interface HeuristicsSettings {
  /** Whether the short form was asked for; what it leaves out, the other fields say. */
  readonly isQuick: boolean;
  /** The same seed, the same instants and tasks. */
  readonly seed: string;
  /** Instants of a scenario of the main part; the others have no more than `instantsMax` says. */
  readonly instants: number;
  readonly traces: readonly HeuristicsTrace[];
  /** Without those of 100,000 tasks, which are a part of their own. */
  readonly types: readonly JobType[];
  /** Values of maxPR. */
  readonly pending: readonly number[];
  readonly policies: readonly PolicyName[];
  /** Static and adaptive, which others are compared with, and more. */
  readonly heuristics: readonly string[];
  readonly parts: readonly PartName[];
}

/** All grid jobs of one heuristic and one job type on one trace: every maxPR, each at every instant. */
export interface HeuristicsChunk {
  /** Of letters, digits, `-`, `_` and `.`; the name of its file. */
  readonly id: string;
  readonly part: PartName;
  readonly trace: HeuristicsTrace;
  readonly policy: PolicyName;
  readonly type: JobType;
  readonly heuristic: string;
  /** What `finish` does otherwise; left out, nothing. */
  readonly variant?: HeuristicVariant;
  readonly pending: readonly number[];
  readonly instantCount: number;
}

export const policyNames: readonly PolicyName[] = ['start-now', 'reinsert', 'fcfs', 'easy'];
export const partNames: readonly PartName[] = ['main', 'queues', 'ablations', 'constants', 'large'];

/** The heuristics that the others are compared with: with the better of the two in each scenario. */
export const referenceNames: readonly [string, string] = ['static', 'adaptive'];

const hour: Duration = 3_600_000;
const ctc = { file: 'swf/CTC-SP2-1996-3.1-cln.swf.gz', walltimeMax: 18 * hour };

/** The archived logs that have requested times. LANL's queues ended at six hours. */
export const heuristicsTraces: readonly HeuristicsTrace[] = [
  { id: 'sp2', title: 'SDSC SP2', file: 'swf/SDSC-SP2-1998-4.2-cln.swf.gz', processors: 128, walltimeMax: 18 * hour },
  {
    id: 'blue',
    title: 'SDSC BlueHorizon',
    file: 'swf/SDSC-BLUE-2000-4.2-cln.swf.gz',
    processors: 1152,
    walltimeMax: 36 * hour,
  },
  { id: 'ctc', title: 'CTC SP2 at 512', processors: 512, ...ctc },
  { id: 'ctc-338', title: 'CTC SP2 at 338', processors: 338, ...ctc },
  { id: 'lanl', title: 'LANL CM5', file: 'swf/LANL-CM5-1994-4.1-cln.swf.gz', processors: 1024, walltimeMax: 6 * hour },
];

/** The 27 job types of the study. */
export const mainTypes: readonly JobType[] = jobTypes.filter(({ taskCount }) => taskCount <= 10_000);

/** Values of maxPR of the main part. */
export const mainPending: readonly number[] = [1, 2, 3, 4, 5, 6];

/** How the smaller parts are smaller: heterogeneity, values of maxPR, and instants at most. */
export const smaller = { heterogeneity: 2, pending: [1, 3, 6], instantsMax: 30 } as const;

/** Archived traces on which the heuristic is varied, those where a job is over soonest; one's own is varied on too. */
export const variedOn: readonly string[] = ['blue', 'ctc'];

/**
 * Archived traces that are served first come, first served, too; one's own is as well. On others a thousand requests
 * and more wait behind what cannot start yet (seen on BlueHorizon), and a heuristic that
 * decides at every event reads all of them each time: one job took up to 25 s.
 */
export const plainlyServed: readonly string[] = ['ctc', 'lanl'];

/** Jobs of 100,000 tasks: a small sample apart. */
export const large = { taskCount: 100_000, heterogeneity: 2, pending: [1, 3, 6], instantsMax: 5 } as const;

/** The whole study, with every heuristic that there is. */
export function wholeStudy(seed: string): HeuristicsSettings {
  return {
    isQuick: false,
    seed,
    instants: 50,
    traces: heuristicsTraces,
    types: mainTypes,
    pending: mainPending,
    policies: policyNames,
    heuristics: heuristicNames,
    parts: partNames,
  };
}

/**
 * The heuristic that the study is about: the newest of those that are run, as its list has it last; undefined where
 * only the references are.
 */
export function findCandidate({ heuristics }: Pick<HeuristicsSettings, 'heuristics'>): string | undefined {
  return heuristics.find((name) => name === 'finish') ?? heuristics.findLast((name) => !referenceNames.includes(name));
}

/**
 * The chunks of a study, by trace and policy, so that a log need not be replayed often; those of each part in its
 * order.
 */
export function listChunks(settings: HeuristicsSettings): HeuristicsChunk[] {
  return settings.traces.flatMap((trace) =>
    settings.policies.flatMap((policy) =>
      settings.parts.flatMap((part) => getChunks(part, { trace, policy }, settings)),
    ),
  );
}

interface Place {
  readonly trace: HeuristicsTrace;
  readonly policy: PolicyName;
}

function getChunks(part: PartName, place: Place, settings: HeuristicsSettings): HeuristicsChunk[] {
  const isConservative = place.policy === 'start-now' || place.policy === 'reinsert';
  switch (part) {
    case 'main':
      return isConservative
        ? eachHeuristic(
            { ...place, part, pending: settings.pending, instantCount: settings.instants },
            settings,
            settings.types,
          )
        : [];
    case 'queues':
      return isConservative || (place.policy === 'fcfs' && !isAmong(plainlyServed, place.trace))
        ? []
        : eachHeuristic({ ...place, part, ...getExtent(settings) }, settings, smallerTypes(settings));
    case 'large': {
      const types = jobTypes.filter(
        ({ taskCount, heterogeneity }) => taskCount === large.taskCount && heterogeneity === large.heterogeneity,
      );
      const extent = {
        pending: within(settings, large.pending),
        instantCount: Math.min(large.instantsMax, settings.instants),
      };
      return place.policy === 'start-now' ? eachHeuristic({ ...place, part, ...extent }, settings, types) : [];
    }
    default:
      return place.policy === 'start-now' && isAmong(variedOn, place.trace)
        ? eachVariant({ ...place, part, ...getExtent(settings) }, settings)
        : [];
  }
}

/** Whether a trace is one of some archived ones, or none of the archived. */
function isAmong(ids: readonly string[], { id }: HeuristicsTrace): boolean {
  return ids.includes(id) || !heuristicsTraces.some((trace) => trace.id === id);
}

function eachHeuristic(
  base: Omit<HeuristicsChunk, 'id' | 'type' | 'heuristic'>,
  { heuristics }: HeuristicsSettings,
  types: readonly JobType[],
): HeuristicsChunk[] {
  return types.flatMap((type) =>
    heuristics.map((heuristic) => ({ ...base, type, heuristic, id: nameOf(base, type, heuristic) })),
  );
}

/** The candidate as it is, then each variant of it. */
function eachVariant(
  base: Omit<HeuristicsChunk, 'id' | 'type' | 'heuristic'>,
  settings: HeuristicsSettings,
): HeuristicsChunk[] {
  const variants = listVariants(base.part, findCandidate(settings));
  const heuristic = findCandidate(settings);
  if (heuristic === undefined || variants.length === 0) return [];
  return smallerTypes(settings).flatMap((type) => {
    const id = nameOf(base, type, heuristic);
    return [
      { ...base, type, heuristic, id },
      ...variants.map((variant) => ({ ...base, type, heuristic, variant, id: `${id}.${variant.id}` })),
    ];
  });
}

function nameOf(
  { part, trace, policy }: Pick<HeuristicsChunk, 'part' | 'trace' | 'policy'>,
  type: JobType,
  heuristic: string,
): string {
  return `${part}.${trace.id}.${policy}.${nameType(type)}.${heuristic}`;
}

function smallerTypes({ types }: HeuristicsSettings): JobType[] {
  return types.filter(({ heterogeneity }) => heterogeneity === smaller.heterogeneity);
}

function getExtent(settings: HeuristicsSettings): Pick<HeuristicsChunk, 'pending' | 'instantCount'> {
  return { pending: within(settings, smaller.pending), instantCount: Math.min(smaller.instantsMax, settings.instants) };
}

function within({ pending }: HeuristicsSettings, wanted: readonly number[]): number[] {
  return wanted.filter((value) => pending.includes(value));
}

/** How many grid jobs a chunk runs. */
export function countRuns({ pending, instantCount }: HeuristicsChunk): number {
  return pending.length * instantCount;
}

/** The relative cost of a chunk, in milliseconds of the machine that it was timed on. */
export function estimateCost(chunk: HeuristicsChunk): number {
  const {
    type: { taskCount, meanTaskTime },
    trace: { processors },
    policy,
    heuristic,
  } = chunk;
  const wholeMachine = (taskCount * meanTaskTime) / processors / hour;
  // What decides at every event of the queue costs by the time that the job is there.
  const perHour = heuristic === 'finish' ? 4 : policy === 'reinsert' ? 0.8 : 0.15;
  return countRuns(chunk) * (2 + 0.0017 * taskCount + wholeMachine * perHour);
}

/** Whether a run belongs to the last third of a trace's time, which no constant was fitted on. */
export function isHeldOut(run: number, instantCount: number): boolean {
  return 3 * run >= 2 * instantCount;
}
