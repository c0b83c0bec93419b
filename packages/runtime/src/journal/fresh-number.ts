import type { Journal } from './journal.ts';

/** More numbers than can have been given since a back-up was made, or since the last changes were synced. */
const skippedCount = 1_000_000;

/** The numbers that a journal's owner gives. */
export interface NumberSeries {
  /** Under which the journal keeps where they go on. */
  readonly name: string;
  /** The next one by what is in the journal. */
  readonly next: number;
  /** Whether numbers may be lost with a fall of the host; otherwise each is on the disk before it is told to anybody. */
  readonly isLostWithHost: boolean;
}

/**
 * The next number to give, none of which was given before: where the journal was put back from a back-up, or may have lost its last changes, those that may have been given are passed
 * over, for good. To be called before `keepHost`.
 */
export function findFreshNumber(journal: Pick<Journal<unknown>, 'findNumber' | 'keepNumber' | 'isHostNew' | 'isFileNew'>, { name, next, isLostWithHost }: NumberSeries): number {
  const known = Math.max(next, journal.findNumber(name) ?? 0);
  // A journal without any change has given nothing, and counts as no new host.
  if (!journal.isHostNew || !(journal.isFileNew || isLostWithHost)) return known;
  const fresh = known + skippedCount;
  journal.keepNumber(name, fresh);
  return fresh;
}
