import type { MutiraoError } from '@mutirao/api/errors';

/** The sending side of a stream. */
export interface StreamWriter<T> {
  /**
   * Sends a message; it is taken in any case. False means that the other side is behind: stop until `onDrain`.
   *
   * After the end of the stream it does nothing. A stream on which too many messages wait is closed with
   * MUT_PEER_TOO_SLOW.
   */
  write(message: T): boolean;
  /** Nothing more will be sent; what was written still goes out. */
  end(): void;
  /** Called when all that waited has gone out, after `write` returned false. */
  onDrain: (() => void) | undefined;
  /** Resolves at once, or when what waits has gone out. @throws {MutiraoError} when the stream closed. */
  drained(): Promise<void>;
}

/** Receives the messages of a stream. */
export interface StreamListener<In> {
  /** A thrown MutiraoError closes the stream with it. */
  onMessage(message: In): void;
  /**
   * The other side will send nothing further. On a server the stream stays open for answers until `end` or `close`.
   *
   * A client that leaves also ends its side first; the messages themselves must show that they are complete.
   */
  onEnd?(): void;
  /** The stream is over, once, whoever ended it. Undefined when both sides ended it in peace. */
  onClosed(error: MutiraoError | undefined): void;
}

/** A stream of messages both ways, the same on the side that dialled and on the one that was dialled. */
export interface MessageStream<In, Out> extends StreamWriter<Out> {
  /** Lets messages flow to `listener`, from the first on. Called once. */
  listen(listener: StreamListener<In>): void;
  /** Holds further messages back, and with them the other side. A few may still come. */
  pause(): void;
  resume(): void;
  /** Ends the stream at once; the other side receives the code of an error if it listens. */
  close(error?: MutiraoError): void;
  readonly isClosed: boolean;
}
