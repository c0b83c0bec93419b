import type {
  GetTaskOutputRequest,
  GetTaskOutputResponse,
  ListJobsRequest,
  ListJobsResponse,
} from '@mutirao/api/broker';
import { badRequest } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';

interface Paged {
  readonly nextPageToken?: string | undefined;
}
/** Reads a page; the first without a token. */
type ReadPage<Page> = (place: { readonly pageToken?: string }) => Promise<Page>;

/** More than any list has, so that no server keeps a client reading for ever. */
const pagesMax = 10_000;

/** How often an answer that changes while it is read is read from its beginning. */
const readingsMax = 5;

/**
 * All pages of an answer, in their order. @throws {MutiraoError} MUT_BAD_REQUEST for a server whose pages do not end.
 */
export async function everyPage<Page extends Paged>(read: ReadPage<Page>): Promise<[Page, ...Page[]]> {
  const first = await read({});
  const pages: [Page, ...Page[]] = [first];
  for (let { nextPageToken: pageToken } = first; pageToken !== undefined; ) {
    if (pages.length === pagesMax) throw badRequest(`a list has more than ${pagesMax} pages`);
    const page = await read({ pageToken });
    pages.push(page);
    pageToken = page.nextPageToken;
  }
  return pages;
}

/**
 * The whole list that a server answers in pages. @param field of the answer that is the list. @param compare sorts a list
 * of several pages, which come in the order of their keys.
 */
export async function wholeList<
  Field extends string,
  Item,
  Page extends Paged & Readonly<Record<Field, readonly Item[]>>,
>(
  field: Field,
  read: ReadPage<Page>,
  compare: (one: Page[Field][number], other: Page[Field][number]) => number = () => 0,
): Promise<Page> {
  const pages = await everyPage(read);
  const [first] = pages;
  return pages.length === 1
    ? first
    : { ...first, [field]: pages.flatMap((page) => page[field]).sort(compare), nextPageToken: undefined };
}

/**
 * Both streams and all files of a task. Where the task runs again meanwhile, reads its new output from the beginning.
 *
 * @throws {MutiraoError} MUT_PAGE_STALE for a task that runs again and again.
 */
export async function wholeOutput(
  request: GetTaskOutputRequest,
  read: (request: GetTaskOutputRequest) => Promise<GetTaskOutputResponse>,
): Promise<GetTaskOutputResponse> {
  const pages = await readUnchanged(() => everyPage((place) => read({ ...request, ...place })));
  const [first] = pages;
  if (pages.length === 1) return first;
  return {
    ...first,
    nextPageToken: undefined,
    files: pages.flatMap(({ files }) => files),
    standardOutput: Buffer.concat(pages.map(({ standardOutput }) => standardOutput)),
    standardError: Buffer.concat(pages.map(({ standardError }) => standardError)),
  };
}

async function readUnchanged<Pages>(readAll: () => Promise<Pages>): Promise<Pages> {
  for (let readings = 1; ; readings += 1) {
    try {
      return await readAll();
    } catch (error) {
      if (!(error instanceof MutiraoError && error.code === 'MUT_PAGE_STALE') || readings === readingsMax) throw error;
    }
  }
}

/**
 * Reads as many pages as the requested number of jobs takes. Returns fewer jobs only if no further ones exist.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for a server whose pages lead back to each other.
 */
export async function jobsAsked(
  request: ListJobsRequest,
  read: (request: ListJobsRequest) => Promise<ListJobsResponse>,
): Promise<ListJobsResponse> {
  let answer = await read(request);
  while (answer.nextBeforeJobId !== undefined && answer.jobs.length < request.pageSize) {
    const beforeJobId = answer.nextBeforeJobId;
    const next = await read({ pageSize: request.pageSize - answer.jobs.length, beforeJobId });
    if (next.nextBeforeJobId !== undefined && next.nextBeforeJobId >= beforeJobId)
      throw badRequest(
        `the page before job ${beforeJobId} leads to one before ${next.nextBeforeJobId}; expected a smaller number`,
      );
    answer = { ...next, jobs: [...answer.jobs, ...next.jobs] };
  }
  return answer;
}
