import type { TaskTemplate } from '../../messages/index.ts';
import { isEmptyRequest, type ResourceRequest } from '../../resources/index.ts';
import type { AgentState } from './state.ts';

/**
 * What a replica takes here in addition to processors; undefined for nothing. Memory is not counted where it is not
 * known how much there is.
 */
export function getHeldResources(state: AgentState, { resources }: TaskTemplate): ResourceRequest | undefined {
  if (resources === undefined || isEmptyRequest(resources)) return undefined;
  return resources.memory > 0 && state.freeResources.capacity.memory === 0 ? { ...resources, memory: 0 } : resources;
}
