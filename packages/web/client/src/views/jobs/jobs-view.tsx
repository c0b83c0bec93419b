import { useDeferredValue, useEffect, useMemo, useState, type ReactNode } from 'react';
import { arrangeJobs, countStates, plainSpec, getQuery, readJobSpec, type JobSpec } from '../../model/job-list.ts';
import { jobStates } from '../../model/job-state.ts';
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
  const [spec, setSpec] = useSpec();
  const [watched, setWatched] = useState<readonly number[]>([]);
  const { book, asked, isComplete, error } = useAllJobs(watched);
  const settled = useDeferredValue(spec);
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
        <Filters spec={spec} setSpec={setSpec} counts={counts} total={book.size} />
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
          <Empty title="No job matches.">
            <button
              type="button"
              onClick={() => setSpec({ ...plainSpec, sort: spec.sort, isAscending: spec.isAscending })}
            >
              Show all
            </button>
          </Empty>
        ) : (
          <JobsTable jobs={jobs} spec={spec} setSpec={setSpec} asked={asked} watch={setWatched} />
        )}
      </section>
    </div>
  );
}

/** What is requested for, which the address keeps. */
function useSpec(): [JobSpec, (spec: JobSpec) => void] {
  const [spec, setSpec] = useState(() => readJobSpec(window.location.search));
  useEffect(() => {
    // Browsers refuse an address that changes with each letter.
    const timer = setTimeout(
      () =>
        window.history.replaceState(
          window.history.state,
          '',
          window.location.pathname + getQuery(spec) + window.location.hash,
        ),
      200,
    );
    return () => clearTimeout(timer);
  }, [spec]);
  useEffect(() => {
    const back = (): void => setSpec(readJobSpec(window.location.search));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  return [spec, setSpec];
}

interface FilterParts {
  readonly spec: JobSpec;
  readonly setSpec: (spec: JobSpec) => void;
  readonly counts: ReturnType<typeof countStates>;
  readonly total: number;
}

function Filters({ spec, setSpec, counts, total }: FilterParts): ReactNode {
  return (
    <div className="row filters" role="search" aria-label="Jobs">
      <input
        type="search"
        aria-label="Search in labels, users and numbers of jobs"
        placeholder="Label, user or #number"
        value={spec.search}
        onChange={(event) => setSpec({ ...spec, search: event.target.value })}
      />
      <div className="choice" role="group" aria-label="State">
        <button
          type="button"
          aria-pressed={spec.state === undefined}
          onClick={() => setSpec({ ...spec, state: undefined })}
        >
          all <span className="faint">{sayCount(total)}</span>
        </button>
        {jobStates
          .filter((state) => counts[state] > 0 || spec.state === state)
          .map((state) => (
            <button
              key={state}
              type="button"
              aria-pressed={spec.state === state}
              onClick={() => setSpec({ ...spec, state })}
            >
              <StatusBadge status={state} /> <span className="faint">{sayCount(counts[state])}</span>
            </button>
          ))}
      </div>
    </div>
  );
}
