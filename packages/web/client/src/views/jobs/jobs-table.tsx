import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { defaultRangeExtractor, useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import type { JobRow } from '../../../../src/schema/index.ts';
import { jobsToAsk, rowBeside, sortBy, type JobSort, type JobSpec } from '../../model/job-list.ts';
import { JobCells } from './job-cells.tsx';
import { askedMax } from './use-all-jobs.ts';

const columns: readonly { readonly title: string; readonly sort: JobSort; readonly className?: string }[] = [
  { title: 'Job', sort: 'job' },
  { title: 'Label', sort: 'label' },
  { title: 'Status', sort: 'status' },
  { title: 'Progress', sort: 'done', className: 'grow' },
  { title: 'Tasks', sort: 'tasks', className: 'right' },
  { title: 'Submitted', sort: 'submitted' },
  { title: 'Remaining', sort: 'remaining' },
];
const rowHeight = 43;

interface TableParts {
  readonly jobs: readonly JobRow[];
  readonly spec: JobSpec;
  readonly setSpec: (spec: JobSpec) => void;
  /** Those that were asked about once. */
  readonly asked: ReadonlySet<number>;
  /** Called with the running jobs whose remaining time to request. */
  readonly watch: (jobIds: readonly number[]) => void;
}

/**
 * A table of any number of jobs, of which only the rows in sight are in the document. Arrow keys move from job to job.
 */
export function JobsTable({ jobs, spec, setSpec, asked, watch }: TableParts): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState<number>();
  useLayoutEffect(() => {
    const place = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(place - top) > 1) setTop(place);
  });
  const held = focused === undefined ? -1 : jobs.findIndex(({ job_id: jobId }) => jobId === focused);
  const virtualizer = useWindowVirtualizer({
    count: jobs.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => jobs[index]?.job_id ?? index,
    // The row that has the focus stays, wherever the page is scrolled to: its focus would be lost with it.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...(held < 0 ? [] : [held])])].sort((one, other) => one - other),
  });
  const items = virtualizer.getVirtualItems();
  const walk = useWalk(body, { jobs, items, scrollTo: (index) => virtualizer.scrollToIndex(index) });
  useWatch({ jobs, items, spec, asked, watch });
  return (
    <table className="jobs all" aria-rowcount={jobs.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ title, sort, className }) => (
            <th
              key={sort}
              scope="col"
              className={className}
              aria-sort={spec.sort !== sort ? undefined : spec.isAscending ? 'ascending' : 'descending'}
            >
              <button type="button" className="quiet small" onClick={() => setSpec(sortBy(spec, sort))}>
                {title}
                <span aria-hidden="true">{spec.sort !== sort ? '' : spec.isAscending ? ' ▲' : ' ▼'}</span>
              </button>
            </th>
          ))}
          <th scope="col">
            <span className="unseen">Why</span>
          </th>
        </tr>
      </thead>
      <tbody
        ref={body}
        onKeyDown={walk}
        onFocus={(event) => setFocused(deriveJob(event.target))}
        onBlur={() => setFocused(undefined)}
      >
        {items.flatMap((item, position) => {
          const job = jobs[item.index];
          const gap = item.start - (position === 0 ? top : (items[position - 1]?.end ?? top));
          return job === undefined
            ? []
            : [
                gap > 0 ? <Gap key={`gap-${item.key}`} height={gap} /> : null,
                <tr
                  key={item.key}
                  ref={virtualizer.measureElement}
                  data-index={item.index}
                  data-job={job.job_id}
                  aria-rowindex={item.index + 2}
                >
                  <JobCells job={job} />
                </tr>,
              ];
        })}
        <Gap height={Math.max(0, virtualizer.getTotalSize() + top - (items.at(-1)?.end ?? top))} />
      </tbody>
    </table>
  );
}

/** Stands for rows that are out of sight. */
function Gap({ height }: { readonly height: number }): ReactNode {
  return height === 0 ? null : (
    <tr className="gap" aria-hidden="true">
      <td colSpan={columns.length + 1} style={{ height }} />
    </tr>
  );
}

function deriveJob(element: Element): number | undefined {
  const row = element.closest('tr');
  return row?.dataset['job'] === undefined ? undefined : Number(row.dataset['job']);
}

interface Walk {
  readonly jobs: readonly JobRow[];
  readonly items: readonly VirtualItem[];
  readonly scrollTo: (index: number) => void;
}

/** Arrow keys, Page Up and Down, Home and End move the focus from job to job, also to rows that are not there yet. */
function useWalk(
  body: RefObject<HTMLTableSectionElement | null>,
  { jobs, items, scrollTo }: Walk,
): (event: KeyboardEvent) => void {
  const wanted = useRef<number>(undefined);
  useEffect(() => {
    const link =
      wanted.current === undefined
        ? undefined
        : body.current?.querySelector<HTMLElement>(`tr[data-index="${wanted.current}"] a`);
    if (link === null || link === undefined) return;
    wanted.current = undefined;
    link.focus();
  });
  return (event) => {
    const from = jobs.findIndex(({ job_id: jobId }) => jobId === deriveJob(event.target as Element));
    const next = rowBeside(from, jobs.length, {
      key: event.key,
      page: Math.max(1, Math.floor(window.innerHeight / rowHeight) - 3),
    });
    if (from < 0 || next === undefined) return;
    event.preventDefault();
    const link = items.some(({ index }) => index === next)
      ? body.current?.querySelector<HTMLElement>(`tr[data-index="${next}"] a`)
      : undefined;
    if (link !== null && link !== undefined) {
      link.focus();
      return;
    }
    wanted.current = next;
    scrollTo(next);
  };
}

/**
 * Reports which running jobs are in sight, once scrolling has stopped. If jobs are ordered by remaining time, all of
 * them are requested in turn.
 */
function useWatch({
  jobs,
  items,
  spec,
  asked,
  watch,
}: Pick<TableParts, 'jobs' | 'spec' | 'asked' | 'watch'> & { readonly items: readonly VirtualItem[] }): void {
  const candidates = spec.sort === 'remaining' ? jobs : items.flatMap(({ index }) => jobs[index] ?? []);
  const key = jobsToAsk(candidates, asked, askedMax).join(',');
  useEffect(() => {
    const timer = setTimeout(() => watch(key === '' ? [] : key.split(',').map(Number)), 250);
    return () => clearTimeout(timer);
  }, [key, watch]);
}
