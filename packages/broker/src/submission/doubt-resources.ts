import type { BrokerState } from '@mutirao/core/machines/broker';
import { getCapacity, type JobSpec } from '@mutirao/core/messages';
import { distinctReasons, type Fault, type GetReason } from '@mutirao/core/reasons';
import {
  emptyCapacity,
  FreeResources,
  keyOfRequest,
  largerCapacity,
  type ResourceCapacity,
  type ResourceRequest,
} from '@mutirao/core/resources';
import { findNearestWord } from '@mutirao/core/shared';

/** Doubts of one job. */
const doubtsMax = 10;

type Known = Pick<BrokerState, 'machines' | 'providers'>;

/**
 * What of the resources that a job's tasks ask for no machine has that is here, or that providers had before;
 * none where nothing is known of any machine. Tasks wait until such a machine comes. Cost: O(machines +
 * groups).
 */
export function doubtResources({ groups, resources: usual }: JobSpec, state: Known): Fault[] {
  const requests = new Map<string, ResourceRequest>();
  for (const { resources = usual } of groups)
    if (resources !== undefined) requests.set(keyOfRequest(resources), resources);
  requests.delete('');
  if (requests.size === 0) return [];
  const known = listCapacities(state);
  if (known.length === 0) return [];
  const most = known.reduce(largerCapacity, emptyCapacity);
  return distinctReasons(listDoubts(requests.values(), known, most), doubtsMax);
}

function* listDoubts(
  requests: Iterable<ResourceRequest>,
  known: readonly ResourceCapacity[],
  most: ResourceCapacity,
): Iterable<Fault> {
  for (const request of requests) yield* doubtRequest(request, known, most);
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
): readonly Fault[] {
  if (known.some((capacity) => new FreeResources(capacity).fits(request))) return [];
  const shortage = new FreeResources(most).findShortage(request);
  if (shortage === undefined) return [{ code: 'resources-not-together' }];
  const { kind: resource, name: resourceName, needed, total } = shortage;
  if (total > 0) return [{ code: 'resource-above-largest', resource, resourceName, needed, total }];
  return [{ code: 'resource-nowhere', resource, resourceName, needed, ...suggest(shortage, most) }];
}

/** Names that machines have, and the one that was meant perhaps. */
function suggest(
  { kind, name }: { readonly kind: string; readonly name: string },
  most: ResourceCapacity,
): Pick<GetReason<'resource-nowhere'>, 'similarName' | 'knownNames'> {
  if (kind === 'memory' || (kind === 'gpus' && name === '')) return { knownNames: [] };
  const names = kind === 'named' ? Object.keys(most.named) : most.gpus.map((device) => device.kind);
  const knownNames = [...new Set(names)].filter((one) => one !== '').sort();
  const similarName = findNearestWord(name, knownNames);
  return { knownNames, ...(similarName === undefined ? {} : { similarName }) };
}
