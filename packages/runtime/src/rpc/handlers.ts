import type { CallContext } from './context.ts';
import type { MessageStream, StreamWriter } from './streams.ts';

/** Answers one request. The caller receives the code of a thrown MutiraoError. */
export type UnaryHandler<In, Out> = (request: In, context: CallContext) => Promise<Out> | Out;

/** Answers one request with a stream, which ends when the promise resolves. */
export type ServerStreamHandler<In, Out> = (
  request: In,
  writer: StreamWriter<Out>,
  context: CallContext,
) => Promise<void>;

/**
 * Answers a stream of requests with one response. Messages are read as fast as the loop over them goes.
 *
 * If a client leaves, the loop may end as if all had arrived; the messages themselves must show that they are complete.
 */
export type ClientStreamHandler<In, Out> = (messages: AsyncIterable<In>, context: CallContext) => Promise<Out>;

/** Takes over a stream both ways. */
export type BidiHandler<In, Out> = (stream: MessageStream<In, Out>, context: CallContext) => void;

type InOf<M> = M extends { requestDeserialize: (bytes: Buffer) => infer In } ? In : never;
type OutOf<M> = M extends { responseSerialize: (value: infer Out) => Buffer } ? Out : never;

/** The handler that a method wants. */
export type HandlerOf<M, In, Out> = M extends { requestStream: false; responseStream: false }
  ? UnaryHandler<In, Out>
  : M extends { requestStream: false; responseStream: true }
    ? ServerStreamHandler<In, Out>
    : M extends { requestStream: true; responseStream: false }
      ? ClientStreamHandler<In, Out>
      : BidiHandler<In, Out>;

/** One handler per method of a service. Methods named in `Raw` see messages as the bytes that travel. */
export type Handlers<D, Raw extends keyof D = never> = {
  readonly [K in keyof D]: K extends Raw ? HandlerOf<D[K], Buffer, Buffer> : HandlerOf<D[K], InOf<D[K]>, OutOf<D[K]>>;
};

/** A handler of any kind. */
export type AnyHandler = (...parameters: never[]) => unknown;

/** What a unary call does, in its three parts. */
export interface UnaryRoute<WireIn, In, Out, WireOut> {
  /** @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the value wanted. */
  decode(wire: WireIn): In;
  handle(request: In, context: CallContext): Promise<Out> | Out;
  encode(response: Out): WireOut;
}

/** A handler that decodes, handles and encodes. */
export function unary<WireIn, In, Out, WireOut>(
  route: UnaryRoute<WireIn, In, Out, WireOut>,
): UnaryHandler<WireIn, WireOut> {
  return async (wire, context) => route.encode(await route.handle(route.decode(wire), context));
}
