import type { Lease, LeaseGroup, LeaseOutline, LeaseOutlineGroup } from '../messages/index.ts';
import type { IndexRange } from '../shared/index.ts';

/** What the provider's machine keeps of a lease. Groups that nothing could be staged of are left out. */
export function outlineLease({ sequence, horizon, groups }: Lease): LeaseOutline {
  return { sequence, horizon, groups: groups.filter(({ start }) => start.replicas.length > 0).map(outlineGroup) };
}

function outlineGroup({ start, requirements, taskTime }: LeaseGroup): LeaseOutlineGroup {
  return {
    replicas: rangesOf(start.replicas.map(({ replicaId }) => replicaId)), processors: start.template.processors, requirements, taskTime,
    hasInputs: start.replicas.some(({ inputs }) => inputs.length > 0),
  };
}

/** Numbers that count up by one, as ranges; the order is kept. */
function rangesOf(numbers: readonly number[]): IndexRange[] {
  const ranges: { first: number; count: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.first + last.count === number) last.count += 1;
    else ranges.push({ first: number, count: 1 });
  }
  return ranges;
}
