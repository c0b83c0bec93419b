import type { Cause } from '../../../reasons/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import { mayObtain } from '../machines/machine-pattern.ts';
import { wouldDo } from '../dispatch/matching.ts';
import type { BrokerProvider, BrokerReplica, BrokerState } from '../state.ts';
import { getGroup } from '../jobs/task-groups.ts';

/**
 * The code of a run that was cut by the end of an allocation although it had nearly all of the longest walltime that
 * there is.
 */
export const walltimeMaxCode = 'MUT_WALLTIME_MAX';
/** Such runs after which a task is given up. */
export const walltimeCutsMax = 2;
/**
 * What of the longest walltime a run has to have had; the rest is for the start of agents, staging, and warnings ahead
 * of the end.
 */
const fullShare = 0.9;

/**
 * What to say of a run that the end of its allocation cut, if no allocation could give it more time; undefined for any
 * other run, and if the longest allocation is not known, or a machine that stays would match.
 */
export function explainFullCut(
  state: BrokerState,
  replica: BrokerReplica,
  { startedAt, endedAt, now }: { readonly startedAt: Instant; readonly endedAt: Instant; readonly now: Instant },
): Cause | undefined {
  const {
    facts: { until },
  } = replica.machine;
  if (until === undefined || startedAt === 0) return undefined;
  const ran = Math.min(Math.max(0, endedAt - startedAt), Math.max(0, now - replica.dispatchedAt));
  if (until - now > ran / 9) return undefined;
  const longest = findLongest(state, replica);
  if (longest === undefined || ran < fullShare * longest.walltime) return undefined;
  return {
    code: 'allocation-too-short',
    ranMs: ran,
    walltimeMsMax: longest.walltime,
    providerId: longest.providerId,
  };
}

/**
 * The longest walltime at providers that may have machines for the task; undefined if it may have more, or if it is not
 * known.
 */
function findLongest({ providers, machines }: BrokerState, { job, task }: BrokerReplica): LongestWalltime | undefined {
  const { queue } = getGroup(job, task.index);
  const stays = [...machines.values()].some(({ facts }) => facts.until === undefined && wouldDo(queue, facts));
  const asked = [...providers.values()].filter((provider) => !isTimeShared(provider) && mayObtain(queue, provider));
  const known = asked.flatMap(({ providerId, resource }) =>
    resource?.resourceStatus.walltimeMax === undefined
      ? []
      : [{ providerId, walltime: resource.resourceStatus.walltimeMax }],
  );
  const [first, ...others] = known;
  if (stays || first === undefined || known.length < asked.length) return undefined;
  return others.reduce((longest, one) => (one.walltime > longest.walltime ? one : longest), first);
}

interface LongestWalltime {
  readonly walltime: Duration;
  readonly providerId: string;
}

function isTimeShared({ resource }: BrokerProvider): boolean {
  return resource?.resourceStatus.isTimeShared === true;
}
