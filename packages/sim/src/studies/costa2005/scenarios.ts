import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import type { Heterogeneity } from '../../grid/sample-jobs.ts';
import { studyVariants, usersExtent, usersVariant, variation, type StudyVariant } from './variants.ts';

/** A log and the machine that it is replayed on. */
export interface StudyLog {
  /** In file names and on the command line. */
  readonly id: string;
  readonly title: string;
  /** In the folder that MUTIRAO_DATA names. */
  readonly file: string;
  readonly processors: ProcessorCount;
}

/** A log of local users, and the limits of grid jobs on the same machine. */
export interface StudyTrace extends StudyLog {
  /** What submission times are multiplied by. */
  readonly loadFactor: number;
  /** maxT_r. */
  readonly walltimeMax: Duration;
}

/** A kind of grid job. */
export interface JobType {
  readonly taskCount: number;
  readonly meanTaskTime: Duration;
  readonly heterogeneity: Heterogeneity;
}

/** What a study consists of; two studies with the same settings have the same results. */
export interface StudySettings {
  /** Whether only the homogeneous types of at most 10,000 tasks are run, at 20 instants. */
  readonly isQuick: boolean;
  /** The same seed, the same instants and tasks. */
  readonly seed: string;
  /** Instants of each scenario; left out, 50, and 20 of jobs of 100,000 tasks or where it is quick. */
  readonly instants?: number;
  /** Job types of more tasks are left out; left out, none are. */
  readonly taskCountMax?: number;
}

/** All scenarios of one job type on one trace: every maxPR and every heuristic, each at every instant. */
export interface StudyChunk {
  /** Of letters, digits, `-` and `.`. */
  readonly id: string;
  readonly trace: StudyTrace;
  readonly type: JobType;
  /** The assumption that is varied; left out, none is. */
  readonly variant?: StudyVariant;
  /** Instants at which the job is submitted. */
  readonly instantCount: number;
}

/** The heuristics that are compared, the reference first. */
export const studyHeuristics = ['static', 'adaptive', 'mixed'] as const;

/** One of `studyHeuristics`. */
export type StudyHeuristic = (typeof studyHeuristics)[number];

/** maxPR: requests of the job at once. */
export const requestsMaxima: readonly number[] = [1, 2, 3, 4, 5, 6];

const hour: Duration = 3_600_000;
const ctc = { file: 'swf/CTC-SP2-1996-3.1-cln.swf.gz', processors: 512, walltimeMax: 18 * hour };

/**
 * The traces.
 *
 * @source costa2005, Tables 4.1 and 4.5. Departs from the source: the archive's cleaned logs; maxT_r is not given
 * there.
 */
export const studyTraces: readonly StudyTrace[] = [
  {
    id: 'sp2',
    title: 'SDSC SP2',
    file: 'swf/SDSC-SP2-1998-4.2-cln.swf.gz',
    processors: 128,
    loadFactor: 1,
    walltimeMax: 18 * hour,
  },
  {
    id: 'bluehorizon',
    title: 'SDSC BlueHorizon',
    file: 'swf/SDSC-BLUE-2000-4.2-cln.swf.gz',
    processors: 1152,
    loadFactor: 1,
    walltimeMax: 36 * hour,
  },
  { id: 'ctc', title: 'CTC SP2', loadFactor: 1, ...ctc },
  { id: 'ctc-0.9', title: 'CTC SP2, submissions x 0.9', loadFactor: 0.9, ...ctc },
  { id: 'ctc-0.7', title: 'CTC SP2, submissions x 0.7', loadFactor: 0.7, ...ctc },
];

/** The 36 job types, in order of tasks, then mean task time, then heterogeneity. @source costa2005, Table 4.2. */
export const jobTypes: readonly JobType[] = [100, 1000, 10_000, 100_000].flatMap((taskCount) =>
  [100, 1000, 10_000].flatMap((seconds) =>
    ([1, 2, 4] as const).map((heterogeneity) => ({ taskCount, meanTaskTime: 1000 * seconds, heterogeneity })),
  ),
);

/**
 * The parts of a study, in the order in which they are run: trace by trace, so that a trace need not be replayed often.
 */
export function listChunks(settings: StudySettings): StudyChunk[] {
  const plain = studyTraces.flatMap((trace) =>
    listTypes(settings).map((type) => ({
      id: `${trace.id}-${nameType(type)}`,
      trace,
      type,
      instantCount: listInstants(settings, type),
    })),
  );
  return [...plain, ...listVariations(), ...(settings.isQuick ? [] : listUsersWay(settings))];
}

/** The job types that are run. */
export function listTypes({ isQuick, taskCountMax = Infinity }: StudySettings): JobType[] {
  return jobTypes.filter(
    ({ taskCount, heterogeneity }) =>
      taskCount <= taskCountMax && (!isQuick || (taskCount <= 10_000 && heterogeneity === 1)),
  );
}

function listInstants({ isQuick, instants }: StudySettings, { taskCount }: JobType): number {
  return instants ?? (isQuick || taskCount === 100_000 ? 20 : 50);
}

function listUsersWay({ instants = usersExtent.instantCount, taskCountMax = Infinity }: StudySettings): StudyChunk[] {
  const most = Math.min(usersExtent.taskCountMax, taskCountMax);
  const types = jobTypes.filter(({ taskCount, heterogeneity }) => taskCount <= most && heterogeneity === 1);
  const traces = studyTraces.filter(({ id }) => usersExtent.traceIds.some((wanted) => wanted === id));
  return traces.flatMap((trace) =>
    types.map((type) => ({
      id: `${trace.id}-${nameType(type)}-${usersVariant.id}`,
      trace,
      type,
      variant: usersVariant,
      instantCount: instants,
    })),
  );
}

/**
 * A small, a long and a middling job type under each varied assumption; of these there are plain chunks too, to compare
 * with.
 */
function listVariations(): StudyChunk[] {
  const names = ['100x100s-1x', '1000x1000s-1x', '100x10000s-1x'];
  const types = jobTypes.filter((type) => names.includes(nameType(type)));
  const traces = studyTraces.filter(({ id }) => variation.traceIds.some((wanted) => wanted === id));
  return traces.flatMap((trace) =>
    studyVariants.flatMap((variant) =>
      types.map((type) => ({
        id: `${trace.id}-${nameType(type)}-${variant.id}`,
        trace,
        type,
        variant,
        instantCount: variation.instantCount,
      })),
    ),
  );
}

/** How many grid jobs a chunk runs. */
export function countRuns({ instantCount }: StudyChunk): number {
  return instantCount * requestsMaxima.length * studyHeuristics.length;
}

/** The relative cost of a chunk, in the time of one task; found by timing a study. */
export function costOfRuns(chunk: StudyChunk): number {
  return countRuns(chunk) * (1000 + chunk.type.taskCount);
}

/** A job type in a file name: `1000x100s-2x`. */
export function nameType({ taskCount, meanTaskTime, heterogeneity }: JobType): string {
  return `${taskCount}x${meanTaskTime / 1000}s-${heterogeneity}x`;
}

/** What job types share their instants: those that differ in heterogeneity alone, so that it can be seen by itself. */
export function nameDraw({ taskCount, meanTaskTime }: JobType): string {
  return `${taskCount}x${meanTaskTime / 1000}s`;
}
