import type { TaskTemplate } from '../../messages/index.ts';
import { isEmptyRequest, type ResourceRequest } from '../../resources/index.ts';
import type { AgentState } from './state.ts';

/**
 * The resources that a replica takes here in addition to processors; undefined for none. Memory does not count if the
 * machine's memory is unknown.
 */
export function getHeldResources(state: AgentState, { resources }: TaskTemplate): ResourceRequest | undefined {
  if (resources === undefined || isEmptyRequest(resources)) return undefined;
  return resources.memory > 0 && state.freeResources.capacity.memory === 0 ? { ...resources, memory: 0 } : resources;
}
