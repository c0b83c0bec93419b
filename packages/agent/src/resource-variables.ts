import type { TaskTemplate } from '@mutirao/core/messages';
import type { Assignment, ResourceCapacity } from '@mutirao/core/resources';
import { amdPrefix } from './capacity/find-gpus.ts';

/** Variables that say what each task of a template may use; a number of threads that its job sets stands. */
export function amountVariables({ processors, resources, environment }: TaskTemplate): Record<string, string> {
  const count = String(processors);
  return {
    MUTIRAO_CPUS: count,
    ...(resources === undefined || resources.memory === 0 ? {} : { MUTIRAO_MEMORY_BYTES: String(resources.memory) }),
    ...(environment['OMP_NUM_THREADS'] === undefined ? { OMP_NUM_THREADS: count } : {}),
  };
}

/**
 * Variables that show a task its own GPUs and hide the others; none for a task that has none, which sees what the agent
 * sees.
 */
export function deviceVariables(
  { gpus }: Pick<ResourceCapacity, 'gpus'>,
  assignment: Assignment | undefined,
): Record<string, string> {
  const ids = assignment?.devices.map(({ deviceIndex }) => gpus[deviceIndex]?.id ?? '') ?? [];
  if (ids.length === 0) return {};
  const nvidia = ids.filter((id) => !id.startsWith(amdPrefix));
  const amd = ids.filter((id) => id.startsWith(amdPrefix)).map((id) => id.slice(amdPrefix.length));
  return {
    MUTIRAO_GPUS: [...nvidia, ...amd].join(','),
    CUDA_VISIBLE_DEVICES: nvidia.join(','),
    ROCR_VISIBLE_DEVICES: amd.join(','),
    // The driver's tool numbers devices by their place on the bus, while CUDA's default is by speed.
    ...(nvidia.some((id) => /^\d+$/.test(id)) ? { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' } : {}),
  };
}
