import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import type { ProcessorCount, ProviderId } from '@mutirao/core/shared';

import { countOf, valueAt } from '../staging/variables.ts';

/** What is known of where tasks may run. */
export interface WidthRules {
  readonly state: Pick<BrokerState, 'machines' | 'providers'>;
  /**
   * The most processors that one of a provider's requests may have; undefined where nobody can say: its machines are
   * whoever joins, or it does not answer. Never rejects.
   */
  widthMaxOf(providerId: ProviderId): Promise<ProcessorCount | undefined>;
}

/**
 * Sees that a job has no task that takes more processors than a machine has that is here, or than any provider may ever
 * ask for. A gang has its processors of several
 * machines, and is left out. While no provider is connected, or one of them may get any machine, nothing is refused:
 * the task waits.
 *
 * @throws {MutiraoError} MUT_PROCESSORS_MAX, naming the task.
 */
export async function checkWidths(spec: JobSpec, { state, widthMaxOf }: WidthRules): Promise<void> {
  const here = [...state.machines.values()].reduce((most, { processors }) => Math.max(most, processors), 1);
  if (spec.gang === true || findWider(spec, here) === undefined) return;
  const connected = [...state.providers.values()]
    .filter(({ isConnected }) => isConnected)
    .map(({ providerId }) => providerId);
  let most = { processors: 0, providerId: '' };
  for (const [index, widthMax] of (await Promise.all(connected.map(widthMaxOf))).entries()) {
    if (widthMax === undefined) return;
    if (widthMax > most.processors) most = { processors: widthMax, providerId: connected[index] ?? '' };
  }
  const wider = most.processors === 0 ? undefined : findWider(spec, Math.max(here, most.processors));
  if (wider === undefined) return;
  throw new MutiraoError(
    'MUT_PROCESSORS_MAX',
    `task ${wider.taskIndex} (${wider.value}) takes ${wider.processors} processors; the most that a connected ` +
      `provider may ask for is ${most.processors} (${most.providerId})`,
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
    taskIndex += countOf(values);
  }
  return undefined;
}
