import { EnrolledMachineStatus, type EnrolledMachine, type EnrolledMachineState } from '@mutirao/api/provider';

import { getEnumName } from '../wire/names.ts';
import type { JsonOf, shapes } from './shapes.ts';

const noMachine: EnrolledMachine = {
  name: '',
  reach: undefined,
  processors: 0,
  folder: '',
  attributes: {},
  resources: [],
};

/** A machine that a provider keeps, as JSON. */
export function enrolledMachineJson(
  providerId: string,
  state: EnrolledMachineState,
): JsonOf<(typeof shapes)['enrolled_machine']> {
  const { name, reach, processors, folder, attributes } = state.machine ?? noMachine;
  return {
    machine_id: `${providerId}/${name}`,
    provider_id: providerId,
    status: getEnumName(EnrolledMachineStatus, state.status),
    since_unix_ms: state.sinceUnixMs,
    reason: state.reason,
    by: reach?.$case ?? '',
    at: describeReach(reach),
    processors,
    folder,
    attributes,
  };
}

/** Where a kept machine is, as its owner named it. */
export function describeReach(reach: EnrolledMachine['reach']): string {
  if (reach === undefined) return '';
  return reach.$case === 'ssh' ? reach.value.destination : reach.value.machine;
}
