import { useDeferredValue, useEffect, useMemo, useState, type ReactNode } from 'react';
import {
  arrangeJobs,
  countStates,
  jobStates,
  plainWish,
  queryOf,
  readJobWish,
  type JobWish,
} from '../../model/job-list.ts';
import { taskInks } from '../../model/palette.ts';
import { sayCount, sayMany } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Empty, Loading } from '../../parts/notices.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { JobsTable } from './jobs-table.tsx';
import { useAllJobs } from './use-all-jobs.ts';

/** All jobs: searched, filtered, sorted. */
export function JobsView(): ReactNode {
  const { go } = usePage();
  const [wish, setWish] = useWish();
  const [watched, setWatched] = useState<readonly number[]>([]);
  const { book, asked, isComplete, error } = useAllJobs(watched);
  const settled = useDeferredValue(wish);
  const jobs = useMemo(() => arrangeJobs(book.values(), settled), [book, settled]);
  const counts = useMemo(() => countStates(book.values()), [book]);
  if (book.size === 0) {
    return (
      <div className="view">
        <h1>Jobs</h1>
        <section className="panel">
          {error === undefined ? null : (
            <p className="refusal" role="alert">
              {error}
            </p>
          )}
          {isComplete ? (
            <Empty title="There are no jobs yet.">
              <button type="button" onClick={() => go({ view: 'submit' })}>
                Submit the first one
              </button>
            </Empty>
          ) : (
            <Loading what="the jobs" />
          )}
        </section>
      </div>
    );
  }
  return (
    <div className="view">
      <h1>Jobs</h1>
      <section className="panel">
        <Filters wish={wish} setWish={setWish} counts={counts} total={book.size} />
        {error === undefined ? null : (
          <p className="refusal" role="alert">
            {error}
          </p>
        )}
        <div className="row list-head">
          <p className="hint" role="status">
            {jobs.length === book.size
              ? sayMany(book.size, 'job')
              : `${sayCount(jobs.length)} of ${sayMany(book.size, 'job')}`}
            {isComplete ? '' : ', and more are being read …'}
          </p>
          <Legend inks={Object.values(taskInks)} />
        </div>
        {jobs.length === 0 ? (
          <Empty title="No job is like that.">
            <button
              type="button"
              onClick={() => setWish({ ...plainWish, sort: wish.sort, isAscending: wish.isAscending })}
            >
              Show all
            </button>
          </Empty>
        ) : (
          <JobsTable jobs={jobs} wish={wish} setWish={setWish} asked={asked} watch={setWatched} />
        )}
      </section>
    </div>
  );
}

/** What is wished for, which the address keeps. */
function useWish(): [JobWish, (wish: JobWish) => void] {
  const [wish, setWish] = useState(() => readJobWish(window.location.search));
  useEffect(() => {
    // Browsers refuse an address that changes with each letter.
    const timer = setTimeout(
      () => window.history.replaceState(window.history.state, '', window.location.pathname + queryOf(wish)),
      200,
    );
    return () => clearTimeout(timer);
  }, [wish]);
  useEffect(() => {
    const back = (): void => setWish(readJobWish(window.location.search));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  return [wish, setWish];
}

interface FilterParts {
  readonly wish: JobWish;
  readonly setWish: (wish: JobWish) => void;
  readonly counts: ReturnType<typeof countStates>;
  readonly total: number;
}

function Filters({ wish, setWish, counts, total }: FilterParts): ReactNode {
  return (
    <div className="row filters" role="search" aria-label="Jobs">
      <input
        type="search"
        aria-label="Search in labels, users and numbers of jobs"
        placeholder="Label, user or #number"
        value={wish.search}
        onChange={(event) => setWish({ ...wish, search: event.target.value })}
      />
      <div className="choice" role="group" aria-label="State">
        <button
          type="button"
          aria-pressed={wish.state === undefined}
          onClick={() => setWish({ ...wish, state: undefined })}
        >
          all <span className="faint">{sayCount(total)}</span>
        </button>
        {jobStates.map((state) => (
          <button
            key={state}
            type="button"
            aria-pressed={wish.state === state}
            onClick={() => setWish({ ...wish, state })}
          >
            <StatusBadge status={state} /> <span className="faint">{sayCount(counts[state])}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
