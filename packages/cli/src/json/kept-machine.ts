import { KeptMachineStatus, type KeptMachine, type KeptMachineState } from '@mutirao/api/provider';

import { nameOf } from '../wire/names.ts';
import type { JsonOf, shapes } from './shapes.ts';

const noMachine: KeptMachine = { name: '', reach: undefined, processors: 0, folder: '', attributes: {} };

/** A machine that a provider keeps, as JSON. */
export function keptMachineJson(providerId: string, state: KeptMachineState): JsonOf<(typeof shapes)['kept_machine']> {
  const { name, reach, processors, folder, attributes } = state.machine ?? noMachine;
  return {
    machine_id: `${providerId}/${name}`,
    provider_id: providerId,
    status: nameOf(KeptMachineStatus, state.status),
    since_unix_ms: state.sinceUnixMs,
    reason: state.reason,
    by: reach?.$case ?? '',
    at: placeOf(reach),
    processors,
    folder,
    attributes,
  };
}

/** Where a kept machine is, as its owner named it. */
export function placeOf(reach: KeptMachine['reach']): string {
  if (reach === undefined) return '';
  return reach.$case === 'ssh' ? reach.value.destination : reach.value.machine;
}
