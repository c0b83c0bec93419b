import {
  credentials,
  InterceptingCall,
  Metadata,
  type CallOptions,
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  type ClientOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  type Interceptor,
  type ServiceError,
} from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import { quietLogger, type Logger } from '../log/index.ts';
import type { TrustSource } from '../identity/index.ts';
import { isSocket, joinAddress, parseAddress, socketAddress } from './address.ts';
import { clientStream, clientWriter } from './call-stream.ts';
import { clientOptions, messageBytesMax, getWithMessages } from './channel.ts';
import { secureChannel } from './client-security.ts';
import { findForeign } from './socket-folder.ts';
import { fromStatus, toStatus } from './status.ts';
import type { MessageStream, StreamWriter } from './streams.ts';

/** A generated client class. */
export type ClientConstructor<C> = new (
  address: string,
  channelCredentials: ChannelCredentials,
  options?: Partial<ClientOptions>,
) => C;

/** The credentials that a client shows, and the authorities that it trusts. */
export interface DialOptions {
  /** Shown at sockets, and over TLS by clients that have no certificate. A function is called when a client is made. */
  readonly token: string | (() => string);
  /** Called for addresses with a host, which all speak TLS. Left out by clients of sockets alone. */
  readonly trust?: TrustSource | undefined;
  /** The largest message either way; 16 MiB when left out. */
  readonly messageBytesMax?: number;
}

/**
 * A client of a server; it connects at the first call and again whenever it has to. Close it with `close()`.
 *
 * Over TLS a client with a certificate keeps its token to itself. @throws {MutiraoError} MUT_BAD_CONFIG for the address
 * or the identity; MUT_TOKEN_UNSAFE for a key that others may read.
 */
export function dial<C extends Client>(ClientClass: ClientConstructor<C>, address: string, options: DialOptions): C {
  const where = parseAddress(address);
  const { isTls } = where;
  const [target, host] = isSocket(where)
    ? [socketAddress(where.path), 'localhost']
    : [joinAddress(where.host, where.port), where.host];
  const sizes = getWithMessages(options.messageBytesMax ?? messageBytesMax);
  const shown = (): ReturnType<typeof showing> =>
    showing(options.token, isSocket(where) ? () => findForeign(where.path) : undefined);
  if (!isTls) return new ClientClass(target, credentials.createInsecure(), { ...clientOptions, ...sizes, ...shown() });
  const { channelCredentials, channelOptions, showsCertificate } = secureChannel(host, options.trust);
  return new ClientClass(target, channelCredentials, {
    ...clientOptions,
    ...sizes,
    ...channelOptions,
    ...(showsCertificate ? {} : shown()),
  });
}

/** @param findFault what speaks against showing it now, if anything does. */
function showing(
  given: string | (() => string),
  findFault?: () => string | undefined,
): Pick<ClientOptions, 'callInvocationTransformer'> {
  const token = typeof given === 'string' ? given : given();
  return {
    callInvocationTransformer: (call) => {
      const fault = findFault?.();
      if (fault !== undefined)
        return { ...call, callOptions: { ...call.callOptions, interceptors: [refusing(fault)] } };
      call.metadata.set('authorization', `Bearer ${token}`);
      return call;
    },
  };
}

/** Ends a call before anything of it has left. */
function refusing(fault: string): Interceptor {
  const nothing = (): void => undefined;
  const call: ConstructorParameters<typeof InterceptingCall>[0] = {
    // The caller does not expect its end before the call is made.
    start: (_metadata, listener) => {
      queueMicrotask(() => {
        listener?.onReceiveStatus?.(toStatus(new MutiraoError('MUT_TOKEN_UNSAFE', fault)));
      });
    },
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    cancelWithStatus: nothing,
    getPeer: () => '',
    getAuthContext: () => null,
  };
  return () => new InterceptingCall(call);
}

/** How long to wait for an answer. */
export interface CallLimits {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

type UnaryMethod<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => ClientUnaryCall;
type FindRequest<M> = M extends UnaryMethod<infer Request, infer _Response> ? Request : never;
type ResponseOf<M> = M extends UnaryMethod<infer _Request, infer Response> ? Response : never;

/**
 * Calls a method with one answer. @throws {MutiraoError} what the server said, or MUT_UNREACHABLE,
 * MUT_DEADLINE_EXCEEDED, MUT_CANCELLED.
 */
export function callUnary<C extends Client, K extends keyof C>(
  client: C,
  method: K,
  request: FindRequest<C[K]>,
  { deadlineMs, signal }: CallLimits,
): Promise<ResponseOf<C[K]>> {
  return new Promise((resolve, reject) => {
    const call = (client[method] as UnaryMethod<FindRequest<C[K]>, ResponseOf<C[K]>>).call(
      client,
      request,
      new Metadata(),
      { deadline: Date.now() + deadlineMs },
      (error, response) => {
        signal?.removeEventListener('abort', cancel);
        if (error === null) resolve(response);
        else reject(fromStatus(error, call));
      },
    );
    const cancel = (): void => {
      call.cancel();
    };
    if (signal?.aborted === true) cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** The stream of a call both ways that a generated client has just begun: `openStream(client.attach(), log)`. */
export function openStream<In, Out>(
  call: ClientDuplexStream<Out, In>,
  log: Logger = quietLogger,
): MessageStream<In, Out> {
  return clientStream(call, log);
}

/**
 * The messages of a call that answers with a stream. Leaving the loop early cancels the call. @throws {MutiraoError}
 * from the loop.
 */
export async function* listMessages<In>(call: ClientReadableStream<In>): AsyncGenerator<In> {
  let isOver = false;
  try {
    for await (const message of call) yield message as In;
    isOver = true;
  } catch (error) {
    isOver = true;
    throw fromStatus(error as ServiceError, call);
  } finally {
    if (!isOver) call.cancel();
  }
}

/** A call that sends a stream and gets one answer. */
export interface Sending<Out, Response> {
  readonly writer: StreamWriter<Out>;
  /** What the server sends ahead of its answer, by name. @throws {MutiraoError} */
  readonly beginning: Promise<ReadonlyMap<string, string>>;
  /** @throws {MutiraoError} */
  readonly response: Promise<Response>;
  /** Gives the call up. */
  cancel(): void;
}

/** Begins a call that sends a stream: `openSending((done) => client.sendContent(done))`. */
export function openSending<Out, Response>(
  begin: (done: (error: ServiceError | null, response: Response) => void) => ClientWritableStream<Out>,
): Sending<Out, Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const beginning = Promise.withResolvers<ReadonlyMap<string, string>>();
  const call = begin((error, response) => {
    if (error === null) {
      writer.finish(undefined);
      resolve(response);
    } else {
      const failure = fromStatus(error, call);
      writer.finish(failure);
      beginning.reject(failure);
      reject(failure);
    }
  });
  call.on('metadata', (metadata: Metadata) => {
    beginning.resolve(new Map(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)])));
  });
  const writer = clientWriter(call);
  // The writer also reports a failure, and the promise may be awaited only after it is rejected.
  promise.catch(() => undefined);
  beginning.promise.catch(() => undefined);
  return {
    writer,
    beginning: beginning.promise,
    response: promise,
    cancel: () => {
      call.cancel();
    },
  };
}
