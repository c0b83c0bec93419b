import { countStartable, freeProcessors } from '../../../bag/index.ts';
import { getCapacity, type MachineFacts } from '../../../messages/index.ts';
import { evaluate } from '../../../requirements/index.ts';
import {
  describeAmount,
  describePart,
  FreeResources,
  type ResourceRequest,
  type Shortage,
} from '../../../resources/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { mayUse } from '../placement/placed-tasks.ts';
import { hasEnough, isOpenTo, matchesQueue } from '../placing/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from '../state.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { plural } from './sentences.ts';

/** The machine that comes nearest to what a task asks for in addition to processors, and what it has too little of. */
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
 * Says that what a queue's tasks ask for in addition to processors is not there, or not free; undefined where that is
 * not what they wait for.
 */
export function explainResources(state: BrokerState, queue: TaskQueue, now: Instant): Explanation | undefined {
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
): Explanation | undefined {
  const open = machines.filter(
    (machine) => freeProcessors(machine) >= queue.processors && countStartable(machine, queue) === 0,
  );
  const shortages = listShortages(resources, open, (machine) => machine.resources);
  const [nearest] = shortages;
  if (nearest === undefined) return undefined;
  return {
    summary: `it needs ${describeAmount(nearest, nearest.needed)}; ${describeFree(nearest)}.`,
    details: shortages
      .slice(0, listedMax)
      .map((shortage) => `${shortage.machineId}: ${describePart(shortage, shortage)} free.`),
  };
}

function describeFree(shortage: NearestShortage): string {
  return shortage.free === 0
    ? `none is free on ${shortage.machineId}, which has ${describeAmount(shortage, shortage.total)}`
    : `the largest free is ${describeAmount(shortage, shortage.free)}, on ${shortage.machineId}`;
}

/** No machine has enough, though some would do otherwise. */
function explainLack(
  queue: TaskQueue,
  resources: ResourceRequest,
  machines: readonly BrokerMachine[],
): Explanation | undefined {
  const lacking = machines.filter(
    ({ facts }) =>
      facts.processors >= queue.processors &&
      isOpenTo(queue, facts) &&
      evaluate(queue.requirements, facts.attributes) === 'match',
  );
  const [nearest] = listShortages(resources, lacking, ({ facts }) => new FreeResources(getCapacity(facts)));
  if (nearest === undefined) return undefined;
  const most =
    nearest.total === 0
      ? `none of ${plural(machines.length, 'machine')} has any`
      : `the most that a machine has is ${describeAmount(nearest, nearest.total)}, on ${nearest.machineId}`;
  return { summary: `it needs ${describeAmount(nearest, nearest.needed)}; ${most}.`, details: [] };
}

/** What a machine has too little of, even when nothing runs there; a part of a sentence, or none. */
export function describeLack(queue: TaskQueue, facts: MachineFacts): string[] {
  const { resources } = queue;
  if (resources === undefined || hasEnough(queue, facts)) return [];
  const shortage = new FreeResources(getCapacity(facts)).findShortage(resources);
  if (shortage === undefined) return [];
  return [
    `wanted ${describeAmount(shortage, shortage.needed)}: the machine has ` +
      (shortage.total === 0 ? 'none' : describeAmount(shortage, shortage.total)),
  ];
}
