import { TaskFile, type GetTaskOutputResponse } from '@mutirao/api/broker';
import { badRequest } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { pageBytesMax } from '@mutirao/api/paged-answers';
import type { ReplicaId } from '@mutirao/core/shared';
import { countOfPage } from '@mutirao/runtime/rpc';

/** All that a task wrote. */
export type Written = Pick<GetTaskOutputResponse, 'standardOutput' | 'standardError' | 'files'>;

/**
 * What of an output a page holds: its place counts the bytes of the streams, and then the files. @throws {MutiraoError}
 * MUT_BAD_REQUEST; MUT_PAGE_STALE where the task has run again since the first page.
 */
export function cutOutput(
  { standardOutput, standardError, files }: Written,
  replicaId: ReplicaId,
  token: string | undefined,
): Written & Pick<GetTaskOutputResponse, 'nextPageToken'> {
  const begin = token === undefined ? 0 : placeIn(token, replicaId);
  const streamBytes = standardOutput.length + standardError.length;
  const end = Math.min(streamBytes, begin + pageBytesMax);
  const part = (stream: Buffer, at: number): Buffer => stream.subarray(Math.max(0, begin - at), Math.max(0, end - at));
  const left = files.slice(Math.max(0, begin - streamBytes));
  const count = countOfPage(left, (file) => TaskFile.encode(file).finish().length, Math.max(0, end - begin));
  const next = Math.max(begin, end) + count;
  return {
    standardOutput: part(standardOutput, 0),
    standardError: part(standardError, standardOutput.length),
    files: left.slice(0, count),
    nextPageToken: next < streamBytes + files.length ? `${replicaId}/${next}` : undefined,
  };
}

function placeIn(token: string, replicaId: ReplicaId): number {
  const [, ofReplica, place] = /^(\d{1,15})\/(\d{1,15})$/.exec(token) ?? [];
  if (place === undefined)
    throw badRequest(
      `page_token is ${JSON.stringify(token.slice(0, 100))}; expected the next_page_token of the answer before`,
    );
  if (Number(ofReplica) !== replicaId)
    throw new MutiraoError(
      'MUT_PAGE_STALE',
      `the task ran again while its output was read: the first page is of replica ${ofReplica}, and the output is of ` +
        `replica ${replicaId} now`,
    );
  return Number(place);
}
