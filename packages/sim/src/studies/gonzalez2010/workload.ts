import type { TracedRequest } from '@mutirao/core/queue';
import { invariant } from '@mutirao/core/shared';

/** Sizes of the clusters. @source gonzalez2010, Table I. */
export const clusterSizes: readonly number[] = [4, 4, 4, 4, 8, 8, 8, 16, 16, 32, 32];

/** All processors, M. */
export const allProcessors = clusterSizes.reduce((sum, size) => sum + size, 0);

/** Tasks of an experiment. @source gonzalez2010, Table II. */
export const experimentTasks = 36_770;

/** Experiments that our logs are enough for. Departs from the source: it has 30. */
export const experimentCount = 10;

/** Offered loads. Settled for this project: the seed does not say its load. */
export const offeredLoads: readonly number[] = [0.7, 0.85, 1];

/** The logs that have requested times and parallel requests, as files of the data folder. */
export const placementLogs: readonly string[] = [
  'swf/SDSC-SP2-1998-4.2-cln.swf.gz', 'swf/CTC-SP2-1996-3.1-cln.swf.gz', 'swf/LANL-CM5-1994-4.1-cln.swf.gz', 'swf/SDSC-BLUE-2000-4.2-cln.swf.gz', 'grid/DAS2-fs1-2003-1.swf.gz',
];

/**
 * The tasks of one experiment, at load 1 of nothing in particular: submissions are fractions of the experiment's span.
 *
 * Each log gives one of as many equal stretches as there are experiments, so that experiments share no task; stretches are laid over each other, each
 * stretched to the same span. So an experiment is what a grid of five communities would see, in the mix of the logs.
 *
 * @param logs by submission, those that fit with a requested time.
 */
export function sampleExperiment(logs: readonly (readonly TracedRequest[])[], experiment: number): TracedRequest[] {
  const total = logs.reduce((sum, { length }) => sum + length, 0);
  invariant(total >= experimentTasks * experimentCount, `logs hold ${total} tasks; want ${experimentTasks * experimentCount}`);
  const tasks = logs.flatMap((log, index) => {
    const count = shareOf(logs, index, total);
    const first = experiment * count;
    return spread(log.slice(first, first + count));
  });
  return tasks.sort((one, other) => one.submittedAt - other.submittedAt);
}

/** Tasks of a log in each experiment: in proportion to it, the last log making up the number. */
function shareOf(logs: readonly (readonly TracedRequest[])[], index: number, total: number): number {
  const share = (at: number): number => Math.round(((logs[at]?.length ?? 0) * experimentTasks) / total);
  if (index < logs.length - 1) return share(index);
  return experimentTasks - logs.slice(0, -1).reduce((sum, _, at) => sum + share(at), 0);
}

/** Submissions as fractions of the stretch. */
function spread(tasks: readonly TracedRequest[]): TracedRequest[] {
  const start = tasks[0]?.submittedAt ?? 0;
  const span = Math.max(1, (tasks.at(-1)?.submittedAt ?? 0) - start);
  return tasks.map((task) => ({ submittedAt: (task.submittedAt - start) / span, width: task.width, walltime: task.walltime, runTime: task.runTime }));
}

/**
 * Stretches an experiment so that its work is so much of what all clusters could do between the first and the last submission; whole milliseconds, from 0 on.
 *
 * @param load more than 0; the offered load, sum size_j p_j / (M x span).
 */
export function scaleToLoad(tasks: readonly TracedRequest[], load: number): TracedRequest[] {
  const work = tasks.reduce((sum, { width, runTime }) => sum + width * runTime, 0);
  const span = work / (allProcessors * load);
  return tasks.map((task) => ({ ...task, submittedAt: Math.round(task.submittedAt * span) }));
}
