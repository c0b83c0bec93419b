import { type Metadata, type ServerDuplexStream, type ServerReadableStream, type ServerUnaryCall, type ServerWritableStream, type ServiceDefinition, type UntypedHandleCall, type sendUnaryData } from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import type { Logger } from '../log/index.ts';
import type { CallContext } from './context.ts';
import { serverStream, serverWriter } from './call-stream.ts';
import type { AnyHandler, BidiHandler, ClientStreamHandler, ServerStreamHandler, UnaryHandler } from './handlers.ts';
import { Malformed } from './malformed.ts';
import { toMutiraoError, toStatus } from './status.ts';
import type { TokenCheck } from './tokens.ts';

/** What the handlers of a server share. */
export interface RpcHost {
  readonly tokens: TokenCheck;
  readonly log: Logger;
  /** Aborted when the server begins to drain. */
  readonly stopping: AbortSignal;
  /** Streams both ways that are open now; drain closes them. */
  readonly streams: Set<{ close(error?: MutiraoError): void }>;
  /** Counts an ended call; code is empty for success. */
  count(path: string, code: string): void;
}

interface SurfaceCall {
  readonly metadata: Metadata;
  getDeadline(): Date | number;
  on(event: 'cancelled', listener: () => void): unknown;
}

type Method = ServiceDefinition[string];

/** A handler as grpc-js calls it: with the credential checked, errors told by their code, and each call counted. */
export function adapt(method: Method, handler: AnyHandler, host: RpcHost): UntypedHandleCall {
  if (method.requestStream && method.responseStream) return adaptBidi(method, handler as BidiHandler<unknown, unknown>, host);
  if (method.requestStream) return adaptClientStream(method, handler as ClientStreamHandler<unknown, unknown>, host);
  if (method.responseStream) return adaptServerStream(method, handler as ServerStreamHandler<unknown, unknown>, host);
  return adaptUnary(method, handler as UnaryHandler<unknown, unknown>, host);
}

/** @throws {MutiraoError} MUT_UNAUTHENTICATED */
export function admit(call: SurfaceCall, host: RpcHost): CallContext {
  const header = call.metadata.get('authorization')[0];
  const credential = typeof header === 'string' ? /^Bearer (.+)$/i.exec(header)?.[1] : undefined;
  if (credential === undefined) throw new MutiraoError('MUT_UNAUTHENTICATED', 'no credential; want metadata "authorization: Bearer TOKEN"');
  const userId = host.tokens(credential);
  if (userId === undefined) throw new MutiraoError('MUT_UNAUTHENTICATED', 'the credential is not accepted');
  const controller = new AbortController();
  call.on('cancelled', () => { controller.abort(); });
  const deadline = Number(call.getDeadline());
  return { userId, credential, deadline: Number.isFinite(deadline) ? deadline : undefined, signal: controller.signal, stopping: host.stopping };
}

function adaptUnary({ path }: Method, handler: UnaryHandler<unknown, unknown>, host: RpcHost): UntypedHandleCall {
  return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    respond(path, host, async () => handler(requestOf(call.request), admit(call, host)), callback);
  };
}

function adaptClientStream({ path }: Method, handler: ClientStreamHandler<unknown, unknown>, host: RpcHost): UntypedHandleCall {
  return (call: ServerReadableStream<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    respond(path, host, async () => handler(requestsOf(call), admit(call, host)), callback);
  };
}

/** Answers with what `answer` resolves to, or with the status of what it threw. */
function respond(path: string, host: RpcHost, answer: () => Promise<unknown>, callback: sendUnaryData<unknown>): void {
  void answer().then(
    (response) => {
      host.count(path, '');
      callback(null, response);
    },
    (error: unknown) => { callback(toStatus(refusalOf(error, path, host))); },
  );
}

function adaptServerStream({ path }: Method, handler: ServerStreamHandler<unknown, unknown>, host: RpcHost): UntypedHandleCall {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    const writer = serverWriter(call);
    const run = async (): Promise<void> => handler(requestOf(call.request), writer, admit(call, host));
    void run().then(
      () => {
        host.count(path, '');
        writer.end();
      },
      (error: unknown) => { writer.close(refusalOf(error, path, host)); },
    );
  };
}

function adaptBidi({ path }: Method, handler: BidiHandler<unknown, unknown>, host: RpcHost): UntypedHandleCall {
  return (call: ServerDuplexStream<unknown, unknown>): void => {
    const stream = serverStream(call, host.log);
    host.streams.add(stream);
    stream.onOver = (error) => {
      host.streams.delete(stream);
      host.count(path, error?.code ?? '');
    };
    try {
      handler(stream, admit(call, host));
    } catch (error) {
      stream.close(refusalOf(error, path, host, false));
    }
  };
}

function requestOf(request: unknown): unknown {
  if (request instanceof Malformed) throw request.error;
  return request;
}

async function* requestsOf(call: ServerReadableStream<unknown, unknown>): AsyncGenerator {
  for await (const message of call) yield requestOf(message);
  if (call.cancelled) throw new MutiraoError('MUT_CANCELLED', 'the other side left');
}

/** The error to tell, counted, and logged where it is not the caller's affair alone. */
function refusalOf(error: unknown, path: string, host: RpcHost, isCounted = true): MutiraoError {
  const refusal = toMutiraoError(error);
  if (isCounted) host.count(path, refusal.code);
  if (refusal.code === 'MUT_INTERNAL') host.log.error({ err: error, path }, 'a call failed');
  else if (refusal.code === 'MUT_PROTOCOL' || refusal.code === 'MUT_UNAUTHENTICATED') host.log.warn({ path, reason: refusal.message }, 'a call is refused');
  return refusal;
}
