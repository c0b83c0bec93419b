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
/** Samples that are kept: those of the last ten minutes. */
export const samplesKept = 300;

/** After this time without a sample, the interval between is unknown; a hidden tab takes no samples. */
const gapMs = 3 * sampleMs;

/** The samples with one more, the oldest left out where there are too many, and a gap where none was taken for long. */
export function addSample(samples: readonly GridSample[], sample: GridSample): readonly GridSample[] {
  const last = samples.at(-1);
  // A clock that was set back: what lies ahead of now was not seen before it.
  const before = last !== undefined && last.at >= sample.at ? samples.filter(({ at }) => at < sample.at) : samples;
  const gap: GridSample[] =
    last !== undefined && sample.at - last.at > gapMs
      ? [{ at: last.at + 1, finishedPerSecond: undefined, processors: undefined, busy: undefined }]
      : [];
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
