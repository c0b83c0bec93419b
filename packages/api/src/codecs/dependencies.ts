import { dependenciesMax, type DependencyCondition, type JobDependency, type JobSpec } from '@mutirao/core/messages';

import {
  DependencyCondition as ConditionWire,
  type JobDependency as JobDependencyWire,
} from '../generated/mutirao/broker/v1/broker.ts';
import { badRequest, boundNumber } from './common.ts';

const wireOfConditions: Readonly<Record<DependencyCondition, ConditionWire>> = {
  started: ConditionWire.STARTED,
  ended: ConditionWire.ENDED,
  succeeded: ConditionWire.SUCCEEDED,
  failed: ConditionWire.FAILED,
  each: ConditionWire.EACH,
};
const conditionsOfWire = new Map(
  Object.entries(wireOfConditions).map(([condition, wire]) => [wire, condition as DependencyCondition]),
);

/** What a job waits for, as it travels. */
export interface GatesWire {
  readonly after?: { readonly jobs: readonly JobDependencyWire[] } | undefined;
  readonly beginUnixMs?: number | undefined;
  readonly expireUnixMs?: number | undefined;
}

/** Reads what a job waits for. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeGates(wire: GatesWire): Pick<JobSpec, 'after' | 'beginAt' | 'expireAt'> {
  const { after: { jobs: after } = { jobs: [] }, beginUnixMs, expireUnixMs } = wire;
  if (after.length > dependenciesMax)
    throw badRequest(`job.after has ${after.length} entries; expected at most ${dependenciesMax}`);
  return {
    ...(after.length === 0 ? {} : { after: after.map(decodeDependency) }),
    ...(beginUnixMs === undefined ? {} : { beginAt: boundNumber(beginUnixMs, 'instant', 'job.begin_unix_ms') }),
    ...(expireUnixMs === undefined ? {} : { expireAt: boundNumber(expireUnixMs, 'instant', 'job.expire_unix_ms') }),
  };
}

function decodeDependency(wire: JobDependencyWire, index: number): JobDependency {
  const condition = conditionsOfWire.get(wire.condition);
  if (condition === undefined)
    throw badRequest(
      `job.after[${index}].condition is ${String(wire.condition)}; expected 1 to ${conditionsOfWire.size}`,
    );
  return { jobId: wire.jobId, condition };
}

/** Writes the jobs that one waits for; undefined for none. */
export function encodeDependencies(
  dependencies: readonly JobDependency[] = [],
): { jobs: JobDependencyWire[] } | undefined {
  return dependencies.length === 0
    ? undefined
    : { jobs: dependencies.map(({ jobId, condition }) => ({ jobId, condition: wireOfConditions[condition] })) };
}

/** The condition of a dependency that a broker names; undefined for one that this release does not know. */
export function readCondition(wire: ConditionWire): DependencyCondition | undefined {
  return conditionsOfWire.get(wire);
}
