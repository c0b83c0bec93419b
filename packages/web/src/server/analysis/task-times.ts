import type { TaskTimes } from '../../schema/index.ts';
import type { JobRecords } from './job-records.ts';
import type { ReplicaRow } from './replica-rows.ts';
import { findStragglers, getRunTime } from './stragglers.ts';

const binCount = 60;
const shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
const machinesMax = 100;

/** How long the runs of a job took, and which take much longer than the others. Cost: O(replicas log replicas). */
export function measureTimes(records: JobRecords, now: number): TaskTimes {
  const rows = records.rows();
  const started = rows.filter(({ startedAt }) => startedAt > 0);
  const accepted = longestOfTasks(
    started.filter(({ kind }) => kind === 'accepted'),
    now,
  );
  const times = Float64Array.from(accepted, (replica) => getRunTime(replica, now)).sort();
  const byMachine = timesByMachine(accepted, now);
  return {
    job_id: records.jobId,
    count: times.length,
    mean_ms: times.length === 0 ? null : getMean(times),
    ms_max: times.at(-1) ?? null,
    quantiles: times.length === 0 ? [] : shares.map((share) => ({ share, ms_max: getQuantile(times, share) })),
    bins: getBins(
      times,
      Float64Array.from(
        started.filter(({ kind, endedAt }) => kind !== 'accepted' && endedAt > 0),
        (replica) => getRunTime(replica, now),
      ),
    ),
    ...(times.length === 0
      ? { stragglers: [], straggler_count: 0 }
      : findStragglers(rows, { half: getQuantile(times, 0.5), byMachine }, now)),
    by_machine: slowestMachines(byMachine),
    read_task_count: records.readCount,
    task_count: records.taskCount,
  };
}

/** One run for each task: of a gang, whose members all ran, the longest. */
function longestOfTasks(rows: readonly ReplicaRow[], now: number): ReplicaRow[] {
  const longest = new Map<number, ReplicaRow>();
  for (const row of rows) {
    const known = longest.get(row.taskIndex);
    if (known === undefined || getRunTime(row, now) > getRunTime(known, now)) longest.set(row.taskIndex, row);
  }
  return [...longest.values()];
}

function getMean(times: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < times.length; at += 1) sum += times[at] ?? 0;
  return Math.round(sum / times.length);
}

/** @param sorted ascending, not empty. */
function getQuantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Up to half above the 99th of a hundred: beyond that single ones would make all others one bar. */
function getBins(times: Float64Array, others: Float64Array): TaskTimes['bins'] {
  if (times.length === 0 && others.length === 0) return [];
  const sorted = times.length === 0 ? others.toSorted() : times;
  const longest = Math.max(
    times.at(-1) ?? 0,
    others.reduce((most, time) => Math.max(most, time), 0),
  );
  const end = Math.max(1, Math.min(longest, Math.ceil(getQuantile(sorted, 0.99) * 1.5)));
  const width = Math.max(1, Math.ceil(end / binCount));
  const count = Math.min(binCount, Math.floor(end / width) + 1);
  const bins = Array.from({ length: count }, (_, bin) => ({
    from_ms: bin * width,
    until_ms: bin === count - 1 ? Math.max(longest, (bin + 1) * width) : (bin + 1) * width,
    accepted: 0,
    other: 0,
  }));
  const getBin = (time: number) => bins[Math.min(count - 1, Math.floor(time / width))];
  for (const time of times) {
    const bin = getBin(time);
    if (bin !== undefined) bin.accepted += 1;
  }
  for (const time of others) {
    const bin = getBin(time);
    if (bin !== undefined) bin.other += 1;
  }
  return bins;
}

function timesByMachine(accepted: readonly ReplicaRow[], now: number): Map<string, number[]> {
  const byMachine = new Map<string, number[]>();
  for (const replica of accepted) {
    const times = byMachine.get(replica.machineId);
    if (times === undefined) byMachine.set(replica.machineId, [getRunTime(replica, now)]);
    else times.push(getRunTime(replica, now));
  }
  for (const times of byMachine.values()) times.sort((one, other) => one - other);
  return byMachine;
}

function slowestMachines(byMachine: ReadonlyMap<string, readonly number[]>): TaskTimes['by_machine'] {
  return [...byMachine]
    .map(([machineId, times]) => ({
      machine_id: machineId,
      count: times.length,
      mean_ms: getMean(times),
      half_ms: getQuantile(times, 0.5),
    }))
    .sort((one, other) => other.mean_ms - one.mean_ms)
    .slice(0, machinesMax);
}
