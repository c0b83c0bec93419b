import type { Command } from 'commander';

import { TaskStatus, type TaskRecord } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { resolveJobId } from '../../selectors.ts';
import { fetchTasks } from '../task/list.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[job]', 'a job number, or "last" (default: last)', 'last')
    .action((job: string) => act((context) => listShares(context, job)));
}

/** What one machine did for a job. */
export interface MachineShare {
  readonly machineId: string;
  acceptedCount: number;
  /** Replicas that ended otherwise, or run still. */
  otherCount: number;
  /** Time in which replicas ran, those whose result was accepted. */
  usedMs: number;
  /** Time in which the others ran. */
  otherMs: number;
  /** Sum of the times from placing a replica to its start: the way there, staging, and waiting for a processor. */
  waitedMs: number;
  startedCount: number;
}

/** Lists what each machine did for a job, most work first. Cost: reads every task of the job. */
export async function listShares(context: CommandContext, job: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const { found } = await fetchTasks(broker, { jobId, taskIndexes: [], status: TaskStatus.UNSPECIFIED }, Infinity);
  const shares = getShares(found, context.clock.now());
  printResult(context.output, {
    json: () => shares.map(shareJson),
    table: () => (shares.length === 0 ? [`No replica of job ${jobId} was dispatched so far.`] : shareTable(shares)),
    quiet: () => shares.map((share) => share.machineId),
  });
  return 0;
}

/** Adds up replicas by machine, most accepted ones first. */
export function getShares(tasks: readonly TaskRecord[], now: number): MachineShare[] {
  const shares = new Map<string, MachineShare>();
  for (const { replicas } of tasks) {
    for (const replica of replicas) {
      const { machineId } = replica;
      const share = shares.get(machineId) ?? {
        machineId,
        acceptedCount: 0,
        otherCount: 0,
        usedMs: 0,
        otherMs: 0,
        waitedMs: 0,
        startedCount: 0,
      };
      shares.set(machineId, share);
      const ran =
        replica.startedUnixMs === 0
          ? 0
          : Math.max(0, (replica.endedUnixMs === 0 ? now : replica.endedUnixMs) - replica.startedUnixMs);
      if (replica.accepted) {
        share.acceptedCount += 1;
        share.usedMs += ran;
      } else {
        share.otherCount += 1;
        share.otherMs += ran;
      }
      if (replica.startedUnixMs !== 0) {
        share.startedCount += 1;
        share.waitedMs += Math.max(0, replica.startedUnixMs - replica.dispatchedUnixMs);
      }
    }
  }
  return [...shares.values()].sort((a, b) => b.acceptedCount - a.acceptedCount || (a.machineId < b.machineId ? -1 : 1));
}

function shareJson(share: MachineShare): JsonOf<(typeof shapes)['machine_share']> {
  return {
    machine_id: share.machineId,
    accepted_count: share.acceptedCount,
    other_count: share.otherCount,
    used_ms: share.usedMs,
    other_ms: share.otherMs,
    waited_ms_mean: share.startedCount === 0 ? null : Math.round(share.waitedMs / share.startedCount),
  };
}

function shareTable(shares: readonly MachineShare[]): string[] {
  return renderTable(
    [
      { title: 'MACHINE' },
      { title: 'TASKS', right: true },
      { title: 'TASK TIME', right: true },
      { title: 'OTHER REPLICAS', right: true },
      { title: 'REPLICA TIME', right: true },
      { title: 'MEAN WAIT', right: true },
    ],
    shares.map((share) => [
      share.machineId,
      String(share.acceptedCount),
      showDuration(share.usedMs),
      String(share.otherCount),
      showDuration(share.otherMs),
      share.startedCount === 0 ? '-' : showDuration(share.waitedMs / share.startedCount),
    ]),
  );
}
