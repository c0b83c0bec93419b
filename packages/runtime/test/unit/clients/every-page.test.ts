// Clients that read on until they have all of a list.
import test from 'ava';
import type { ListJobsResponse } from '@mutirao/api/broker';
import { jobsAsked, wholeList } from '@mutirao/runtime/clients';

interface Page {
  readonly items: readonly string[];
  readonly total: number;
  readonly nextPageToken?: string;
}

test('a list has all of its pages, in their order, and the other values of the first page', async (t) => {
  const pages: Record<string, Page> = {
    '': { items: ['a', 'b'], total: 3, nextPageToken: '2' },
    2: { items: [], total: 4, nextPageToken: '3' },
    3: { items: ['c'], total: 5 },
  };
  const asked: string[] = [];
  const read = ({ pageToken = '' }: { readonly pageToken?: string }): Promise<Page> => {
    asked.push(pageToken);
    return Promise.resolve(pages[pageToken] ?? { items: [], total: 0 });
  };
  t.deepEqual(await wholeList('items', read), { items: ['a', 'b', 'c'], total: 3, nextPageToken: undefined });
  t.deepEqual(asked, ['', '2', '3']);
});

test('a server whose pages do not end keeps no client reading for ever', async (t) => {
  let asked = 0;
  const turn = (): Promise<Page> => {
    asked += 1;
    return Promise.resolve({ items: [], total: 0, nextPageToken: 'again' });
  };
  await t.throwsAsync(wholeList('items', turn), { code: 'MUT_BAD_REQUEST', message: /more than 10000 pages/ });
  t.is(asked, 10_000);
  let reads = 0;
  const jobs = (): Promise<ListJobsResponse> => {
    reads += 1;
    return Promise.resolve({ jobs: [], nextBeforeJobId: reads > 5 ? undefined : 7 });
  };
  await t.throwsAsync(jobsAsked({ pageSize: 10, beforeJobId: 0 }, jobs), {
    code: 'MUT_BAD_REQUEST',
    message: 'the page before job 7 leads to one before 7; expected a smaller number',
  });
  t.is(reads, 2);
});
