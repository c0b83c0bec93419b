import { summarize } from '../../summarize.ts';
import { drawBars, type Bar } from '../../svg/draw-bars.ts';
import { listWaits, type BucMeasured } from './measure.ts';

const hour = 3_600_000;

/** A figure and the name of its file. */
export interface BucFigure {
  readonly name: string;
  readonly svg: string;
}

/**
 * Figure 1 of a setup: the waiting times of the real users, and of the injected ones, summed up under each service.
 * Two, since the real ones have many more jobs.
 */
export function drawWaits(measured: BucMeasured): BucFigure[] {
  const {
    trace: { log },
    loadFactor,
    family,
  } = measured;
  return (['Real', 'Injected'] as const).map((kind) => {
    const bars = measured.watched
      .filter(({ title }) => title.startsWith(kind))
      .flatMap((user) => listBars(measured, user));
    const hasMany = bars.some(({ value }) => value >= thousandsFrom);
    return {
      name: `figure-1-${log.id}-${loadFactor}-${kind.toLowerCase()}.svg`,
      svg: drawBars({
        title: `Figure 1: sum of waiting times, ${kind.toLowerCase()} users; ${log.title}, submissions x ${loadFactor}`,
        up: hasMany ? 'thousands of hours' : 'hours',
        bars: hasMany
          ? bars.map((bar) => ({ ...bar, value: bar.value / 1000, halfInterval: bar.halfInterval / 1000 }))
          : bars,
        groups: family.services.map(({ name }) => name),
        isClustered: true,
      }),
    };
  });
}

/** Longer numbers would run into what the axis is called. */
const thousandsFrom = 20_000;

function listBars(measured: BucMeasured, { userId, title }: BucMeasured['watched'][number]): Bar[] {
  return measured.family.services.map((_, group) => {
    const { mean, halfInterval } = summarize(listWaits(measured, group, userId).map((wait) => wait / hour));
    // The colours stand for the services.
    return { label: title, group, value: mean, halfInterval };
  });
}
