import type { XAXisComponentOption, YAXisComponentOption } from 'echarts';
import { listTicks, listTimeTicks } from '../model/scale.ts';
import { sayCount, sayDuration } from '../model/words.ts';
import { axisLook, type ChartLook } from './look.ts';

/** Room that the label of an instant wants, in pixels. */
const instantWidth = 95;
const minute = 60_000;
const day = 86_400_000;
const durationUnits = [
  ['h', 3_600_000],
  ['min', minute],
  ['s', 1000],
] as const;

// Kept: to make one takes longer than to use it.
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const minuteFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const secondFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** An axis of instants in the viewer's time zone; days stand out. */
export function timeAxis(
  look: ChartLook,
  { from, until }: { readonly from: number; readonly until: number },
): XAXisComponentOption {
  const axis = axisLook(look);
  const shift = -new Date(from).getTimezoneOffset() * minute;
  const { ticks, step } = listTimeTicks(from, until, { about: Math.max(2, look.width / instantWidth), shift });
  const sayTick = (tick: number): string => {
    if (step >= day || (tick + shift) % day === 0) return `{day|${dayFormat.format(tick)}}`;
    return (step < minute ? secondFormat : minuteFormat).format(tick);
  };
  return {
    // ECharts' own ticks mix clocks with and without seconds.
    ...axis,
    type: 'time',
    min: from,
    max: until,
    splitLine: { show: false },
    axisPointer: { snap: false },
    axisTick: { ...axis.axisTick, customValues: [...ticks] },
    axisLabel: {
      ...axis.axisLabel,
      customValues: [...ticks],
      formatter: sayTick,
      rich: { day: { color: look.text, fontWeight: 600, fontSize: 11 } },
    },
  };
}

/** An axis of durations from 0 on, in milliseconds, at steps of clocks. */
export function durationAxis(look: ChartLook, until: number): XAXisComponentOption {
  const axis = axisLook(look);
  const { step } = listTimeTicks(0, until, { about: Math.max(2, look.width / 90) });
  return {
    ...axis,
    type: 'value',
    min: 0,
    max: Math.max(1, until),
    interval: step,
    axisLabel: {
      ...axis.axisLabel,
      showMaxLabel: until % step === 0,
      formatter: (tick: number) => (tick === 0 ? '0' : sayDuration(tick)),
    },
  };
}

/**
 * The unit for an axis of durations up to `longest` milliseconds that is drawn in one unit: its name, and its
 * milliseconds.
 */
export function durationUnit(longest: number): readonly [unit: string, milliseconds: number] {
  return durationUnits.find(([, least]) => longest >= 2 * least) ?? ['ms', 1];
}

/** An axis of whole numbers from 0 on, up to `most` if it is given. */
export function countAxis(
  look: ChartLook,
  { name, most }: { readonly name: string; readonly most?: number },
): YAXisComponentOption {
  const axis = axisLook(look);
  const ticks = most === undefined ? [] : listTicks(0, most, 4);
  const step = Math.max(1, (ticks[1] ?? 1) - (ticks[0] ?? 0));
  // The label of the last one would touch the one below it.
  const range = most === undefined ? { splitNumber: 4 } : { max: most, interval: step };
  const isFar = most === undefined || most % step === 0 || most % step > 0.5 * step;
  return {
    ...axis,
    type: 'value',
    min: 0,
    ...range,
    minInterval: 1,
    name,
    nameLocation: 'end',
    nameGap: 10,
    // From the axis on: to the left of it there is no room.
    nameTextStyle: { color: look.faint, fontSize: 11, align: 'left' },
    axisLabel: { ...axis.axisLabel, showMaxLabel: isFar, formatter: (tick: number) => sayCount(tick) },
  };
}
