import type { EventMessage } from '@mutirao/api/events';

/**
 * What became of a message: kept (now or before), or refused because the one before it is not the last that the stream
 * holds.
 */
export type Publication = 'kept' | 'out of order';

/** A connection to a server that keeps events. It never mends itself: once closed, its owner makes another. */
export interface EventConnection {
  /**
   * Sends a message at once and resolves when the server has said what became of it. A message that the server holds
   * already is kept, once.
   *
   * @param previousId the `messageId` that has to be the last in the stream; left out, none is demanded.
   * @throws Error when the server refuses it or says nothing; then it is not known whether it is kept.
   */
  publish(message: EventMessage, previousId?: string): Promise<Publication>;
  /** Resolves when the connection is gone, with the reason if it was not our will. */
  readonly closed: Promise<Error | undefined>;
  close(): Promise<void>;
}

/** Makes a connection, and sees to it that the stream is there. @throws Error saying why not. */
export type ConnectEvents = () => Promise<EventConnection>;
