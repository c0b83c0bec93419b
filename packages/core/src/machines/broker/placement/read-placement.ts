import { type PlacementChoice, readPlacement } from '../../../placement/index.ts';
import type { JobSpec } from '../../../messages/index.ts';
import { invariant } from '../../../shared/index.ts';
import type { Fault, Refusal } from '../../../reasons/index.ts';

/** What a job, or a grid, says of where tasks are placed. */
export type JobPlacement = PlacementChoice | 'none';

/** What the spec of a job says; undefined where it says nothing, and of a job that needs no spec any more. */
export function placementOfJob(spec: JobSpec | undefined): JobPlacement | undefined {
  return spec?.placement === undefined ? undefined : getPlacement(spec.placement);
}

/** The same of a text that was checked before. */
export function getPlacement(text: string): JobPlacement {
  const placement = readPlacement(text);
  invariant(typeof placement === 'string' || !('fault' in placement), `placement is "${text}", which nobody refused`);
  return placement;
}

/** Finds what is wrong with what a spec says of where its tasks are placed. */
export function findPlacementFault(spec: JobSpec): Refusal | undefined {
  const { placement } = spec;
  if (placement === undefined || placement === 'none') return undefined;
  const read = readPlacement(placement);
  if (typeof read === 'object' && 'fault' in read) return { code: 'MUT_BAD_REQUEST', fault: read.fault };
  const fault = findOther(spec, placement);
  return fault === undefined ? undefined : { code: 'MUT_BAD_REQUEST', fault };
}

/** What else says where the tasks of a job run. */
function findOther({ scheduler, verification, reservation }: JobSpec, placement: string): Fault | undefined {
  if (scheduler === 'plan') return { code: 'placement-with-plan', placement };
  if (reservation !== undefined) return { code: 'placement-with-reservation', placement };
  const votes = verification?.kind === 'vote' || verification?.kind === 'credibility';
  return votes ? { code: 'placement-with-votes', placement, verification: verification.kind } : undefined;
}
