import type { NodeGrant } from '@mutirao/core/queue';

/**
 * The variables by which a process knows its part of a node. Agents offer just that; any other program finds its GPUs by the
 * variables of their makers.
 *
 * @param firstProcessor number of the node's first processor among those that this host lets us use.
 */
export function grantVariables(grant: NodeGrant | undefined, firstProcessor = 0): Record<string, string> {
  if (grant === undefined) return {};
  const { nodeName, processorIds, memory, gpus } = grant;
  const visible = gpus.map(({ id }) => id).join(',');
  return {
    MUTIRAO_NODE: nodeName,
    MUTIRAO_MACHINE_PROCESSORS: String(processorIds.length),
    MUTIRAO_MACHINE_PROCESSOR_IDS: processorIds.map((id) => firstProcessor + id).join(','),
    MUTIRAO_MACHINE_MEMORY_BYTES: String(memory),
    MUTIRAO_MACHINE_GPUS: String(gpus.length),
    MUTIRAO_MACHINE_GPU_DEVICES: gpus.map(({ id, kind }) => `${id}:${kind}`).join(' '),
    CUDA_VISIBLE_DEVICES: visible,
    ROCR_VISIBLE_DEVICES: visible,
  };
}
