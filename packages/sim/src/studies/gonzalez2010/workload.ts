import type { TracedRequest } from '@mutirao/core/queue';
import { invariant } from '@mutirao/core/shared';

/** Sizes of the clusters. @source gonzalez2010, Table I. */
export const clusterSizes: readonly number[] = [4, 4, 4, 4, 8, 8, 8, 16, 16, 32, 32];

/** All processors, M. */
export const allProcessors = clusterSizes.reduce((sum, size) => sum + size, 0);

/** Tasks of an experiment. @source gonzalez2010, Table II. */
export const experimentTasks = 36_770;

/** Logs whose tasks an experiment is made of. */
export interface Mix {
  readonly id: 'logs' | 'serial';
  readonly title: string;
  /** As files of the data folder. */
  readonly files: readonly string[];
  /** Disjoint experiments that are run of it. Departs from the source: it has 30. */
  readonly experimentCount: number;
}

const withSerial = [
  'swf/SDSC-SP2-1998-4.2-cln.swf.gz',
  'swf/CTC-SP2-1996-3.1-cln.swf.gz',
  'grid/DAS2-fs1-2003-1.swf.gz',
];

/**
 * The logs of the study, all that have requested times and parallel requests; and, to see what a larger share of serial
 * work does, those whose requests
 * may be narrower than 8, with the grid log whose tasks are all serial. The former are enough for ten experiments; of
 * the latter there are as many as of
 * the other side questions.
 */
export const mixes: { readonly logs: Mix; readonly serial: Mix } = {
  logs: {
    id: 'logs',
    title: 'the five logs',
    files: [...withSerial, 'swf/LANL-CM5-1994-4.1-cln.swf.gz', 'swf/SDSC-BLUE-2000-4.2-cln.swf.gz'],
    experimentCount: 10,
  },
  serial: {
    id: 'serial',
    title: 'more serial work',
    files: [...withSerial, 'grid/LCG-2005-1.swf.gz'],
    experimentCount: 5,
  },
};

/**
 * The tasks of one experiment; submissions are fractions of its span.
 *
 * Each log gives one of as many equal stretches as there are experiments, so that experiments share no task; stretches
 * are laid over each other, each stretched to the same span. So an experiment resembles the load of a grid of several
 * communities, in the proportions of the logs.
 *
 * @param logs by submission, requests with a requested time that fit the widest cluster. @param experiment below
 *   `experimentCount`.
 */
export function sampleExperiment(logs: readonly (readonly TracedRequest[])[], experiment: number): TracedRequest[] {
  const counts = shareOut(logs.map(({ length }) => length));
  const tasks = logs.flatMap((log, index) => {
    const count = counts[index] as number;
    const stretch = log.slice(experiment * count, (experiment + 1) * count);
    invariant(stretch.length === count, `a log of ${log.length} tasks has no ${count} for experiment ${experiment}`);
    return spread(stretch);
  });
  return tasks.sort((one, other) => one.submittedAt - other.submittedAt);
}

/** Tasks of each log in an experiment: in proportion to the logs, the longest making up the number. */
function shareOut(lengths: readonly number[]): number[] {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const counts = lengths.map((length) => Math.floor((length * experimentTasks) / total));
  const longest = lengths.indexOf(Math.max(...lengths));
  counts[longest] = (counts[longest] as number) + experimentTasks - counts.reduce((sum, count) => sum + count, 0);
  return counts;
}

/** Submissions as fractions of the stretch. */
function spread(tasks: readonly TracedRequest[]): TracedRequest[] {
  const start = tasks[0]?.submittedAt ?? 0;
  const span = Math.max(1, (tasks.at(-1)?.submittedAt ?? 0) - start);
  return tasks.map(({ submittedAt, width, walltime, runTime }) => ({
    submittedAt: (submittedAt - start) / span,
    width,
    walltime,
    runTime,
  }));
}

/**
 * Stretches an experiment so that its work is the given share of what all clusters can do between the first and the
 * last submission; whole milliseconds, from 0 on.
 *
 * @param load more than 0: sum size_j p_j / (M x span), p being the real run time. @throws {InvariantError} for any
 *   other.
 */
export function scaleToLoad(tasks: readonly TracedRequest[], load: number): TracedRequest[] {
  invariant(load > 0 && Number.isFinite(load), `the offered load is ${load}; expected more than 0`);
  const span = sumWork(tasks) / (allProcessors * load);
  return tasks.map((task) => ({ ...task, submittedAt: Math.round(task.submittedAt * span) }));
}

/** Work of tasks, in processor-ms. */
export function sumWork(tasks: readonly TracedRequest[]): number {
  return tasks.reduce((sum, { width, runTime }) => sum + width * runTime, 0);
}
