import type { DraftedRequest, PendingRequest } from '../../requests/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { ProcessorCount } from '../../shared/index.ts';

/** Limits and requests that the drafts are compared with. */
interface Beside {
  /** Most that one request may have. */
  readonly widthMax: ProcessorCount;
  readonly pending: readonly PendingRequest[];
}

/**
 * Makes the widest draft wide enough for a gang, whose processors must be there at once: requests of a heuristic may be
 * narrow and start one after the other. Drafts that it replaces are left out.
 *
 * Changes nothing if a running or waiting request is as wide, or if no single one may be: then the gang is gathered
 * over several.
 *
 * @param gang processors of the widest gang in demand; 0 if there is none.
 */
export function widenForGang(
  drafts: readonly DraftedRequest[],
  gang: ProcessorCount,
  { widthMax, pending }: Beside,
): readonly DraftedRequest[] {
  const [first] = drafts.toSorted((one, other) => other.width - one.width);
  if (first === undefined || first.width >= gang || gang > widthMax || pending.some(({ width }) => width >= gang))
    return drafts;
  const why: Reason = { code: 'widened-for-gang', processorsBefore: first.width, processors: gang };
  const widened = { ...first, width: gang, reasons: [why, ...first.reasons] };
  let spare = gang - first.width;
  const others = drafts.filter((draft) => {
    if (draft === first) return false;
    const isNeeded = draft.width > spare;
    if (!isNeeded) spare -= draft.width;
    return isNeeded;
  });
  return [widened, ...others];
}
