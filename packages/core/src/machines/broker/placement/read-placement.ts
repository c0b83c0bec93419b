import { type PlacementChoice, readPlacement } from '../../../placement/index.ts';
import type { JobSpec } from '../../../messages/index.ts';
import { invariant } from '../../../shared/index.ts';
import type { SpecFault } from '../jobs/spec-fault.ts';

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
export function findPlacementFault(spec: JobSpec): SpecFault | undefined {
  const { placement } = spec;
  if (placement === undefined || placement === 'none') return undefined;
  const read = readPlacement(placement);
  if (typeof read === 'object' && 'fault' in read)
    return { code: 'MUT_BAD_REQUEST', message: `placement ${read.fault}` };
  const other = findOther(spec);
  return other === undefined
    ? undefined
    : { code: 'MUT_BAD_REQUEST', message: `placement is ${placement}, and ${other}; expected one of the two` };
}

/** What else says where the tasks of a job run. */
function findOther({ scheduler, verification, reservation }: JobSpec): string | undefined {
  if (scheduler === 'plan') return 'scheduler is plan, which chooses machines itself';
  if (reservation !== undefined) return 'the job has a reservation, which says where it runs';
  const votes = verification?.kind === 'vote' || verification?.kind === 'credibility';
  return votes ? `verification is by ${verification.kind}, which wants machines of several owners` : undefined;
}
