import type { TaskTimes } from '../../schema/index.ts';
import type { JobRecords } from './job-records.ts';
import type { ReplicaRow } from './replica-rows.ts';

const binCount = 60;
const shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
const stragglersMax = 50;
const machinesMax = 100;
/** A straggler takes so many times longer than half of the tasks. */
const stragglerFactor = 2;

/** How long the runs of a job took, and which take much longer than the others. Cost: O(replicas log replicas). */
export function measureTimes(records: JobRecords, now: number): TaskTimes {
  const started = records.rows().filter(({ startedAt }) => startedAt > 0);
  const accepted = started.filter(({ kind }) => kind === 'accepted');
  const times = accepted.map((replica) => timeOf(replica, now)).sort((one, other) => one - other);
  const half = times.length === 0 ? undefined : quantileOf(times, 0.5);
  return {
    job_id: records.jobId, count: times.length, mean_ms: times.length === 0 ? null : Math.round(times.reduce((sum, time) => sum + time, 0) / times.length), ms_max: times.at(-1) ?? null,
    quantiles: times.length === 0 ? [] : shares.map((share) => ({ share, ms_max: quantileOf(times, share) })),
    bins: binsOf(times, started.filter(({ kind, endedAt }) => kind !== 'accepted' && endedAt > 0).map((replica) => timeOf(replica, now))),
    stragglers: half === undefined ? [] : stragglersOf(started, half, now), by_machine: byMachine(accepted, now),
    read_task_count: records.readCount, task_count: records.taskCount,
  };
}

function timeOf({ startedAt, endedAt }: ReplicaRow, now: number): number {
  return Math.max(0, (endedAt || now) - startedAt);
}

/** @param sorted ascending, not empty. */
function quantileOf(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Up to half above the 99th of a hundred: beyond that single ones would make all others one bar. */
function binsOf(times: readonly number[], others: readonly number[]): TaskTimes['bins'] {
  if (times.length === 0 && others.length === 0) return [];
  const sorted = times.length === 0 ? [...others].sort((one, other) => one - other) : times;
  const longest = Math.max(times.at(-1) ?? 0, others.reduce((most, time) => Math.max(most, time), 0));
  const end = Math.max(1, Math.min(longest, Math.ceil(quantileOf(sorted, 0.99) * 1.5)));
  const width = Math.max(1, Math.ceil(end / binCount));
  const count = Math.min(binCount, Math.floor(end / width) + 1);
  const bins = Array.from({ length: count }, (_, bin) => ({ from_ms: bin * width, until_ms: bin === count - 1 ? Math.max(longest, (bin + 1) * width) : (bin + 1) * width, accepted: 0, other: 0 }));
  const binOf = (time: number) => bins[Math.min(count - 1, Math.floor(time / width))];
  for (const time of times) { const bin = binOf(time); if (bin !== undefined) bin.accepted += 1; }
  for (const time of others) { const bin = binOf(time); if (bin !== undefined) bin.other += 1; }
  return bins;
}

function stragglersOf(started: readonly ReplicaRow[], half: number, now: number): TaskTimes['stragglers'] {
  return started
    .filter((replica) => (replica.kind === 'running' || replica.kind === 'accepted') && timeOf(replica, now) > stragglerFactor * half)
    .sort((one, other) => timeOf(other, now) - timeOf(one, now))
    .slice(0, stragglersMax)
    .map((replica) => ({
      task_index: replica.taskIndex, machine_id: replica.machineId, replica_id: replica.replicaId, took_ms: timeOf(replica, now), is_running: replica.kind === 'running',
      times_half: Math.round((timeOf(replica, now) * 10) / Math.max(1, half)) / 10,
    }));
}

function byMachine(accepted: readonly ReplicaRow[], now: number): TaskTimes['by_machine'] {
  return [...Map.groupBy(accepted, ({ machineId }) => machineId)]
    .map(([machineId, own]) => ({ machine_id: machineId, count: own.length, mean_ms: Math.round(own.reduce((sum, replica) => sum + timeOf(replica, now), 0) / own.length) }))
    .sort((one, other) => other.mean_ms - one.mean_ms)
    .slice(0, machinesMax);
}
