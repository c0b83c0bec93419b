import { type SiteSelectionChoice, readSiteSelection } from '../../../site-selection/index.ts';
import type { JobSpec } from '../../../messages/index.ts';
import { invariant } from '../../../shared/index.ts';
import type { Fault, Refusal } from '../../../reasons/index.ts';

/** What a job, or a grid, says of where tasks are placed. */
export type JobSiteSelection = SiteSelectionChoice | 'none';

/** The site selection of a job's spec; undefined without one, and for a job that needs no spec any more. */
export function siteSelectionOfJob(spec: JobSpec | undefined): JobSiteSelection | undefined {
  return spec?.siteSelection === undefined ? undefined : getSiteSelection(spec.siteSelection);
}

/** The same of a text that was checked before. */
export function getSiteSelection(text: string): JobSiteSelection {
  const siteSelection = readSiteSelection(text);
  invariant(
    typeof siteSelection === 'string' || !('fault' in siteSelection),
    `siteSelection is "${text}", which nobody refused`,
  );
  return siteSelection;
}

/** Finds a fault in the site selection of a spec. */
export function findSiteSelectionFault(spec: JobSpec): Refusal | undefined {
  const { siteSelection } = spec;
  if (siteSelection === undefined || siteSelection === 'none') return undefined;
  const read = readSiteSelection(siteSelection);
  if (typeof read === 'object' && 'fault' in read) return { code: 'MUT_BAD_REQUEST', fault: read.fault };
  const fault = findOther(spec, siteSelection);
  return fault === undefined ? undefined : { code: 'MUT_BAD_REQUEST', fault };
}

/** What else says where the tasks of a job run. */
function findOther({ scheduler, verification, reservation }: JobSpec, siteSelection: string): Fault | undefined {
  if (scheduler === 'plan') return { code: 'site-selection-with-plan', siteSelection };
  if (reservation !== undefined) return { code: 'site-selection-with-reservation', siteSelection };
  const votes = verification?.kind === 'vote' || verification?.kind === 'credibility';
  return votes ? { code: 'site-selection-with-votes', siteSelection, verification: verification.kind } : undefined;
}
