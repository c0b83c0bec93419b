import type { BagMachine, BagQueue } from './bag.ts';

/**
 * Orders the queues of one bag so that it packs well: tasks that need GPUs first, since few machines have any, and then
 * the queues with the most outstanding work. A queue that is served late ends alone, and leaves most of each machine
 * idle. The work of a task is its largest share of a machine; how long tasks take is taken to be alike.
 *
 * Cost: O(machines + queues log queues).
 */
export function orderByWork<Queue extends BagQueue>(
  queues: readonly Queue[],
  machines: readonly BagMachine[],
): readonly Queue[] {
  const [processors, memory, gpus] = [
    findMost(machines, (machine) => machine.processors),
    findMost(machines, ({ resources }) => resources?.capacity.memory ?? 0),
    findMost(machines, ({ resources }) => 1000 * (resources?.capacity.gpus.length ?? 0)),
  ];
  const works = new Map(
    queues.map((queue) => {
      const asked = queue.resources;
      const parts = [queue.processors / processors, (asked?.memory ?? 0) / memory, (asked?.gpus ?? 0) / gpus];
      return [queue, queue.readyCount * Math.max(...parts)];
    }),
  );
  return queues.toSorted(
    (one, other) =>
      Number(needsGpus(other)) - Number(needsGpus(one)) || (works.get(other) ?? 0) - (works.get(one) ?? 0),
  );
}

function needsGpus({ resources }: BagQueue): boolean {
  return resources !== undefined && resources.gpus > 0;
}

/** At least 1. */
function findMost(machines: readonly BagMachine[], read: (machine: BagMachine) => number): number {
  return machines.reduce((most, machine) => Math.max(most, read(machine)), 1);
}
