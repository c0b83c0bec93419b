import type { History } from '../../../src/schema/index.ts';

/** How the grid was at an instant. */
export interface GridSample {
  readonly at: number;
  /** Tasks that finished per second over the seconds before; undefined while unknown. */
  readonly finishedPerSecond: number | undefined;
  /** All processors that there were; undefined where nobody looked. */
  readonly processors: number | undefined;
  /** Processors that run something, by site; undefined while unknown. */
  readonly busy: ReadonlyMap<string, number> | undefined;
}

/** A sample is taken so often. */
export const sampleMs = 2000;
/** Samples that are kept: more than the longest history of the gateway has. */
export const samplesKept = 1000;

/** Samples of the gateway before those that this page has taken since, so that a reload keeps the charts. */
export function joinHistory(history: History, own: readonly GridSample[]): readonly GridSample[] {
  const reported: GridSample[] = history.at_unix_ms.map((at, index) => ({
    at,
    finishedPerSecond: history.finished_per_s[index] ?? undefined,
    processors: history.processors[index],
    busy: busyAt(history, index),
  }));
  const last = reported.at(-1)?.at ?? -Infinity;
  return withGaps([...reported, ...own.filter(({ at }) => at > last)], 3 * history.every_ms).slice(-samplesKept);
}

function busyAt({ sites }: History, index: number): ReadonlyMap<string, number> | undefined {
  const known = sites.flatMap(({ provider_id: id, busy }) => {
    const count = busy[index];
    return count === null || count === undefined ? [] : [[id === '' ? 'others' : id, count] as const];
  });
  return known.length === 0 ? undefined : new Map(known);
}

function withGaps(samples: readonly GridSample[], longest: number): GridSample[] {
  return samples.flatMap((sample, index) => {
    const before = samples[index - 1]?.at ?? sample.at;
    return sample.at - before > longest ? [gapAfter(before), sample] : [sample];
  });
}

function gapAfter(at: number): GridSample {
  return { at: at + 1, finishedPerSecond: undefined, processors: undefined, busy: undefined };
}

/** After this time without a sample, the interval between is unknown; a hidden tab takes no samples. */
const gapMs = 3 * sampleMs;

/** The samples with one more, the oldest left out where there are too many, and a gap where none was taken for long. */
export function addSample(samples: readonly GridSample[], sample: GridSample): readonly GridSample[] {
  const last = samples.at(-1);
  // A clock that was set back: what lies ahead of now was not seen before it.
  const before = last !== undefined && last.at >= sample.at ? samples.filter(({ at }) => at < sample.at) : samples;
  const gap: GridSample[] = last !== undefined && sample.at - last.at > gapMs ? [gapAfter(last.at)] : [];
  return [...before, ...gap, sample].slice(-samplesKept);
}

interface Site {
  readonly provider_id: string;
  readonly running_count: number;
  readonly machines: { readonly processors: readonly number[]; readonly running: readonly number[] };
}

/**
 * Busy processors by site: each replica takes at least one of its machine's. For machines that are not listed one by
 * one, each replica counts as one.
 */
export function busyBySite(sites: readonly Site[]): Map<string, number> {
  return new Map(
    sites.map(({ provider_id: id, running_count: all, machines: { processors, running } }) => {
      const reported = running.reduce((sum, count) => sum + count, 0);
      const busy = running.reduce((sum, count, index) => sum + Math.min(count, processors[index] ?? count), 0);
      return [id, busy + Math.max(0, all - reported)];
    }),
  );
}
