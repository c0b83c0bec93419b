import type {
  ClientDuplexStream,
  ClientWritableStream,
  ServerDuplexStream,
  ServerWritableStream,
  ServiceError,
} from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import { RepeatedLines, type Logger } from '../log/index.ts';
import { CallWriter, type CallEnding } from './call-writer.ts';
import { Malformed } from './malformed.ts';
import { fromStatus, toMutiraoError, toStatus } from './status.ts';
import type { MessageStream, StreamListener } from './streams.ts';

type DuplexCall<In, Out> = ClientDuplexStream<Out, In> | ServerDuplexStream<In, Out>;

/** Where a stream reports what went wrong on it. */
export interface StreamLog {
  readonly log: Logger;
  /** For what the other side causes. */
  readonly refusals: RepeatedLines;
}

/** A stream both ways, on a server or a client. */
export class CallStream<In, Out> extends CallWriter<Out> implements MessageStream<In, Out> {
  readonly #call: DuplexCall<In, Out>;
  readonly #log: StreamLog;
  #listener: StreamListener<In> | undefined;

  constructor(call: DuplexCall<In, Out>, ending: CallEnding, log: StreamLog) {
    super(call, ending);
    this.#call = call;
    this.#log = log;
  }

  listen(listener: StreamListener<In>): void {
    if (this.isClosed) {
      listener.onClosed(this.error);
      return;
    }
    this.#listener = listener;
    // A broken connection also ends the stream, a moment before the error arrives. Only a stream that is still open
    // then was ended on purpose.
    this.#call.on('end', () => {
      setImmediate(() => {
        if (!this.isClosed) listener.onEnd?.();
      });
    });
    this.#call.on('data', this.#receive);
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    if (!this.isClosed) this.#call.resume();
  }

  override finish(error: MutiraoError | undefined): void {
    if (this.isClosed) return;
    super.finish(error);
    // What still comes is read and dropped, so that it does not hold up the connection, which other streams share.
    this.#call.off('data', this.#receive);
    this.#call.resume();
    this.#listener?.onClosed(error);
  }

  readonly #receive = (message: In | Malformed): void => {
    try {
      if (message instanceof Malformed) throw message.error;
      this.#listener?.onMessage(message);
    } catch (error) {
      const refusal = toMutiraoError(error);
      if (refusal.code === 'MUT_INTERNAL')
        this.#log.log.error({ err: error }, 'cannot handle a message; closing its stream');
      else
        this.#log.refusals.warn(
          refusal.code,
          { code: refusal.code, reason: refusal.message },
          'a stream is closed for what came in on it',
        );
      this.close(refusal);
    }
  };
}

/** The stream of a call both ways, on its server. */
export function serverStream<In, Out>(call: ServerDuplexStream<In, Out>, log: StreamLog): CallStream<In, Out> {
  const stream = new CallStream<In, Out>(call, serverEnding(call), log);
  call.on('cancelled', () => {
    stream.finish(left());
  });
  return stream;
}

/** The sending side of a call that answers with a stream, on its server. */
export function serverWriter<Out>(call: ServerWritableStream<unknown, Out>): CallWriter<Out> {
  const writer = new CallWriter<Out>(call, serverEnding(call));
  call.on('cancelled', () => {
    writer.finish(left());
  });
  return writer;
}

/** The stream of a call both ways, on its client. */
export function clientStream<In, Out>(call: ClientDuplexStream<Out, In>, log: Logger): CallStream<In, Out> {
  const stream = new CallStream<In, Out>(call, clientEnding(call), { log, refusals: new RepeatedLines(log) });
  call.on('error', (error: ServiceError) => {
    stream.finish(fromStatus(error, call));
  });
  call.on('status', (ended: { readonly code: number }) => {
    if (ended.code === 0) stream.finish(undefined);
  });
  return stream;
}

/**
 * The sending side of a call with a stream of requests, on its client. Its owner calls `finish` when the response is
 * there.
 */
export function clientWriter<Out>(call: ClientWritableStream<Out>): CallWriter<Out> {
  return new CallWriter<Out>(call, clientEnding(call));
}

function serverEnding(call: { emit(event: 'error', error: Error): unknown }): CallEnding {
  return {
    abort: (error) => {
      call.emit('error', toStatus(error) as unknown as Error);
    },
    closesAtEnd: true,
  };
}

/** A client that has sent everything still receives the server's messages, until the server ends the call. */
function clientEnding(call: { cancel(): void }): CallEnding {
  return {
    abort: () => {
      call.cancel();
    },
    closesAtEnd: false,
  };
}

function left(): MutiraoError {
  return new MutiraoError('MUT_CANCELLED', 'the other side left');
}
