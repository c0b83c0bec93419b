import type { Journal } from './journal.ts';

/** More numbers than can have been given since a back-up was made. */
const skippedCount = 1_000_000;

/** The numbers that a journal's owner gives. */
export interface NumberSeries {
  /** Under which the journal keeps where they go on. */
  readonly name: string;
  /** The next one by what is in the journal. */
  readonly next: number;
}

/**
 * The next number to give, none of which was given before: where the journal was put back from a back-up, those that
 * may have been given since are passed over, for good.
 *
 * A crash of the host passes over none, so the change that gives a number must be durable. To be called before
 * `keepHost`.
 */
export function findFreshNumber(
  journal: Pick<Journal<unknown>, 'findNumber' | 'keepNumber' | 'isHostNew' | 'isFileNew'>,
  { name, next }: NumberSeries,
): number {
  const known = Math.max(next, journal.findNumber(name) ?? 0);
  // A journal without any change has given nothing, and counts as no new host.
  if (!journal.isHostNew || !journal.isFileNew) return known;
  const fresh = known + skippedCount;
  journal.keepNumber(name, fresh);
  return fresh;
}
