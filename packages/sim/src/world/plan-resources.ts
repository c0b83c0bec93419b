import type { ClusterOptions } from '@mutirao/core/machines/cluster';
import type { JobSpec, MachineFacts, TaskGroup } from '@mutirao/core/messages';
import { shapeNodes } from '@mutirao/core/queue';
import type { ResourceCapacity } from '@mutirao/core/resources';
import type { Bytes } from '@mutirao/core/shared';
import type { ClusterPlan, JobPlan, LabMachinePlan } from './scenario.ts';

/** What the tasks of a planned job ask for in addition to processors. */
export function findRequest({ asks }: JobPlan): Pick<JobSpec, 'resources' | 'memoryGrowth'> {
  if (asks === undefined) return {};
  const { memory, gpus, licences, peak } = asks;
  return {
    resources: { memory, gpus, named: licences === 0 ? {} : { licence: licences } },
    ...(peak === undefined ? {} : { memoryGrowth: 2 }),
  };
}

/** Every other job that asks for GPUs can do with a processor instead, if more slowly. */
export function findAlternatives({
  asks,
  taskCount,
  meanTaskTime,
  gangProcessors = 0,
  scheduler = 'wqr',
}: JobPlan): Pick<TaskGroup, 'alternatives' | 'expectedTime'> {
  const isPossible = gangProcessors === 0 && (scheduler === 'wqr' || scheduler === 'workqueue');
  if (asks === undefined || asks.gpus === 0 || taskCount % 2 === 1 || !isPossible) return {};
  const resources = { memory: asks.memory, gpus: 0, named: asks.licences === 0 ? {} : { licence: asks.licences } };
  return { expectedTime: meanTaskTime, alternatives: [{ processors: 1, resources, expectedTime: 2 * meanTaskTime }] };
}

/** Whether a run of a planned job is ended for its memory when it has that much. */
export function isTooGreedy({ asks }: JobPlan, memory: Bytes): boolean {
  return asks?.peak !== undefined && asks.peak > memory;
}

/** The nodes of a planned cluster; nothing where it gives processors and nothing else. */
export function findNodes({ nodes }: ClusterPlan): Pick<ClusterOptions, 'clusterNodes' | 'nodes'> {
  if (nodes === undefined) return {};
  const clusterNodes = nodes.map(({ processors, memory, gpus }, index) => ({
    name: `n${index}`,
    processors,
    memory,
    gpus: Array.from({ length: gpus }, (_, device) => ({ id: String(device), kind: 'a100' })),
  }));
  return { clusterNodes, nodes: shapeNodes(clusterNodes) };
}

/** What a planned machine has in addition to processors. */
export function findCapacity({ has }: LabMachinePlan): Pick<MachineFacts, 'capacity'> {
  if (has === undefined) return {};
  const { memory, gpus, licences } = has;
  const capacity: ResourceCapacity = {
    memory,
    gpus: Array.from({ length: gpus }, (_, index) => ({ id: String(index), kind: 'a100' })),
    named: licences === 0 ? {} : { licence: licences },
  };
  return { capacity };
}
