import { badRequest } from '@mutirao/api/codecs';
import { pageBytesMax, pagedAnswers, type PagedAnswer } from '@mutirao/api/paged-answers';
import type { Bytes } from '@mutirao/core/shared';
import type { AnyHandler } from './handlers.ts';

/**
 * How many of the first items fit into a page; at least one of a page that holds nothing else.
 *
 * @param taken bytes that the page already holds.
 */
export function countOfPage<T>(items: readonly T[], getBytes: (item: T) => Bytes, taken: Bytes = 0): number {
  let bytes = taken;
  let count = 0;
  for (const item of items) {
    bytes += getBytes(item);
    if (bytes > pageBytesMax && (count > 0 || taken > 0)) break;
    count += 1;
  }
  return count;
}

interface PagedRequest {
  readonly pageToken?: string | undefined;
}
type PagedResponse = Readonly<Record<string, unknown>>;
type Serialize = (response: never) => Uint8Array;

/** A handler that answers a whole list, as the server answers it: a page at a time where the table of pages says so. */
export function inPages(path: string, handler: AnyHandler, serialize: Serialize): AnyHandler {
  const paged = pagedAnswers[path];
  if (paged === undefined) return handler;
  return async (...parameters: unknown[]) =>
    cut(
      (await (handler as (...all: unknown[]) => unknown)(...parameters)) as PagedResponse,
      parameters[0] as PagedRequest,
      { paged, serialize },
    );
}

function cut(
  response: PagedResponse,
  { pageToken }: PagedRequest,
  { paged, serialize }: { readonly paged: PagedAnswer; readonly serialize: Serialize },
): PagedResponse {
  const { field, getKey } = paged;
  const listed = response[field] as readonly never[];
  const getBytes = (item: never): Bytes => serialize({ ...response, [field]: [item] } as never).length;
  // A list of one page keeps its order.
  if (pageToken === undefined && countOfPage(listed, getBytes) === listed.length) return response;
  const items = inOrderOfKeys(listed, getKey);
  const firstKey = pageToken === undefined ? undefined : keyIn(pageToken);
  const begin = firstKey === undefined ? 0 : items.findIndex(({ key }) => compareKeys(key, firstKey) >= 0);
  const left = begin === -1 ? [] : items.slice(begin);
  const count = countOfPage(left, ({ item }) => getBytes(item));
  const next = left[count];
  return {
    ...response,
    [field]: left.slice(0, count).map(({ item }) => item),
    ...(next === undefined ? {} : { nextPageToken: `${tokenPrefix}${next.key}` }),
  };
}

const tokenPrefix = 'from/';

/**
 * Items in an order that nothing changes, so that pages that are read one after another have each item once, whatever
 * joins, leaves or moves in the list meanwhile.
 */
function inOrderOfKeys(
  items: readonly never[],
  getKey: PagedAnswer['getKey'],
): { readonly key: string; readonly item: never }[] {
  return items.map((item) => ({ key: getKey(item), item })).sort((one, other) => compareKeys(one.key, other.key));
}

const { compare: compareNaturally } = new Intl.Collator('en', { numeric: true });

/** q9 before q10; keys that are alike to people are not the same. */
function compareKeys(one: string, other: string): number {
  if (one === other) return 0;
  return compareNaturally(one, other) || (one < other ? -1 : 1);
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function keyIn(token: string): string {
  if (token.startsWith(tokenPrefix)) return token.slice(tokenPrefix.length);
  throw badRequest(
    `page_token is ${JSON.stringify(token.slice(0, 100))}; expected the next_page_token of the answer before`,
  );
}

/** An event of a change of the journal, as a watcher gets it. */
export interface WatchedEvent<Event> {
  readonly event: Event;
  readonly sequence: number;
  /** Which one of its change it is, from 1 on; those that the watcher may not see are counted too. */
  readonly number: number;
}

/** Events for one message, and where it ends. */
export interface WatchedPart<Event> {
  readonly events: Event[];
  /** The last change of which all has been sent. */
  readonly lastSequence: number;
  /** Events of the change after that which have been sent; absent where the message ends with its change. */
  readonly lastEventCount?: number;
}

/** Splits events, which are in order, into messages that any client takes: also the events of one change. */
export function* partsOfEvents<Event>(
  watched: readonly WatchedEvent<Event>[],
  getBytes: (event: Event) => Bytes,
): Generator<WatchedPart<Event>> {
  for (let left = watched; left.length > 0; ) {
    const count = countOfPage(left, ({ event }) => getBytes(event));
    const events = left.slice(0, count);
    left = left.slice(count);
    const { sequence, number } = events.at(-1) ?? { sequence: 0, number: 0 };
    const isCut = left[0]?.sequence === sequence;
    yield {
      events: events.map(({ event }) => event),
      ...(isCut ? { lastSequence: sequence - 1, lastEventCount: number } : { lastSequence: sequence }),
    };
  }
}

/** Where a watcher goes on. */
export interface WatchPlace {
  readonly afterSequence: number;
  /** Events of the change after that which it has got already. */
  readonly afterEventCount?: number | undefined;
}

/** Whether a watcher that goes on from a place has not got an event yet. */
export function isBehind(
  { afterSequence, afterEventCount = 0 }: WatchPlace,
  { sequence, number }: Pick<WatchedEvent<unknown>, 'sequence' | 'number'>,
): boolean {
  return sequence > afterSequence + 1 || (sequence === afterSequence + 1 && number > afterEventCount);
}
