import { badRequest } from '@mutirao/api/codecs';
import { pageBytesMax, pagedAnswers, type PagedAnswer } from '@mutirao/api/paged-answers';
import type { Bytes } from '@mutirao/core/shared';
import type { AnyHandler } from './handlers.ts';

/**
 * How many of the first items fit into a page: at least one, where there is any and nothing else. @param taken what the
 * page holds besides.
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
  const { field } = paged;
  const items = response[field] as readonly never[];
  const begin = pageToken === undefined ? 0 : placeOf(pageToken, items, paged);
  const left = items.slice(begin);
  const count = countOfPage(left, (item) => serialize({ ...response, [field]: [item] } as never).length);
  const next = left[count];
  return {
    ...response,
    [field]: left.slice(0, count),
    ...(next === undefined ? {} : { nextPageToken: `${begin + count}/${paged.getKey(next)}` }),
  };
}

/** Where the item is that a token names or, if it is gone, where it was. @throws {MutiraoError} MUT_BAD_REQUEST */
function placeOf(token: string, items: readonly never[], { getKey }: PagedAnswer): number {
  const [, index, key] = /^(\d{1,9})\/(.*)$/s.exec(token) ?? [];
  if (index === undefined || key === undefined)
    throw badRequest(
      `page_token is ${JSON.stringify(token.slice(0, 100))}; expected the next_page_token of the answer before`,
    );
  const guess = Number(index);
  if (items[guess] !== undefined && getKey(items[guess]) === key) return guess;
  const found = items.findIndex((item) => getKey(item) === key);
  return found === -1 ? Math.min(guess, items.length) : found;
}
