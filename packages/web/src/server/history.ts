import type { JobSummary, MachineRecord } from '@mutirao/api/broker';

import type { History } from '../schema/index.ts';
import type { GatewayParts } from './grid-calls.ts';
import type { Readings } from './readings.ts';

/** A sample is taken so often, whether or not somebody looks: what that costs the broker is three short answers. */
export const sampleMs = 10_000;
/** The last hour as it was sampled, and before that a mean of each two minutes: a day in all. */
const fineMs = 3_600_000;
const coarseMs = 120_000;
const keptMs = 86_400_000;
/** Samples of one answer. */
const answeredMax = 720;
/** Sites that are counted apart; processors of others are counted together, under an empty name. */
const sitesMax = 20;

interface Sample {
  readonly at: number;
  readonly finishedPerSecond: number | null;
  readonly processors: number;
  /** Null while the broker is away. */
  readonly busy: ReadonlyMap<string, number> | null;
}

/**
 * How the grid was over the last day, for pages that are opened later: bounded, and only in memory. It is driven by
 * `tick`.
 */
export class GridHistory {
  readonly #readings: Readings;
  readonly #clock: GatewayParts['clock'];
  #samples: Sample[] = [];
  #nextAt = 0;
  #isUnderway = false;
  #finished: ReadonlyMap<number, number> | undefined;
  #finishedAt = 0;

  constructor(readings: Readings, clock: GatewayParts['clock']) {
    this.#readings = readings;
    this.#clock = clock;
  }

  /** Takes a sample where one is due. */
  async tick(): Promise<void> {
    const now = this.#clock.now();
    // A clock that was set back would else have it wait.
    if (this.#isUnderway || (now < this.#nextAt && this.#nextAt - now <= sampleMs)) return;
    this.#isUnderway = true;
    this.#nextAt = now + sampleMs;
    try {
      this.#add(await this.#take());
    } catch {
      this.#finished = undefined;
      this.#add({ at: now, finishedPerSecond: null, processors: this.#samples.at(-1)?.processors ?? 0, busy: null });
    } finally {
      this.#isUnderway = false;
    }
  }

  /** What is kept of the last minutes, thinned out where it is much. */
  read(minutes: number): History {
    const from = this.#clock.now() - minutes * 60_000;
    const kept = this.#samples.filter(({ at }) => at >= from);
    const step = Math.ceil(kept.length / answeredMax);
    const shown = step <= 1 ? kept : chunk(kept, step).map(getMean);
    const names = [...new Set(shown.flatMap(({ busy }) => [...(busy?.keys() ?? [])]))];
    return {
      every_ms: Math.max(1, step) * (minutes * 60_000 > fineMs ? coarseMs : sampleMs),
      at_unix_ms: shown.map(({ at }) => at),
      finished_per_s: shown.map(({ finishedPerSecond }) => finishedPerSecond),
      processors: shown.map(({ processors }) => processors),
      sites: names.map((name) => ({
        provider_id: name,
        busy: shown.map(({ busy }) => (busy === null ? null : (busy.get(name) ?? 0))),
      })),
    };
  }

  async #take(): Promise<Sample> {
    const [{ jobs }, { machines }] = await Promise.all([this.#readings.jobs(), this.#readings.machines()]);
    const at = this.#clock.now();
    const processors = machines.reduce((sum, { facts }) => sum + (facts?.processors ?? 0), 0);
    return { at, finishedPerSecond: this.#measurePace(jobs, at), processors, busy: countBusy(machines) };
  }

  /** Over the time since the sample before; of a job that is new since then all that it has finished. */
  #measurePace(jobs: readonly JobSummary[], at: number): number | null {
    const before = this.#finished;
    const passed = at - this.#finishedAt;
    this.#finished = new Map(jobs.map(({ jobId, finishedCount }) => [jobId, finishedCount]));
    this.#finishedAt = at;
    if (before === undefined || passed <= 0) return null;
    const total = jobs.reduce((sum, job) => sum + Math.max(0, job.finishedCount - (before.get(job.jobId) ?? 0)), 0);
    return Math.round((total * 10_000) / passed) / 10;
  }

  #add(sample: Sample): void {
    // What a clock that was set back leaves ahead was not seen before it.
    const before = this.#samples.filter(({ at }) => at < sample.at && at >= sample.at - keptMs);
    this.#samples = [...thin(before, sample.at - fineMs), sample];
  }
}

/** What is older than the last hour becomes a mean of each two minutes. */
function thin(samples: readonly Sample[], before: number): Sample[] {
  const firstFine = samples.findIndex(({ at }) => at >= before);
  const old = firstFine < 0 ? samples : samples.slice(0, firstFine);
  const groups = Map.groupBy(old, ({ at }) => Math.floor(at / coarseMs));
  if (groups.size === old.length) return [...samples];
  return [...[...groups.values()].map(getMean), ...samples.slice(old.length)];
}

function chunk(samples: readonly Sample[], size: number): Sample[][] {
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
    samples.slice(index * size, (index + 1) * size),
  );
}

function getMean(samples: readonly Sample[]): Sample {
  const last = samples.at(-1);
  if (last === undefined || samples.length === 1)
    return last ?? { at: 0, finishedPerSecond: null, processors: 0, busy: null };
  const paces = samples.flatMap(({ finishedPerSecond }) => finishedPerSecond ?? []);
  const known = samples.flatMap(({ busy }) => (busy === null ? [] : [busy]));
  const names = new Set(known.flatMap((busy) => [...busy.keys()]));
  const mean = (values: readonly number[]): number =>
    Math.round((10 * values.reduce((sum, one) => sum + one, 0)) / Math.max(1, values.length)) / 10;
  return {
    at: last.at,
    finishedPerSecond: paces.length === 0 ? null : mean(paces),
    processors: last.processors,
    busy:
      known.length === 0
        ? null
        : new Map([...names].map((name) => [name, Math.round(mean(known.map((busy) => busy.get(name) ?? 0)))])),
  };
}

/** Processors that run something, by site: a replica takes one at least, and a machine has no more than its own. */
function countBusy(machines: readonly MachineRecord[]): Map<string, number> {
  const busy = new Map<string, number>();
  for (const { providerId, runningCount, facts } of machines) {
    const name = busy.has(providerId) || busy.size < sitesMax ? providerId : '';
    busy.set(name, (busy.get(name) ?? 0) + Math.min(runningCount, facts?.processors ?? runningCount));
  }
  return busy;
}
