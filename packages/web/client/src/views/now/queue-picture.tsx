import { useCallback, useMemo, useState, type PointerEvent, type ReactNode } from 'react';
import type { AllocationRequest, QueueProfile } from '../../../../src/schema/index.ts';
import { okabeIto, type Ink } from '../../model/palette.ts';
import { horizonOf, stackQueue, type QueueBox } from '../../model/queue-picture.ts';
import { placeOf, ticksOf, timeTicksOf, valueAt, type Scale } from '../../model/scale.ts';
import { sayCount, sayDuration, sayMany } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';
import { Canvas, fillOf, type Brush } from '../../parts/canvas.tsx';
import { Legend } from '../../parts/legend.tsx';
import { TipBox } from '../../parts/tip.tsx';
import { useTip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';

const inks = {
  ours: { colour: okabeIto.blue, pattern: 'plain', mark: '', title: 'ours' },
  others: { colour: okabeIto.grey, pattern: 'hollow', mark: '', title: 'of others' },
  reserved: { colour: okabeIto.purple, pattern: 'stripes', mark: '', title: 'reserved' },
  candidate: { colour: okabeIto.orange, pattern: 'hollow', mark: '', title: 'where the heuristic looked (◆ chosen)' },
} as const satisfies Record<string, Ink>;

const height = 200;
const left = 38;
const bottom = 20;

interface Scene {
  readonly profile: QueueProfile;
  readonly boxes: readonly QueueBox[];
  readonly candidates: readonly AllocationRequest['candidates'][number][];
  readonly horizon: number;
}

/** Processors over time: who has them, what is free, and where candidates of our requests were. */
export function QueuePicture({ profile, requests }: { readonly profile: QueueProfile; readonly requests: readonly AllocationRequest[] }): ReactNode {
  const { explain } = usePage();
  const [ref, width] = useWidth();
  const [tip, setTip] = useTip();
  const [hit, setHit] = useState<QueueBox>();
  const scene = useMemo(() => sceneOf(profile, requests), [profile, requests]);
  const draw = useCallback((brush: Brush) => drawQueue(brush, scene), [scene]);
  const [time, amount] = scalesOf(scene, width);
  const move = (event: PointerEvent): void => {
    const { offsetX: x, offsetY: y } = event.nativeEvent;
    const [instant, processors] = [valueAt(time, x), valueAt(amount, y)];
    const box = scene.boxes.find((one) => one.start <= instant && instant < one.end && one.bottom <= processors && processors < one.top);
    setHit(box);
    const free = profile.steps.findLast((step) => step.from_unix_ms <= instant)?.free_processors ?? 0;
    setTip({ x, y, text: `in ${sayDuration(Math.max(0, instant - profile.at_unix_ms))}: ${sayMany(free, 'processor')} free${box === undefined ? '' : `; ${box.owner === 'reserved' ? box.name : `${box.owner === 'ours' ? 'our' : 'another\'s'} request ${box.name}`}, ${sayMany(box.top - box.bottom, 'processor')}, ${box.status}`}` });
  };
  const ours = requests.find((one) => hit?.owner === 'ours' && (one.manager_request_id === hit.name || one.request_id === hit.name));
  return (
    <div className="picture" ref={ref}>
      <Canvas draw={draw} height={height} role="img" style={ours === undefined ? {} : { cursor: 'pointer' }}
        aria-label={`Queue: ${sayMany(profile.processors, 'processor')}, ${profile.steps[0]?.free_processors ?? 0} free now, ${sayMany(profile.requests.length, 'request')}, ${profile.requests.filter((one) => one.is_ours).length} of them ours`}
        onPointerMove={move} onPointerLeave={() => { setTip(undefined); setHit(undefined); }}
        onClick={() => { if (ours !== undefined) explain({ kind: 'request', request: ours.request_id.includes('/') ? ours.request_id : `${ours.provider_id}/${ours.request_id}` }); }} />
      <TipBox tip={tip} width={width} />
      <Legend inks={Object.values(inks)} />
    </div>
  );
}

function sceneOf(profile: QueueProfile, requests: readonly AllocationRequest[]): Scene {
  const candidates = requests.filter(({ status }) => status === 'queued' || status === 'running' || status === 'submitting').flatMap((one) => one.candidates).filter((one) => one.starts_unix_ms + one.walltime_ms > profile.at_unix_ms);
  return { profile, boxes: stackQueue(profile), candidates, horizon: horizonOf(profile, candidates.map((one) => one.starts_unix_ms + one.walltime_ms)) };
}

function scalesOf({ profile, horizon }: Scene, width: number): readonly [Scale, Scale] {
  return [{ from: profile.at_unix_ms, until: horizon, start: left, end: width - 6 }, { from: 0, until: Math.max(1, profile.processors), start: height - bottom, end: 8 }];
}

function drawQueue(brush: Brush, scene: Scene): void {
  const [time, amount] = scalesOf(scene, brush.width);
  drawAxes(brush, { time, amount, now: scene.profile.at_unix_ms });
  for (const box of scene.boxes) fillBox(brush, { time, amount, ink: inks[box.owner] }, box);
  drawFree(brush, { time, amount }, scene.profile);
  drawCandidates(brush, { time, amount }, scene.candidates);
}

function drawAxes({ context, width, font, faint, line }: Brush, { time, amount, now }: { readonly time: Scale; readonly amount: Scale; readonly now: number }): void {
  Object.assign(context, { font, fillStyle: faint, strokeStyle: line, lineWidth: 1, textAlign: 'right', textBaseline: 'middle' });
  for (const tick of ticksOf(0, amount.until, 4)) {
    if (!Number.isInteger(tick)) continue;
    const y = Math.round(placeOf(amount, tick)) + 0.5;
    context.beginPath(); context.moveTo(left, y); context.lineTo(width, y); context.stroke();
    context.fillText(sayCount(tick), left - 6, y);
  }
  Object.assign(context, { textAlign: 'center', textBaseline: 'alphabetic' });
  for (const tick of timeTicksOf(0, time.until - now, { about: Math.max(2, width / 110) }).ticks) context.fillText(tick === 0 ? 'now' : `+${sayDuration(tick)}`, Math.min(width - 24, Math.max(left + 10, placeOf(time, now + tick))), height - 5);
}

function fillBox(brush: Brush, { time, amount, ink }: { readonly time: Scale; readonly amount: Scale; readonly ink: Ink }, box: { readonly start: number; readonly end: number; readonly bottom: number; readonly top: number }): void {
  const { context, ground } = brush;
  const [x, y] = [placeOf(time, Math.max(time.from, box.start)), placeOf(amount, box.top)];
  const [wide, high] = [Math.max(1, placeOf(time, box.end) - x), Math.max(1, placeOf(amount, box.bottom) - y)];
  context.fillStyle = fillOf(brush, ink);
  context.fillRect(x, y, wide, high);
  context.strokeStyle = ground;
  context.lineWidth = 1;
  context.strokeRect(x, y, wide, high);
}

/** The line of what is taken: what is above it is free. */
function drawFree({ context, text }: Brush, { time, amount }: { readonly time: Scale; readonly amount: Scale }, { steps, processors }: QueueProfile): void {
  context.strokeStyle = text;
  context.lineWidth = 1.5;
  context.beginPath();
  steps.forEach(({ from_unix_ms: from, free_processors: free }, index) => {
    const y = placeOf(amount, processors - free);
    if (index === 0) context.moveTo(placeOf(time, Math.max(from, time.from)), y);
    else context.lineTo(placeOf(time, from), y);
    context.lineTo(placeOf(time, steps[index + 1]?.from_unix_ms ?? time.until), y);
  });
  context.stroke();
}

function drawCandidates({ context }: Brush, { time, amount }: { readonly time: Scale; readonly amount: Scale }, candidates: Scene['candidates']): void {
  context.strokeStyle = inks.candidate.colour;
  context.fillStyle = inks.candidate.colour;
  for (const { starts_unix_ms: starts, width_processors: wide, chosen } of candidates.slice(0, 200)) {
    const [x, y] = [placeOf(time, Math.max(time.from, starts)), placeOf(amount, wide)];
    context.beginPath();
    if (chosen) { context.moveTo(x, y - 6); context.lineTo(x + 6, y); context.lineTo(x, y + 6); context.lineTo(x - 6, y); context.fill(); } else { context.arc(x, y, 3, 0, 7); context.stroke(); }
  }
}
