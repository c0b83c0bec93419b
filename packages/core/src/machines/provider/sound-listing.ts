import type { QueuedRequest, QueueListing } from '../../messages/index.ts';

/**
 * A listing without impossible values: requests without processors are left out, and times below 0, or that are not
 * numbers, count as unknown. The same object if all is possible. Cost: O(listed).
 */
export function soundListing(listing: QueueListing): QueueListing {
  const { processorsFree, requests } = listing;
  if (isSoundCount(processorsFree) && requests.every(isSound)) return listing;
  return {
    ...listing,
    processorsFree: isSoundCount(processorsFree) ? processorsFree : 0,
    requests: requests.filter(({ width }) => width >= 1 && isSoundCount(width)).map(makeSound),
  };
}

function isSoundCount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function isSound({ width, walltime, submittedAt, startsAt, endedAt }: QueuedRequest): boolean {
  return width >= 1 && [width, walltime, submittedAt, startsAt, endedAt].every(isSoundCount);
}

function makeSound(entry: QueuedRequest): QueuedRequest {
  const known = (value: number): number => (isSoundCount(value) ? value : 0);
  return {
    ...entry,
    walltime: known(entry.walltime),
    submittedAt: known(entry.submittedAt),
    startsAt: known(entry.startsAt),
    endedAt: known(entry.endedAt),
  };
}
