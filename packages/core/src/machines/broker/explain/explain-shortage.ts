import { countStartable, freeProcessors } from '../../../bag/index.ts';
import { getCapacity, type MachineFacts } from '../../../messages/index.ts';
import { evaluate } from '../../../requirements/index.ts';
import { FreeResources, type ResourceRequest, type Shortage } from '../../../resources/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import { hasEnough, isOpenTo, matchesQueue } from '../dispatch/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from '../state.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { listedMax, type Waiting } from './explanation.ts';

/**
 * The machine that comes nearest to a task's request for other resources than processors, and what it has too little
 * of.
 */
export interface NearestShortage extends Shortage {
  readonly machineId: string;
}

/** Machines of the list that lack something other than processors; the one that has most of it comes first. */
function listShortages(
  resources: ResourceRequest,
  machines: readonly BrokerMachine[],
  freeOn: (machine: BrokerMachine) => FreeResources,
): NearestShortage[] {
  return machines
    .flatMap((machine): NearestShortage[] => {
      const shortage = freeOn(machine).findShortage(resources);
      return shortage === undefined ? [] : [{ ...shortage, machineId: machine.facts.machineId }];
    })
    .sort((one, other) => other.free / other.needed - one.free / one.needed);
}

/**
 * Says that the resources that a queue's tasks request in addition to processors are missing, or not free; undefined if
 * the tasks do not wait for that.
 */
export function explainResources(state: BrokerState, queue: TaskQueue, now: Instant): Waiting | undefined {
  const { resources, job } = queue;
  if (resources === undefined || queue.isGang || queue.place === 'undecided') return undefined;
  const machines = [...state.machines.values()].filter(
    ({ facts, provider }) => belongsTo(job, facts.reservation) && mayUse(queue, provider),
  );
  const matching = machines.filter((machine) => matchesQueue(queue, machine));
  if (matching.length === 0) return explainLack(queue, resources, machines);
  const open = matching.filter(
    (machine) =>
      ['idle', 'busy'].includes(statusOfMachine(state, machine, now)) && !keepsAway({ state, now }, queue, machine),
  );
  return explainShortage(queue, resources, open);
}

/** Machines have free processors and too little of something else. */
function explainShortage(
  queue: TaskQueue,
  resources: ResourceRequest,
  machines: readonly BrokerMachine[],
): Waiting | undefined {
  // Where it fits, it waits for its turn and not for resources.
  if (machines.some((machine) => countStartable(machine, queue) > 0)) return undefined;
  const open = machines.filter((machine) => freeProcessors(machine) >= queue.processors);
  const shortages = listShortages(resources, open, (machine) => machine.resources);
  const [nearest] = shortages;
  if (nearest === undefined) return undefined;
  const { machineId, needed, free, total } = nearest;
  return {
    why: { code: 'resource-not-free', ...getResource(nearest), needed, free, total, machineId },
    details: shortages.slice(0, listedMax).map(
      (shortage): Reason => ({
        code: 'machine-resource-free',
        machineId: shortage.machineId,
        ...getResource(shortage),
        free: shortage.free,
        total: shortage.total,
      }),
    ),
  };
}

/** No machine has the amount, though some would do otherwise. */
function explainLack(
  queue: TaskQueue,
  resources: ResourceRequest,
  machines: readonly BrokerMachine[],
): Waiting | undefined {
  const lacking = machines.filter(
    ({ facts }) =>
      facts.processors >= queue.processors &&
      isOpenTo(queue, facts) &&
      evaluate(queue.requirements, facts.attributes) === 'match',
  );
  const [nearest] = listShortages(resources, lacking, ({ facts }) => new FreeResources(getCapacity(facts)));
  if (nearest === undefined) return undefined;
  const { machineId, needed, total } = nearest;
  return {
    why: { code: 'resource-lacking', ...getResource(nearest), needed, total, machineId, machines: machines.length },
    details: [],
  };
}

/** The resources of which a machine has too little even when nothing runs there; empty if it has enough. */
export function explainLackOn(queue: TaskQueue, facts: MachineFacts): Reason[] {
  const { resources } = queue;
  if (resources === undefined || hasEnough(queue, facts)) return [];
  const shortage = new FreeResources(getCapacity(facts)).findShortage(resources);
  if (shortage === undefined) return [];
  const { needed, total } = shortage;
  return [{ code: 'machine-lacks-resource', machineId: facts.machineId, ...getResource(shortage), needed, total }];
}

function getResource({ kind, name }: Shortage): { readonly resource: Shortage['kind']; readonly resourceName: string } {
  return { resource: kind, resourceName: name };
}
