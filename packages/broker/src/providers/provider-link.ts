import { decodeHello, protocolVersion } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { ConnectRequest, ConnectResponse, ToMachine } from '@mutirao/api/provider';
import type { Instant } from '@mutirao/core/shared';
import type { Backoff, Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import type { MessageStream } from '@mutirao/runtime/rpc';

/** Milliseconds that a provider may take to say hello. */
const helloWaitMax = 10_000;

/** The stream that joins a broker and a provider. */
export type ProviderStream = MessageStream<ConnectResponse, ConnectRequest>;

/** What a link needs. */
export interface ProviderLinkOptions {
  /** Names this broker to the provider. */
  readonly brokerId: string;
  /** Names the journal that it speaks for. */
  readonly instance: string;
  readonly programVersion: string;
  /** Begins a new stream. */
  connect(): ProviderStream;
  readonly backoff: Backoff;
  readonly timers: Timers;
  readonly log: Logger;
  readonly listener: ProviderLinkListener;
}

/** What a provider says of itself when it greets. */
export interface ProviderGreeting {
  /** What its clock showed; undefined where it did not say. */
  readonly clock: Instant | undefined;
  /** What it can do beyond what all can. */
  readonly capabilities: readonly string[];
  /** What its resource is called at its reservation manager; undefined where it honours no reservations. */
  readonly resourceId: string | undefined;
}

/** Receives the events of a link. */
export interface ProviderLinkListener {
  onConnected(greeting: ProviderGreeting): void;
  /** Everything but the hello. A thrown MutiraoError closes the stream. */
  onMessage(message: NonNullable<ConnectResponse['message']>): void;
  /** Once for each `onConnected`. */
  onDisconnected(reason: string): void;
  /** A try that came to nothing. */
  onUnreachable(reason: string): void;
}

/** Keeps one stream to a provider: says hello first, and when the stream is lost opens another one, for ever. */
export class ProviderLink {
  readonly #options: ProviderLinkOptions;
  #stream: ProviderStream | undefined;
  #retryTimer: unknown;
  #helloTimer: unknown;
  #isConnected = false;
  #capabilities: readonly string[] = [];
  #isStopped = false;
  #epoch = 0;
  #lastTrouble = '';

  constructor(options: ProviderLinkOptions) {
    this.#options = options;
  }

  /** Whether both sides have said hello. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Counts the connections; what was begun on an earlier one means nothing to the provider now. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether the provider said that it can do something that not every release can. */
  can(capability: string): boolean {
    return this.#capabilities.includes(capability);
  }

  /** Opens the stream, and from then on keeps one open. */
  start(): void {
    if (this.#isStopped || this.#stream !== undefined) return;
    const stream = this.#options.connect();
    this.#stream = stream;
    this.#helloTimer = this.#options.timers.start(helloWaitMax, () => {
      stream.close(new MutiraoError('MUT_UNREACHABLE', `no hello within ${helloWaitMax} ms`));
    });
    stream.listen({
      onMessage: (message) => {
        this.#receive(message);
      },
      onEnd: () => {
        stream.close();
      },
      onClosed: (error) => {
        this.#closed(stream, error);
      },
    });
    const { brokerId, instance, programVersion } = this.#options;
    const hello = {
      protocolVersion,
      programVersion,
      capabilities: ['statuses', 'resource'],
      speakerId: brokerId,
      instance,
    };
    stream.write({ message: { $case: 'hello', value: hello } });
  }

  /** Sends a message; dropped while there is no connection, since the provider asks for nothing that it missed. */
  send(message: NonNullable<ConnectRequest['message']>): void {
    if (this.#isConnected) this.#stream?.write({ message });
  }

  /** Sends a message to a machine. */
  sendToMachine(machineId: string, message: NonNullable<ToMachine['message']>): void {
    this.send({ $case: 'toMachine', value: { machineId, message } });
  }

  /** Holds the provider's messages back. */
  pause(): void {
    this.#stream?.pause();
  }

  /** Lets them come again. */
  resume(): void {
    this.#stream?.resume();
  }

  /** Ends the stream and opens no other. */
  stop(): void {
    this.#isStopped = true;
    this.#options.timers.cancel(this.#retryTimer);
    this.#stream?.close();
  }

  #receive({ message }: ConnectResponse): void {
    if (message === undefined)
      throw new MutiraoError('MUT_PROTOCOL', 'the provider sent a message that this release does not know');
    if (this.#isConnected) {
      if (message.$case === 'hello') throw new MutiraoError('MUT_PROTOCOL', 'the provider said hello twice');
      this.#options.listener.onMessage(message);
      return;
    }
    if (message.$case !== 'hello')
      throw new MutiraoError('MUT_PROTOCOL', `the provider began with ${message.$case}; expected hello`);
    const { programVersion, speakerId, sentAt, capabilities, resourceId } = decodeHello(message.value);
    this.#options.timers.cancel(this.#helloTimer);
    this.#isConnected = true;
    this.#epoch += 1;
    this.#capabilities = capabilities;
    this.#lastTrouble = '';
    this.#options.backoff.reset();
    this.#options.log.info({ speaker: speakerId, release: programVersion }, 'connected to a provider');
    this.#options.listener.onConnected({ clock: sentAt, capabilities, resourceId });
  }

  #closed(stream: ProviderStream, error: MutiraoError | undefined): void {
    if (this.#stream !== stream) return;
    const { timers, listener, log } = this.#options;
    const reason = error === undefined ? 'the provider ended the stream' : error.message;
    const wasConnected = this.#isConnected;
    timers.cancel(this.#helloTimer);
    this.#stream = undefined;
    this.#isConnected = false;
    // A provider that stays away is one line in the log, not one for each try.
    if (reason !== this.#lastTrouble && !this.#isStopped) log.warn({ reason }, 'no connection to a provider; retrying');
    this.#lastTrouble = reason;
    if (wasConnected) listener.onDisconnected(reason);
    else listener.onUnreachable(reason);
    if (!this.#isStopped)
      this.#retryTimer = timers.start(this.#options.backoff.next(), () => {
        this.start();
      });
  }
}
