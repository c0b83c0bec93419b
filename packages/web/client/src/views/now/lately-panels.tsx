import { useMemo, type ReactNode } from 'react';
import { buildBusyOption, buildPaceOption, busyTable, paceTable, siteBands } from '../../charts/history-charts.ts';
import { sayDuration } from '../../model/words.ts';
import { useLive } from '../../page-context.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';

const height = 170;

/** How fast tasks finished over the last minutes, as far as this page has seen it. */
export function PacePanel(): ReactNode {
  const samples = useLive((state) => state.samples);
  const isIdle = samples.every(({ finishedPerSecond: pace }) => pace === undefined || pace === 0);
  return (
    <Panel title="Tasks finished" aside={<Span />}>
      {samples.length < 2 ? (
        <Loading what="live data" />
      ) : isIdle ? (
        <Empty title="No task has finished since this page was opened." />
      ) : (
        <Chart
          data={samples}
          build={buildPaceOption}
          table={paceTable}
          height={height}
          label={
            'Tasks finished per second over the last minutes, ' +
            `${(samples.at(-1)?.finishedPerSecond ?? 0).toFixed(1)} now.`
          }
        />
      )}
    </Panel>
  );
}

/** Which sites had busy processors over the last minutes, as far as this page has seen it. */
export function BusyPanel(): ReactNode {
  const samples = useLive((state) => state.samples);
  const bands = useMemo(() => siteBands(samples), [samples]);
  const last = samples.at(-1);
  const said = bands.map(({ ink, of }) => `${ink.title} ${last === undefined ? 0 : (of(last) ?? 0)}`).join(', ');
  return (
    <Panel title="Busy processors" aside={<Span />}>
      {samples.length < 2 ? (
        <Loading what="live data" />
      ) : bands.length === 0 ? (
        <Empty title="No machine has had a processor since this page was opened." />
      ) : (
        <>
          <Legend inks={bands.map(({ ink }) => ink)} />
          <Chart
            data={samples}
            build={buildBusyOption}
            table={busyTable}
            height={height}
            label={`Busy processors by site over the last minutes; now ${said}, of ${last?.processors ?? 0}.`}
          />
        </>
      )}
    </Panel>
  );
}

function Span(): ReactNode {
  const from = useLive((state) => state.samples[0]?.at);
  const until = useLive((state) => state.samples.at(-1)?.at);
  return from === undefined || until === undefined || until - from < 1000 ? null : (
    <span className="faint">the last {sayDuration(until - from)}</span>
  );
}
