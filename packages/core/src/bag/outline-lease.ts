import type { Lease, LeaseGroup, LeaseOutline, LeaseOutlineGroup } from '../messages/index.ts';
import { isEmptyRequest } from '../resources/index.ts';
import { listRanges } from '../shared/index.ts';

/** What the provider's machine keeps of a lease. Groups that nothing could be staged of are left out. */
export function outlineLease({ sequence, horizon, groups, quarantined }: Lease): LeaseOutline {
  const outlines = groups.filter(({ start }) => start.replicas.length > 0).map(outlineGroup);
  return { sequence, horizon, groups: outlines, ...(quarantined === undefined ? {} : { quarantined }) };
}

function outlineGroup({ start, requirements, taskTime }: LeaseGroup): LeaseOutlineGroup {
  const { processors, resources } = start.template;
  return {
    replicas: listRanges(start.replicas.map(({ replicaId }) => replicaId)),
    processors,
    ...(isEmptyRequest(resources) ? {} : { resources }),
    requirements,
    taskTime,
    hasInputs: start.replicas.some(({ inputs }) => inputs.length > 0),
  };
}
