import { useCallback, useEffect, useState, type ReactNode } from 'react';
import type { PlanPlatform, Workflow, WorkflowPlan } from '../../../../src/schema/index.ts';
import { problemOf } from '../../gateway/gateway.ts';
import { okabeIto } from '../../model/palette.ts';
import { placeOf, timeTicksOf, type Scale } from '../../model/scale.ts';
import { sayDuration } from '../../model/words.ts';
import { useAnswer, useDraft, usePage } from '../../page-context.tsx';
import { Canvas, type Brush } from '../../parts/canvas.tsx';
import { Empty, Loading } from '../../parts/notices.tsx';
import { TipBox } from '../../parts/tip.tsx';
import { useTip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';
import { NumberField, TextField } from './property-fields.tsx';

interface Choice { readonly algorithm: string; readonly kind: PlanPlatform['kind']; readonly processors: number; readonly speed: number; readonly list: string }

/** A schedule of the workflow as it is drawn, by any algorithm on any processors; made anew some moments after each change. */
export function SchedulePanel({ workflow, fault }: { readonly workflow: Workflow; readonly fault: string | undefined }): ReactNode {
  const [choice, setChoice] = useDraft<Choice>('schedule', { algorithm: 'auto', kind: 'uniform', processors: 4, speed: 1000, list: '' });
  const { plan, refusal, isPlanning } = usePlan(workflow, { choice, isPossible: fault === undefined && workflow.tasks.length > 0 });
  const choices = useAnswer('getWorkflowChoices', {});
  return (
    <div className="properties">
      <div className="fields">
        <div className="field"><label htmlFor="plan-algorithm">Algorithm</label>
          <select id="plan-algorithm" value={choice.algorithm} onChange={(event) => setChoice({ ...choice, algorithm: event.target.value })}>{(choices.value?.algorithms ?? [choice.algorithm]).map((name) => <option key={name} value={name}>{name}</option>)}</select></div>
        <div className="field"><label htmlFor="plan-platform">Processors</label>
          <select id="plan-platform" value={choice.kind} onChange={(event) => setChoice({ ...choice, kind: event.target.value as PlanPlatform['kind'] })}><option value="uniform">all alike</option><option value="grid">what the grid has now</option><option value="list">as listed</option></select></div>
      </div>
      {choice.kind === 'uniform' ? (
        <div className="fields">
          <NumberField id="plan-count" label="How many" value={choice.processors} whole least={1} onChange={(processors) => setChoice({ ...choice, processors: Math.min(4096, processors) })} />
          <NumberField id="plan-speed" label="Mflop/s each" value={choice.speed} least={0.001} onChange={(speed) => setChoice({ ...choice, speed })} />
        </div>
      ) : null}
      {choice.kind === 'list' ? <TextField id="plan-list" label="Processors" hint="a line each: number host address Mflop/s" value={choice.list} rows={4} code onChange={(list) => setChoice({ ...choice, list })} /> : null}
      {refusal === '' ? null : <p className="refusal" role="alert">{refusal}</p>}
      {workflow.tasks.length === 0 ? <Empty title="There is nothing to plan." /> : fault === undefined ? <Planned plan={plan} isOld={isPlanning} isRefused={refusal !== ''} /> : <p className="refusal">{fault}</p>}
    </div>
  );
}

function Planned({ plan, isOld, isRefused }: { readonly plan: WorkflowPlan | undefined; readonly isOld: boolean; readonly isRefused: boolean }): ReactNode {
  if (plan !== undefined) return <PlanPicture plan={plan} isOld={isOld} />;
  return isRefused ? null : <Loading what="the schedule" />;
}

function platformOf({ kind, processors, speed, list }: Choice): PlanPlatform {
  if (kind === 'grid') return { kind };
  return kind === 'uniform' ? { kind, processors, speed_mflops: speed } : { kind, text: list };
}

function usePlan(workflow: Workflow, { choice, isPossible }: { readonly choice: Choice; readonly isPossible: boolean }): { readonly plan: WorkflowPlan | undefined; readonly refusal: string; readonly isPlanning: boolean } {
  const { gateway } = usePage();
  const [state, setState] = useState<{ readonly plan: WorkflowPlan | undefined; readonly refusal: string; readonly of: unknown }>({ plan: undefined, refusal: '', of: undefined });
  useEffect(() => {
    if (!isPossible) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      gateway.call('planWorkflow', { body: { workflow, algorithm: choice.algorithm, platform: platformOf(choice) }, signal: abort.signal }).then(
        (plan) => setState({ plan, refusal: '', of: workflow }),
        (error: unknown) => { if (!abort.signal.aborted) setState((old) => ({ ...old, refusal: problemOf(error).message })); },
      );
    }, 350);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [workflow, choice, isPossible, gateway]);
  return { ...state, isPlanning: state.of !== workflow };
}

const rowHeight = 18;
const axisHeight = 20;
const left = 60;

function PlanPicture({ plan, isOld }: { readonly plan: WorkflowPlan; readonly isOld: boolean }): ReactNode {
  const [ref, width] = useWidth(320);
  const [tip, setTip] = useTip();
  const rows = Math.min(plan.processors.length, 64);
  const height = rows * rowHeight + axisHeight;
  const draw = useCallback((brush: Brush) => drawPlan(brush, plan, rows), [plan, rows]);
  return (
    <div className={isOld ? 'stale' : ''}>
      <p className="lead">Ends after <b>{sayDuration(plan.makespan_s * 1000)}</b> <span className="faint">by {plan.algorithm}; no plan ends before {sayDuration(plan.bound_s * 1000)}. {plan.speedup.toFixed(2)} times as fast as one processor, which uses {Math.round(plan.efficiency * 100)} % of them.</span></p>
      <div className="picture plan" ref={ref}>
        <Canvas draw={draw} height={height} role="img" aria-label={`Planned schedule on ${plan.processors.length} processors: ${plan.placements.slice(0, 40).map(({ task, start_s: start, end_s: end }) => `${task} ${start.toFixed(1)} to ${end.toFixed(1)} s`).join(', ')}`}
          onPointerMove={(event) => {
            const { offsetX: x, offsetY: y } = event.nativeEvent;
            const time = { ...scaleOf(plan, width) };
            const found = plan.placements.find((one) => one.processors.includes(Math.floor(y / rowHeight)) && placeOf(time, one.start_s) <= x && x < Math.max(placeOf(time, one.end_s), placeOf(time, one.start_s) + 2));
            setTip(found === undefined ? undefined : { x, y, text: `${found.task}: ${found.start_s.toFixed(1)} to ${found.end_s.toFixed(1)} s. ${found.reason}` });
          }} onPointerLeave={() => setTip(undefined)} />
        <TipBox tip={tip} width={width} />
      </div>
      {plan.processors.length > rows ? <p className="hint">The first {rows} of {plan.processors.length} processors.</p> : null}
    </div>
  );
}

function scaleOf({ makespan_s: makespan }: WorkflowPlan, width: number): Scale {
  return { from: 0, until: Math.max(1e-6, makespan), start: left, end: width - 4 };
}

function drawPlan(brush: Brush, plan: WorkflowPlan, rows: number): void {
  const { context, width, height, font, faint, line, ground } = brush;
  const time = scaleOf(plan, width);
  Object.assign(context, { font, fillStyle: faint, strokeStyle: line, textBaseline: 'middle' });
  plan.processors.slice(0, rows).forEach((name, row) => context.fillText(name.length > 9 ? `${name.slice(0, 8)}…` : name, 0, row * rowHeight + rowHeight / 2));
  for (const tick of timeTicksOf(0, plan.makespan_s * 1000, { about: width / 90 }).ticks) {
    const x = Math.round(placeOf(time, tick / 1000)) + 0.5;
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, height - axisHeight); context.stroke();
    context.textAlign = 'center';
    context.fillText(sayDuration(tick), Math.min(width - 16, x), height - 7);
  }
  context.textAlign = 'left';
  for (const { task, processors, start_s: start, end_s: end } of plan.placements) {
    for (const row of processors) {
      if (row >= rows) continue;
      const [x, wide] = [placeOf(time, start), Math.max(1, placeOf(time, end) - placeOf(time, start) - 0.5)];
      context.fillStyle = processors.length > 1 ? okabeIto.purple : okabeIto.sky;
      context.fillRect(x, row * rowHeight + 1, wide, rowHeight - 2);
      if (wide < 26) continue;
      context.fillStyle = '#10202c';
      context.fillText(fitted(context, task, wide - 6), x + 3, row * rowHeight + rowHeight / 2 + 0.5);
      context.strokeStyle = ground;
    }
  }
  context.textBaseline = 'alphabetic';
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  const perLetter = context.measureText('x').width;
  const letters = Math.floor(width / perLetter);
  return text.length <= letters ? text : `${text.slice(0, Math.max(1, letters - 1))}…`;
}
