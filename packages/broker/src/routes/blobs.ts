import type {
  DownloadBlobRequest,
  DownloadBlobResponse,
  UploadBlobRequest,
  UploadBlobResponse,
} from '@mutirao/api/broker';
import { decodeSha256, encodeContent } from '@mutirao/api/codecs';
import type { ClientStreamHandler, ServerStreamHandler } from '@mutirao/runtime/rpc';

import type { BrokerParts } from './broker-parts.ts';

/** Keeps the bytes that a user sends, and says which content they are. */
export function uploadBlobRoute({
  blobs,
}: Pick<BrokerParts, 'blobs'>): ClientStreamHandler<UploadBlobRequest, UploadBlobResponse> {
  return async (messages, { userId }) => ({ content: encodeContent(await blobs.keep(userId, listData(messages))) });
}

/** Sends the bytes of a content of the user's, as fast as they are taken. */
export function downloadBlobRoute({
  blobs,
}: Pick<BrokerParts, 'blobs'>): ServerStreamHandler<DownloadBlobRequest, DownloadBlobResponse> {
  return async ({ sha256 }, writer, { signal, userId }) => {
    for await (const data of blobs.read(userId, decodeSha256(sha256))) {
      if (signal.aborted) return;
      if (!writer.write({ data })) await writer.drained();
    }
  };
}

async function* listData(messages: AsyncIterable<UploadBlobRequest>): AsyncGenerator<Buffer> {
  for await (const { data } of messages) yield data;
}
