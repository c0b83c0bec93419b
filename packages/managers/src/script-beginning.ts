import type { Duration } from '@mutirao/core/shared';
import { renderAssignments } from '@mutirao/runtime/processes';
import type { AllocationOrder } from './resource-manager.ts';

/**
 * Renders the first lines of a job's script: the environment of an order's processes.
 *
 * It is in the script, which only its owner and the manager's operators can read, and not on a command line. The end of
 * the walltime goes by the clock of the node that runs the script; inside a reservation it is never after the
 * reservation's end.
 */
export function renderBeginning(order: AllocationOrder, walltime: Duration): string[] {
  const { environment, width, reservation } = order;
  const end = `($(date +%s) + ${Math.ceil(walltime / 1000)}) * 1000`;
  return [
    '#!/bin/sh',
    `export ${renderAssignments({ ...environment, MUTIRAO_PROCESS_COUNT: String(width), ...slotVariables(order) })}`,
    'export ' +
      `MUTIRAO_WALLTIME_END_UNIX_MS=$((${reservation === undefined ? end : `${end} < ${reservation.endsAt} ? ${end} : ${reservation.endsAt}`}))`,
  ];
}

/** What each agent offers where one is started for each slot. */
function slotVariables({ slot }: AllocationOrder): Record<string, string> {
  if (slot === undefined) return {};
  return {
    MUTIRAO_MACHINE_PROCESSORS: String(slot.processors),
    MUTIRAO_MACHINE_MEMORY_BYTES: String(slot.memory),
    MUTIRAO_MACHINE_GPUS: String(slot.gpus),
  };
}
