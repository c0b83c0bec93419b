import { useMemo, type ReactNode } from 'react';
import { joinHistory, type GridSample } from '../../model/history.ts';
import { buildBusyOption, buildPaceOption, busyTable, paceTable, siteBands } from '../../charts/history-charts.ts';
import { useAnswer, useDraft, useLive } from '../../page-context.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';

const height = 170;

/** How far back the charts may look, in minutes. */
const spans = [
  [10, '10 min'],
  [60, '1 h'],
  [360, '6 h'],
  [1440, '24 h'],
] as const;

/** The recent past of the grid: samples of the gateway, then those that this page took. */
export function LatelyPanels(): ReactNode {
  const [minutes, setMinutes] = useDraft<number>('history-minutes', 10);
  const own = useLive((state) => state.samples);
  const { value, error } = useAnswer('getHistory', { query: { minutes } }, minutes > 10 ? 30_000 : 60_000);
  const last = own.at(-1)?.at ?? 0;
  const samples = useMemo(() => {
    const all = value === undefined ? own : joinHistory(value, own);
    return all.filter(({ at }) => at >= last - minutes * 60_000);
  }, [value, own, last, minutes]);
  const isRead = value !== undefined || error !== undefined;
  return (
    <>
      <PacePanel samples={samples} isRead={isRead} aside={<Spans minutes={minutes} setMinutes={setMinutes} />} />
      <BusyPanel samples={samples} isRead={isRead} />
    </>
  );
}

function Spans({
  minutes,
  setMinutes,
}: {
  readonly minutes: number;
  readonly setMinutes: (minutes: number) => void;
}): ReactNode {
  return (
    <div className="choice small" role="group" aria-label="How far back">
      {spans.map(([length, title]) => (
        <button key={length} type="button" aria-pressed={length === minutes} onClick={() => setMinutes(length)}>
          {title}
        </button>
      ))}
    </div>
  );
}

interface LatelyParts {
  readonly samples: readonly GridSample[];
  readonly isRead: boolean;
  readonly aside?: ReactNode;
}

/** How fast tasks finished. */
function PacePanel({ samples, isRead, aside }: LatelyParts): ReactNode {
  const isIdle = samples.every(({ finishedPerSecond: pace }) => pace === undefined || pace === 0);
  return (
    <Panel title="Tasks finished" className="lately" aside={aside}>
      {samples.length < 2 || !isRead ? (
        <Loading what="live data" />
      ) : isIdle ? (
        <Empty title="No task has finished in this time." />
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

/** Which sites had busy processors. */
function BusyPanel({ samples, isRead }: LatelyParts): ReactNode {
  const bands = useMemo(() => siteBands(samples), [samples]);
  const last = samples.at(-1);
  const said = bands.map(({ ink, of }) => `${ink.title} ${last === undefined ? 0 : (of(last) ?? 0)}`).join(', ');
  return (
    <Panel title="Busy processors" className="lately">
      {samples.length < 2 || !isRead ? (
        <Loading what="live data" />
      ) : bands.length === 0 ? (
        <Empty title="No machine was connected in this time." />
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
