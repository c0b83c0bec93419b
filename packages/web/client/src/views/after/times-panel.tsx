import { useCallback, type ReactNode } from 'react';
import type { TaskTimes } from '../../../../src/schema/index.ts';
import { buildStragglersOption, stragglersHeight, stragglersTable } from '../../charts/stragglers-chart.ts';
import { buildTimesOption, timesHeight, timesTable } from '../../charts/times-chart.ts';
import { sayCount, sayDuration, sayMany } from '../../model/words.ts';
import { useAnswer, usePage } from '../../page-context.tsx';
import { Chart, type PressedDatum } from '../../parts/chart.tsx';
import { Downloads } from './downloads.tsx';
import { Answered, Empty, Panel } from '../../parts/notices.tsx';

const reportedMax = 5;

/** How long tasks took, and the tasks that took much longer than the others. */
export function TimesPanels({ jobId, everyMs }: { readonly jobId: number; readonly everyMs: number }): ReactNode {
  const answer = useAnswer('getTaskTimes', { params: { job_id: jobId } }, everyMs);
  return (
    <>
      <Panel title="Task times" aside={<Downloads jobId={jobId} what="times" formats={['svg', 'csv', 'json']} />}>
        <Answered answer={answer} what="task times">
          {(times) => (times.count === 0 ? <Empty title="No task has finished." /> : <Distribution times={times} />)}
        </Answered>
      </Panel>
      <Panel
        title="Stragglers"
        aside={
          answer.value === undefined || answer.value.straggler_count === 0 ? undefined : (
            <span className="row">
              <span className="faint">{sayMany(answer.value.straggler_count, 'run')} above twice the median</span>
              <Downloads jobId={jobId} what="stragglers" formats={['svg', 'csv', 'json']} />
            </span>
          )
        }
      >
        <Answered answer={answer} what="stragglers">
          {(times) => <Stragglers times={times} />}
        </Answered>
      </Panel>
    </>
  );
}

function Distribution({ times }: { readonly times: TaskTimes }): ReactNode {
  const half = times.quantiles.find(({ share }) => share === 0.5);
  return (
    <>
      <p className="lead">
        Median <b>{half === undefined ? '?' : sayDuration(half.ms_max)}</b>; the longest{' '}
        <b>{sayDuration(times.ms_max ?? 0)}</b>, the mean {sayDuration(times.mean_ms ?? 0)}.
      </p>
      <Chart
        data={times}
        build={buildTimesOption}
        table={timesTable}
        height={timesHeight}
        label={
          `Distribution of ${sayMany(times.count, 'run time')}: ` +
          `${times.quantiles.map(({ share, ms_max: most }) => `${Math.round(share * 100)} % within ${sayDuration(most)}`).join(', ')}`
        }
      />
    </>
  );
}

function Stragglers({ times }: { readonly times: TaskTimes }): ReactNode {
  const { explain } = usePage();
  const { stragglers, job_id: jobId } = times;
  const press = useCallback(
    ({ index }: PressedDatum) => {
      const pressed = stragglers[index];
      if (pressed !== undefined) explain({ kind: 'task', jobId, taskIndex: pressed.task_index });
    },
    [stragglers, jobId, explain],
  );
  if (times.count === 0) return <Empty title="No task has finished." />;
  if (stragglers.length === 0) return <Empty title="No stragglers: no task took more than twice the median." />;
  return (
    <>
      <Chart
        data={times}
        build={buildStragglersOption}
        table={stragglersTable}
        height={stragglersHeight(times)}
        onPress={press}
        label={`Runs that took longest: ${stragglers
          .slice(0, 5)
          .map((one) => `task ${one.task_index} on ${one.machine_id} ${sayDuration(one.took_ms)}`)
          .join(', ')}`}
      />
      <h3>Why</h3>
      <ul className="plain-list whys">
        {stragglers.slice(0, reportedMax).map((one) => (
          <li key={one.replica_id}>
            <button
              type="button"
              className="link"
              onClick={() => explain({ kind: 'task', jobId, taskIndex: one.task_index })}
            >
              task {sayCount(one.task_index)}
            </button>{' '}
            on{' '}
            <button
              type="button"
              className="link"
              onClick={() => explain({ kind: 'machine', machineId: one.machine_id })}
            >
              {one.machine_id}
            </button>
            , {sayDuration(one.took_ms)}
            {one.is_running ? ' so far' : ''}:{' '}
            <span className="faint">
              {one.why}
              {one.failures_before > 0
                ? ` It had failed ${one.failures_before === 1 ? 'once' : `${one.failures_before} times`} before.`
                : ''}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
