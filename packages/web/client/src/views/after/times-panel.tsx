import { useCallback, useMemo, type PointerEvent, type ReactNode } from 'react';
import type { TaskTimes } from '../../../../src/schema/index.ts';
import { barInks, inkOf } from '../../model/palette.ts';
import { placeOf, ticksOf, timeTicksOf, valueAt, type Scale } from '../../model/scale.ts';
import { sayCount, sayDuration, sayMany } from '../../model/words.ts';
import { useAnswer, usePage } from '../../page-context.tsx';
import { Canvas, fillOf, type Brush } from '../../parts/canvas.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Answered, Empty, Panel } from '../../parts/notices.tsx';
import { TipBox } from '../../parts/tip.tsx';
import { useTip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';

const height = 190;
const inks = [inkOf(barInks, 'accepted'), { ...inkOf(barInks, 'loser'), title: 'not accepted' }];

/** How long tasks took, and who took much longer than the others. */
export function TimesPanels({ jobId, everyMs }: { readonly jobId: number; readonly everyMs: number }): ReactNode {
  const answer = useAnswer('getTaskTimes', { params: { job_id: jobId } }, everyMs);
  return (
    <>
      <Panel title="Task times"><Answered answer={answer} what="task times">{(times) => (times.count === 0 ? <Empty title="No task has ended yet." /> : <Distribution times={times} />)}</Answered></Panel>
      <Panel title="Stragglers"><Answered answer={answer} what="stragglers">{(times) => <Stragglers times={times} />}</Answered></Panel>
    </>
  );
}

function Distribution({ times }: { readonly times: TaskTimes }): ReactNode {
  const [ref, width] = useWidth();
  const [tip, setTip] = useTip();
  const draw = useCallback((brush: Brush) => drawBins(brush, times), [times]);
  const half = times.quantiles.find(({ share }) => share === 0.5);
  const scale = timeScaleOf(times, width);
  const hover = (event: PointerEvent): void => {
    const bin = times.bins.find((one) => { const value = valueAt(scale, event.nativeEvent.offsetX); return one.from_ms <= value && value < one.until_ms; });
    setTip(bin === undefined ? undefined : { x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY, text: `${sayDuration(bin.from_ms)} to ${sayDuration(bin.until_ms)}: ${sayCount(bin.accepted)} accepted, ${sayCount(bin.other)} not` });
  };
  return (
    <>
      <p className="lead">Half of the tasks took up to <b>{half === undefined ? '?' : sayDuration(half.ms_max)}</b>; the longest <b>{sayDuration(times.ms_max ?? 0)}</b>, the mean {sayDuration(times.mean_ms ?? 0)}.</p>
      <div className="picture" ref={ref}>
        <Canvas draw={draw} height={height} role="img" aria-label={`Distribution of ${sayMany(times.count, 'run time')}: ${times.quantiles.map(({ share, ms_max: most }) => `${Math.round(share * 100)} % within ${sayDuration(most)}`).join(', ')}`} onPointerMove={hover} onPointerLeave={() => setTip(undefined)} />
        <TipBox tip={tip} width={width} />
        <Legend inks={inks} />
      </div>
    </>
  );
}

function timeScaleOf({ bins }: TaskTimes, width: number): Scale {
  return { from: bins[0]?.from_ms ?? 0, until: bins.at(-1)?.until_ms ?? 1, start: 40, end: width - 8 };
}

function drawBins(brush: Brush, times: TaskTimes): void {
  const { context, width, font, faint, line, text } = brush;
  const time = timeScaleOf(times, width);
  const most = times.bins.reduce((highest, { accepted, other }) => Math.max(highest, accepted + other), 1);
  const count: Scale = { from: 0, until: most, start: height - 22, end: 14 };
  Object.assign(context, { font, fillStyle: faint, strokeStyle: line, textAlign: 'right', textBaseline: 'middle' });
  for (const tick of ticksOf(0, most, 3)) {
    const y = Math.round(placeOf(count, tick)) + 0.5;
    context.beginPath(); context.moveTo(40, y); context.lineTo(width, y); context.stroke();
    context.fillText(sayCount(tick), 34, y);
  }
  Object.assign(context, { textAlign: 'center', textBaseline: 'alphabetic' });
  for (const tick of timeTicksOf(time.from, time.until, { about: width / 90 }).ticks) context.fillText(sayDuration(tick), Math.min(width - 20, placeOf(time, tick)), height - 6);
  for (const { from_ms: from, until_ms: until, accepted, other } of times.bins) {
    const [x, wide] = [placeOf(time, from) + 0.5, Math.max(1, placeOf(time, until) - placeOf(time, from) - 1.5)];
    context.fillStyle = fillOf(brush, inks[0] ?? inkOf(barInks, 'accepted'));
    context.fillRect(x, placeOf(count, accepted), wide, count.start - placeOf(count, accepted));
    context.fillStyle = fillOf(brush, inks[1] ?? inkOf(barInks, 'loser'));
    context.fillRect(x, placeOf(count, accepted + other), wide, placeOf(count, accepted) - placeOf(count, accepted + other));
  }
  Object.assign(context, { strokeStyle: text, fillStyle: text, lineWidth: 1 });
  context.setLineDash([3, 3]);
  for (const { share, ms_max: value } of times.quantiles.filter(({ share }) => share === 0.5 || share === 0.9)) {
    const x = Math.min(width - 8, placeOf(time, value));
    context.beginPath(); context.moveTo(x, 12); context.lineTo(x, count.start); context.stroke();
    context.fillText(share === 0.5 ? 'half' : '90 %', x, 9);
  }
  context.setLineDash([]);
}

function Stragglers({ times: { stragglers, job_id: jobId } }: { readonly times: TaskTimes }): ReactNode {
  const { explain } = usePage();
  const rows = useMemo(() => stragglers.slice(0, 10), [stragglers]);
  if (rows.length === 0) return <Empty title="None took more than twice as long as half of the tasks." />;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Table of stragglers">
      <table>
        <thead><tr><th scope="col">Task</th><th scope="col">Machine</th><th scope="col" className="right">Took</th><th scope="col" className="right">Times the half</th></tr></thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.replica_id}>
              <td><button type="button" className="link" onClick={() => explain({ kind: 'task', jobId, taskIndex: one.task_index })}>{sayCount(one.task_index)}</button></td>
              <td><button type="button" className="link" onClick={() => explain({ kind: 'machine', machineId: one.machine_id })}>{one.machine_id}</button></td>
              <td className="right numbers">{sayDuration(one.took_ms)}{one.is_running ? ', runs' : ''}</td><td className="right numbers">{one.times_half.toFixed(1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
