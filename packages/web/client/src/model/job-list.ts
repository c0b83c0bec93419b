import type { JobRow } from '../../../src/schema/index.ts';
import { getJobState, jobStates, type JobState } from './job-state.ts';

/** What a list of jobs may be sorted by. */
export const jobSorts = ['job', 'label', 'status', 'done', 'tasks', 'submitted', 'remaining'] as const;
export type JobSort = (typeof jobSorts)[number];

/** Which jobs are shown, and in what order; all of it is in the address. */
export interface JobSpec {
  readonly search: string;
  /** Undefined for all. */
  readonly state: JobState | undefined;
  readonly sort: JobSort;
  readonly isAscending: boolean;
}

/** All jobs, the newest first. */
export const plainSpec: JobSpec = { search: '', state: undefined, sort: 'job', isAscending: false };

/** Reads the query of an address; invalid parts count as left out. */
export function readJobSpec(query: string): JobSpec {
  const words = new URLSearchParams(query);
  const sort = jobSorts.find((one) => one === words.get('sort')) ?? plainSpec.sort;
  return {
    search: (words.get('search') ?? '').slice(0, 256),
    state: jobStates.find((one) => one === words.get('state')),
    sort,
    isAscending: words.has('order') ? words.get('order') === 'ascending' : beginsAscending(sort),
  };
}

/** The query of an address, with its question mark; empty where nothing is requested. */
export function getQuery({ search, state, sort, isAscending }: JobSpec): string {
  const words = new URLSearchParams();
  if (search !== '') words.set('search', search);
  if (state !== undefined) words.set('state', state);
  if (sort !== plainSpec.sort) words.set('sort', sort);
  if (isAscending !== beginsAscending(sort)) words.set('order', isAscending ? 'ascending' : 'descending');
  return words.size === 0 ? '' : `?${words.toString()}`;
}

/** Another column sorts in its own first order, the same one the other way round. */
export function sortBy(spec: JobSpec, sort: JobSort): JobSpec {
  return { ...spec, sort, isAscending: spec.sort === sort ? !spec.isAscending : beginsAscending(sort) };
}

/** Words are looked for from A on and what ends first comes first; of numbers and times the largest and newest. */
function beginsAscending(sort: JobSort): boolean {
  return sort === 'label' || sort === 'status' || sort === 'remaining';
}

/** The jobs that are requested for, in the order that is requested for. Cost: n log n of all. */
export function arrangeJobs(jobs: Iterable<JobRow>, spec: JobSpec): JobRow[] {
  const matches = getMatcher(spec.search);
  const shown = [...jobs].filter(
    (job) => (spec.state === undefined || getJobState(job) === spec.state) && matches(job),
  );
  const compare = comparisons[spec.sort];
  const direction = spec.isAscending ? 1 : -1;
  return shown.sort((one, other) => {
    const [rank, otherRank] = spec.sort === 'remaining' ? [rankRemaining(one), rankRemaining(other)] : [0, 0];
    if (rank !== otherRank) return rank - otherRank;
    return direction * compare(one, other) || other.job_id - one.job_id;
  });
}

/**
 * All words have to be found: in the label or the user's name in any case, or as the number of the job (`#41`, `41`).
 */
function getMatcher(search: string): (job: JobRow) => boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return ({ job_id: jobId, label, user_id: user }) => {
    const text = `${label}\n${user}`.toLowerCase();
    return words.every((word) => text.includes(word) || String(jobId) === word.replace(/^#/, ''));
  };
}

const collator = new Intl.Collator(undefined, { numeric: true });
const comparisons: Readonly<Record<JobSort, (one: JobRow, other: JobRow) => number>> = {
  job: (one, other) => one.job_id - other.job_id,
  label: (one, other) => collator.compare(one.label, other.label),
  status: (one, other) => jobStates.indexOf(getJobState(one)) - jobStates.indexOf(getJobState(other)),
  done: (one, other) => shareDone(one) - shareDone(other),
  tasks: (one, other) => one.task_count - other.task_count,
  submitted: (one, other) => one.submitted_unix_ms - other.submitted_unix_ms,
  remaining: (one, other) => (getRemaining(one) === getRemaining(other) ? 0 : getRemaining(one) - getRemaining(other)),
};

/** Running jobs with an estimate come first either way, then those without one, then those that have ended. */
function rankRemaining(job: JobRow): number {
  if (job.status !== 'running') return 2;
  return getRemaining(job) === Infinity ? 1 : 0;
}

function shareDone({ tasks, task_count: count }: JobRow): number {
  return count === 0 ? 1 : tasks.finished / count;
}

function getRemaining({ remaining_ms_max: most, remaining_ms_min: least }: JobRow): number {
  return most ?? least ?? Infinity;
}

/** How many jobs are in each state. */
export function countStates(jobs: Iterable<JobRow>): Readonly<Record<JobState, number>> {
  const counts = { running: 0, blocked: 0, held: 0, finished: 0, failed: 0, cancelled: 0 };
  for (const job of jobs) counts[getJobState(job)] += 1;
  return counts;
}

/** What is known of jobs by their numbers. */
export type JobCache = ReadonlyMap<number, JobRow>;

/**
 * Takes newer rows into a book; the same book where they say nothing new. Cost: the size of the book where something
 * changed.
 *
 * @param isAsked whether it was asked how long they take: else a row that says nothing of it keeps what was known while
 * it runs.
 */
export function takeJobs(book: JobCache, rows: readonly JobRow[], isAsked = false): JobCache {
  let next: Map<number, JobRow> | undefined;
  for (const row of rows) {
    const known = book.get(row.job_id);
    const taken = isAsked || known === undefined ? row : withRest(row, known);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(taken)) continue;
    next ??= new Map(book);
    next.set(row.job_id, taken);
  }
  return next ?? book;
}

/** A row with what was known of how long its job takes, where it runs and the row says nothing of it. */
function withRest(row: JobRow, { remaining_ms_min: least, remaining_ms_max: most }: JobRow): JobRow {
  return row.status !== 'running' || row.remaining_ms_max !== null || row.remaining_ms_min !== null
    ? row
    : { ...row, remaining_ms_min: least, remaining_ms_max: most };
}

/**
 * The running jobs to be asked about next, in rising order of their numbers: those first that never were, and then as
 * they stand. @param most of them that one call takes.
 */
export function jobsToAsk(jobs: readonly JobRow[], asked: ReadonlySet<number>, most: number): number[] {
  const running = jobs.filter(({ status }) => status === 'running').map(({ job_id: jobId }) => jobId);
  const [known, unknown] = [running.filter((jobId) => asked.has(jobId)), running.filter((jobId) => !asked.has(jobId))];
  return [...unknown, ...known].slice(0, most).sort((one, other) => one - other);
}

/**
 * The rows that the arrow keys lead to from a row; undefined for other keys. @param page rows that are seen at once.
 */
export function rowBeside(
  index: number,
  count: number,
  { key, page }: { readonly key: string; readonly page: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
  const step = steps[key];
  return step === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, index + step));
}
