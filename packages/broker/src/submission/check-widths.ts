import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import type { ProcessorCount, ProviderId } from '@mutirao/core/shared';

import { countValues, valueAt } from '../staging/variables.ts';

/** What is known of where tasks may run. */
export interface WidthRules {
  readonly state: Pick<BrokerState, 'machines' | 'providers'>;
  /**
   * The most processors that one machine of a provider may have; undefined where nobody can say: its machines are
   * whoever joins, or it does not answer. Never rejects.
   */
  machineProcessorsOf(providerId: ProviderId): Promise<ProcessorCount | undefined>;
}

/**
 * Sees that a job has no task that takes more processors than a machine has that is here, or than a machine of any
 * provider may ever have. A gang has its processors of several machines, and is left out. While no provider is
 * connected, or one of them may get any machine, nothing is refused: the task waits.
 *
 * @throws {MutiraoError} MUT_PROCESSORS_MAX, naming the task.
 */
export async function checkWidths(spec: JobSpec, { state, machineProcessorsOf }: WidthRules): Promise<void> {
  const here = [...state.machines.values()].reduce((most, { processors }) => Math.max(most, processors), 1);
  if (spec.gang === true || findWider(spec, here) === undefined) return;
  const connected = [...state.providers.values()]
    .filter(({ isConnected }) => isConnected)
    .map(({ providerId }) => providerId);
  let most = { processors: 0, providerId: '' };
  const askFor = (providerId: ProviderId): Promise<ProcessorCount | undefined> => {
    const nodes = state.providers.get(providerId)?.resource?.resourceStatus.nodes;
    if (nodes === undefined) return machineProcessorsOf(providerId);
    return Promise.resolve(nodes.reduce((widest, node) => Math.max(widest, node.processors), 1));
  };
  for (const [index, processors] of (await Promise.all(connected.map(askFor))).entries()) {
    if (processors === undefined) return;
    if (processors > most.processors) most = { processors, providerId: connected[index] ?? '' };
  }
  const wider = most.processors === 0 ? undefined : findWider(spec, Math.max(here, most.processors));
  if (wider === undefined) return;
  throw new MutiraoError(
    'MUT_PROCESSORS_MAX',
    `task ${wider.taskIndex} (${wider.value}) takes ${wider.processors} processors of one machine; a machine ` +
      `of provider ${most.providerId} has ${most.processors} at most`,
  );
}

/** The first task that takes more at least. */
function findWider(
  { groups, processors: usual }: JobSpec,
  most: ProcessorCount,
): { readonly taskIndex: number; readonly value: string; readonly processors: ProcessorCount } | undefined {
  let taskIndex = 0;
  for (const { values, processors = usual } of groups) {
    if (processors > most) return { taskIndex, value: valueAt(values, 0), processors };
    taskIndex += countValues(values);
  }
  return undefined;
}
