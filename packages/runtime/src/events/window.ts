import type { Publication } from './connection.ts';

/** Most messages that are under way at a time. */
export const windowMax = 128;

/**
 * How many of a row of messages are kept without one missing before them. A message whose disposition is unknown counts as not
 * kept.
 */
export function countKept(dispositions: readonly PromiseSettledResult<Publication>[]): number {
  const missing = dispositions.findIndex(
    (disposition) => disposition.status === 'rejected' || disposition.value !== 'kept',
  );
  return missing === -1 ? dispositions.length : missing;
}

/**
 * How many messages may be under way next: twice as many after a row that was kept, one after a row that broke.
 *
 * A row breaks where another publisher's message came between two of this publisher's in the stream; one message alone
 * cannot be broken into.
 */
export function nextWindow(window: number, row: { readonly sent: number; readonly kept: number }): number {
  return row.kept < row.sent ? 1 : Math.min(windowMax, window * 2);
}
