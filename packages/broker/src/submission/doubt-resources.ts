import type { BrokerState } from '@mutirao/core/machines/broker';
import { getCapacity, type JobSpec } from '@mutirao/core/messages';
import {
  describeAmount,
  emptyCapacity,
  FreeResources,
  keyOfRequest,
  largerCapacity,
  type ResourceCapacity,
  type ResourceRequest,
} from '@mutirao/core/resources';
import { findNearestWord } from '@mutirao/core/shared';

/** Sentences of one job. */
const doubtsMax = 10;

type Known = Pick<BrokerState, 'machines' | 'providers'>;

/**
 * What of the resources that a job's tasks ask for no machine has that is here, or that providers had before:
 * sentences; none where nothing is known of any machine. Tasks wait until such a machine comes. Cost: O(machines +
 * groups).
 */
export function doubtResources({ groups, resources: usual }: JobSpec, state: Known): string[] {
  const requests = new Map<string, ResourceRequest>();
  for (const { resources = usual } of groups)
    if (resources !== undefined) requests.set(keyOfRequest(resources), resources);
  requests.delete('');
  if (requests.size === 0) return [];
  const known = listCapacities(state);
  if (known.length === 0) return [];
  const most = known.reduce(largerCapacity, emptyCapacity);
  const doubts = [...requests.values()].flatMap((request) => doubtRequest(request, known, most));
  return [...new Set(doubts)].slice(0, doubtsMax);
}

function listCapacities({ machines, providers }: Known): ResourceCapacity[] {
  return [
    ...[...machines.values()].map(({ facts }) => getCapacity(facts)),
    ...[...providers.values()].flatMap(({ pattern }) => (pattern?.capacity === undefined ? [] : [pattern.capacity])),
  ];
}

function doubtRequest(
  request: ResourceRequest,
  known: readonly ResourceCapacity[],
  most: ResourceCapacity,
): readonly string[] {
  if (known.some((capacity) => new FreeResources(capacity).fits(request))) return [];
  const shortage = new FreeResources(most).findShortage(request);
  if (shortage === undefined) return ['no machine that is known has all that a task asks for at once'];
  const needed = describeAmount(shortage, shortage.needed);
  if (shortage.total > 0)
    return [`a task needs ${needed}; the most that a known machine has is ${describeAmount(shortage, shortage.total)}`];
  return [`a task needs ${needed}; no machine that is known has any${suggest(shortage, most)}`];
}

/** Names that machines have, and the one that was meant perhaps. */
function suggest({ kind, name }: { readonly kind: string; readonly name: string }, most: ResourceCapacity): string {
  if (kind === 'memory' || (kind === 'gpus' && name === '')) return '';
  const names = kind === 'named' ? Object.keys(most.named) : most.gpus.map((device) => device.kind);
  const stated = [...new Set(names)].filter((one) => one !== '').sort();
  const nearest = findNearestWord(name, stated);
  if (nearest !== undefined) return ` (they have "${nearest}": did you mean that?)`;
  return stated.length === 0 ? '' : `; they have ${stated.join(', ')}`;
}
