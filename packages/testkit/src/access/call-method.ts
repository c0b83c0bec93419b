import { Metadata, type Client, type ServiceError } from '@grpc/grpc-js';
import { fromStatus } from '@mutirao/runtime/rpc';

/** A method of a generated service definition, whatever its kind. */
export interface AnyMethod {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (request: never) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
}

/** What came of a call: the code of its error, or `done` with its answers. */
export interface CallOutcome {
  readonly code: string;
  /** Of the error; empty where there is none. */
  readonly message: string;
  readonly responses: readonly unknown[];
}

const deadlineMs = 60_000;

/**
 * Calls a method of any kind with one request. A call that answers with a stream is cancelled after its first response,
 * or after the one that `isLast` says.
 */
export function callMethod(
  client: Client,
  method: AnyMethod,
  request: Buffer,
  isLast: (response: unknown) => boolean = () => true,
): Promise<CallOutcome> {
  const options = { deadline: Date.now() + deadlineMs };
  const { promise, resolve } = Promise.withResolvers<CallOutcome>();
  const responses: unknown[] = [];
  const done = (): void => {
    resolve({ code: 'done', message: '', responses });
  };
  const fail = (error: unknown): void => {
    const { code, message } = fromStatus(error as ServiceError);
    resolve({ code, message, responses });
  };
  if (!method.responseStream) {
    const answered = (error: ServiceError | null, response: unknown): void => {
      responses.push(response);
      if (error === null) done();
      else fail(error);
    };
    if (method.requestStream)
      client
        .makeClientStreamRequest(method.path, keep, method.responseDeserialize, new Metadata(), options, answered)
        .end(request);
    else
      client.makeUnaryRequest(
        method.path,
        keep,
        method.responseDeserialize,
        request,
        new Metadata(),
        options,
        answered,
      );
    return promise;
  }
  const call = method.requestStream
    ? client.makeBidiStreamRequest(method.path, keep, method.responseDeserialize, new Metadata(), options)
    : client.makeServerStreamRequest(method.path, keep, method.responseDeserialize, request, new Metadata(), options);
  call.on('data', (response: unknown) => {
    responses.push(response);
    if (!isLast(response)) return;
    done();
    call.cancel();
  });
  call.on('error', fail);
  // An error comes with the status, after the end of what was sent.
  call.on('status', ({ code }: { readonly code: number }) => {
    if (code === 0) done();
  });
  if (method.requestStream) (call as unknown as { write(bytes: Buffer): boolean }).write(request);
  return promise;
}

function keep(bytes: Buffer): Buffer {
  return bytes;
}
