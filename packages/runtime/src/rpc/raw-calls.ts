import type { Client } from '@grpc/grpc-js';
import { listMessages, openSending, type Sending } from './dial.ts';

/** What a call with a stream of requests needs of its generated definition. */
export interface SendingMethod<Response> {
  readonly path: string;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** What a call that answers with a stream needs of its generated definition. */
export interface ReceivingMethod<Request> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
}

const keepBytes = (bytes: Buffer): Buffer => bytes;

/**
 * As `openSending`, but messages are given as the bytes that travel. A message may be used again once the writer has
 * drained.
 */
export function openRawSending<Response>(client: Client, method: SendingMethod<Response>): Sending<Buffer, Response> {
  return openSending<Buffer, Response>((done) =>
    client.makeClientStreamRequest(method.path, keepBytes, method.responseDeserialize, (error, response) => {
      // Without an error there is a response.
      done(error, response as Response);
    }),
  );
}

/**
 * As `listMessages`, but messages come as the bytes that travel. The call is made when the first is asked for: one that
 * nobody reads
 * would bring down the process when it breaks.
 *
 * @param signal ends the call. @throws {MutiraoError} from the loop.
 */
export async function* listRawMessages<Request>(
  client: Client,
  method: ReceivingMethod<Request>,
  request: Request,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const call = client.makeServerStreamRequest(method.path, method.requestSerialize, keepBytes, request);
  const cancel = (): void => {
    call.cancel();
  };
  if (signal?.aborted === true) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    yield* listMessages(call);
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
