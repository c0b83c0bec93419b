import type { ReactNode } from 'react';
import { sayCount, sayEnded, sayMany, sayToGo } from '../../model/words.ts';
import { useLive } from '../../page-context.tsx';

/** The grid in five numbers. */
export function GlancePanel(): ReactNode {
  const summary = useLive((state) => state.summary);
  if (summary === undefined)
    return (
      <section className="glance" aria-busy="true">
        {['Jobs', 'Tasks', 'Pace', 'Machines', 'Requests'].map((name) => (
          <Figure key={name} name={name} value="–" more="reading …" />
        ))}
      </section>
    );
  const { tasks, machines } = summary;
  const open = tasks.waiting + tasks.ready + tasks.running + tasks.verifying;
  const machineCount = machines.idle + machines.busy + machines.draining + machines.quarantined;
  const pace = summary.finished_per_s;
  return (
    <section className="glance" aria-label="The grid at a glance">
      <Figure
        name="Jobs"
        value={sayCount(summary.jobs_running)}
        more={`running${summary.jobs_blocked > 0 ? `, ${sayCount(summary.jobs_blocked)} of them blocked` : ''}; ${sayEnded(summary)} ended`}
      />
      <Figure
        name="Tasks"
        value={sayCount(open)}
        more={`open, ${sayCount(Math.min(tasks.running, summary.replicas_running))} running`}
      />
      <Figure name="Pace" value={`${pace >= 100 ? sayCount(pace) : pace.toFixed(1)}/s`} more={sayToGo(summary)} />
      <Figure
        name="Machines"
        value={sayCount(machineCount)}
        more={`${sayCount(machines.busy)} busy, ${sayCount(summary.processors)} processors`}
      />
      <Figure
        name="Requests"
        value={sayCount(summary.requests_running)}
        more={
          `running, ${sayCount(summary.requests_queued)} queued at ` +
          `${sayMany(summary.providers_connected, 'provider')}`
        }
      />
    </section>
  );
}

function Figure({
  name,
  value,
  more,
}: {
  readonly name: string;
  readonly value: string;
  readonly more: string;
}): ReactNode {
  return (
    <div className="figure">
      <span className="name">{name}</span>
      <span className="value">{value}</span>
      <span className="more">{more}</span>
    </div>
  );
}
