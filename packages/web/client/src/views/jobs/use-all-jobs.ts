import { useEffect, useState } from 'react';
import { getProblem, type Gateway } from '../../gateway/gateway.ts';
import { takeJobs, type JobCache } from '../../model/job-list.ts';
import { useAnswer, useLive, usePage } from '../../page-context.tsx';

const pageSize = 1000;
/** All jobs are read again after this time: old ones hardly change. */
const readAgainMs = 60_000;
/** About the number of jobs in one call. */
export const askedMax = 100;

/** All jobs of the grid, as far as they are read. */
export interface AllJobs {
  readonly book: JobCache;
  /** Those that were asked about once, whether or not it is known how long they take. */
  readonly asked: ReadonlySet<number>;
  readonly isComplete: boolean;
  readonly error: string | undefined;
}

interface Reading extends AllJobs {
  readonly gateway: Gateway;
}

// A user who comes back from a job sees the list at once, where it was.
const kept: { reading: Reading | undefined } = { reading: undefined };

/**
 * Reads all jobs page by page, and keeps up: the newest come by the stream, `watched` are asked for as long as they are
 * watched.
 */
export function useAllJobs(watched: readonly number[]): AllJobs {
  const { gateway } = usePage();
  const [reading, setReading] = useState<Reading>(() =>
    kept.reading?.gateway === gateway
      ? kept.reading
      : { gateway, book: new Map(), asked: new Set(), isComplete: false, error: undefined },
  );
  kept.reading = reading;
  useEffect(() => readAll(gateway, (change) => setReading((old) => ({ ...old, ...change(old) }))), [gateway]);
  const newest = useLive((state) => state.jobs?.jobs);
  const answer = useAnswer(
    'lookUpJobs',
    watched.length === 0 ? undefined : { query: { job_ids: watched.slice(0, askedMax).join(',') } },
    4000,
  );
  useEffect(() => {
    if (newest !== undefined) setReading((old) => withBook(old, takeJobs(old.book, newest)));
  }, [newest]);
  useEffect(() => {
    const rows = answer.value?.jobs;
    if (rows !== undefined)
      setReading((old) =>
        withAsked(
          withBook(old, takeJobs(old.book, rows, true)),
          rows.map(({ job_id: jobId }) => jobId),
        ),
      );
  }, [answer.value]);
  return reading;
}

function withBook(reading: Reading, book: JobCache): Reading {
  return book === reading.book ? reading : { ...reading, book };
}

function withAsked(reading: Reading, jobIds: readonly number[]): Reading {
  return jobIds.every((jobId) => reading.asked.has(jobId))
    ? reading
    : { ...reading, asked: new Set([...reading.asked, ...jobIds]) };
}

/** Reads all pages, again and again. @returns what ends it. */
function readAll(gateway: Gateway, change: (next: (old: AllJobs) => Partial<AllJobs>) => void): () => void {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = async (): Promise<void> => {
    for (let before: number | null = 0; before !== null; ) {
      const page: { readonly jobs: Parameters<typeof takeJobs>[1]; readonly next_before_job_id: number | null } =
        await gateway.call('listJobs', {
          query: { page_size: pageSize, ...(before > 0 && { before_job_id: before }) },
          signal: abort.signal,
        });
      before = page.next_before_job_id;
      change((old) => ({ book: takeJobs(old.book, page.jobs), error: undefined }));
    }
    change(() => ({ isComplete: true }));
  };
  const again = (): void => {
    round()
      .then(
        () => readAgainMs,
        (error: unknown) => {
          if (!abort.signal.aborted) change(() => ({ error: getProblem(error).message }));
          return 3000;
        },
      )
      .then(
        (wait) => {
          if (!abort.signal.aborted) timer = setTimeout(again, wait);
        },
        () => undefined,
      );
  };
  again();
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
