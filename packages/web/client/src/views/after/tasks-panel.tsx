import { useEffect, useRef, type ReactNode } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { JobRow, Task } from '../../../../src/schema/index.ts';
import { taskInks, type TaskState } from '../../model/palette.ts';
import { getSubjectHash } from '../../model/subject.ts';
import { describeTask, type TaskSpec } from '../../model/task-list.ts';
import { sayCount, sayMany, saySentence } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';
import { RetryTask } from '../../parts/retry-task.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useTasks } from './use-tasks.ts';

const rowHeight = 33;
const states = Object.keys(taskInks) as TaskState[];

interface PanelParts {
  readonly job: JobRow;
  readonly spec: TaskSpec;
  readonly setSpec: (spec: TaskSpec) => void;
}

/** All tasks of a job: filtered by status, searched by value, however many there are. */
export function TasksPanel({ job, spec, setSpec }: PanelParts): ReactNode {
  const isRunning = job.status === 'running';
  const read = useTasks(job.job_id, spec, isRunning);
  const { tasks, isComplete, error } = read;
  const isAll = spec.status === undefined && spec.search === '';
  return (
    <Panel title="Tasks" aside={<Count shown={tasks.length} isComplete={isComplete} total={job.task_count} />}>
      <Filters job={job} spec={spec} setSpec={setSpec} />
      {error === undefined ? null : (
        <p className="refusal" role="alert">
          {saySentence(error)}
        </p>
      )}
      {tasks.length > 0 ? (
        <TaskTable job={job} tasks={tasks} look={read.look} again={read.again} />
      ) : isComplete ? (
        <Empty title={isAll ? 'The job has no tasks yet.' : 'No task matches.'}>
          {isAll ? undefined : (
            <button type="button" onClick={() => setSpec({ status: undefined, search: '' })}>
              Show all
            </button>
          )}
        </Empty>
      ) : error === undefined ? (
        <Loading what="the tasks" />
      ) : null}
    </Panel>
  );
}

function Count({
  shown,
  isComplete,
  total,
}: {
  readonly shown: number;
  readonly isComplete: boolean;
  readonly total: number;
}): ReactNode {
  return (
    <span className="faint" role="status">
      {isComplete ? (shown === total ? '' : `${sayCount(shown)} of `) : ''}
      {sayMany(total, 'task')}
    </span>
  );
}

function Filters({ job, spec, setSpec }: PanelParts): ReactNode {
  return (
    <div className="row filters" role="search" aria-label="Tasks">
      <input
        type="search"
        aria-label="Search in values of tasks"
        placeholder="Value or #index"
        value={spec.search}
        onChange={(event) => setSpec({ ...spec, search: event.target.value })}
      />
      <div className="choice" role="group" aria-label="Status of tasks">
        <button
          type="button"
          aria-pressed={spec.status === undefined}
          onClick={() => setSpec({ ...spec, status: undefined })}
        >
          all <span className="faint">{sayCount(job.task_count)}</span>
        </button>
        {states
          .filter((state) => job.tasks[state] > 0 || spec.status === state)
          .map((state) => (
            <button
              key={state}
              type="button"
              aria-pressed={spec.status === state}
              onClick={() => setSpec({ ...spec, status: state })}
            >
              <StatusBadge status={state} /> <span className="faint">{sayCount(job.tasks[state])}</span>
            </button>
          ))}
      </div>
    </div>
  );
}

interface TableParts {
  readonly job: JobRow;
  readonly tasks: readonly Task[];
  readonly look: (first: number, last: number) => void;
  readonly again: () => void;
}

/** Only the rows in sight are in the document. */
function TaskTable({ job, tasks, look, again }: TableParts): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    getItemKey: (index) => tasks[index]?.task_index ?? index,
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => look(first, last), [look, first, last]);
  return (
    <div className="task-list" ref={scroller} tabIndex={0} role="region" aria-label="List of tasks">
      <table aria-rowcount={tasks.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {['Task', 'Value', 'Status', 'Runs', 'Machine', 'Took', 'Trouble'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">
              <span className="unseen">Retry</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Gap height={items[0]?.start ?? 0} />
          {items.map(({ index, key }) => {
            const task = tasks[index];
            return task === undefined ? null : (
              <TaskRow key={String(key)} job={job} task={task} rowIndex={index + 2} again={again} />
            );
          })}
          <Gap height={virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}

function Gap({ height }: { readonly height: number }): ReactNode {
  return height <= 0 ? null : (
    <tr className="gap" aria-hidden="true">
      <td colSpan={8} style={{ height }} />
    </tr>
  );
}

function TaskRow({
  job,
  task,
  rowIndex,
  again,
}: {
  readonly job: JobRow;
  readonly task: Task;
  readonly rowIndex: number;
  readonly again: () => void;
}): ReactNode {
  const { explain } = usePage();
  const { task_index: taskIndex, value, status } = task;
  const { runs, machineId, took, trouble } = describeTask(task, Date.now());
  const subject = { kind: 'task', jobId: job.job_id, taskIndex } as const;
  return (
    <tr aria-rowindex={rowIndex} style={{ height: rowHeight }}>
      <td className="numbers">
        <a
          href={getSubjectHash(subject)}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            explain(subject);
          }}
        >
          {taskIndex}
        </a>
      </td>
      <td className="cut" title={value}>
        {value}
      </td>
      <td>
        <StatusBadge status={status} />
      </td>
      <td className="numbers">{runs}</td>
      <td className="cut">
        {machineId === '' ? null : (
          <button type="button" className="link" onClick={() => explain({ kind: 'machine', machineId })}>
            {machineId}
          </button>
        )}
      </td>
      <td className="numbers">{took}</td>
      <td className="cut" title={trouble}>
        {trouble}
      </td>
      <td className="right">
        {status === 'failed' || status === 'cancelled' ? (
          <RetryTask jobId={job.job_id} taskIndex={taskIndex} again={again} />
        ) : null}
      </td>
    </tr>
  );
}
