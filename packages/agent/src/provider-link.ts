import { MutiraoError } from '@mutirao/api/errors';
import { decodeHello, type Hello } from '@mutirao/api/codecs';
import {
  GridMachineServiceClient,
  type AttachRequest,
  type AttachResponse,
  type MachineHello,
} from '@mutirao/api/machine';
import type { Duration } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import type { TrustSource } from '@mutirao/runtime/identity';
import { dial, openStream, type MessageStream } from '@mutirao/runtime/rpc';

/** What the link to a provider needs. */
export interface ProviderLinkOptions {
  readonly address: string;
  readonly credential: string;
  /** How a provider on another host is trusted. */
  readonly trust: TrustSource;
  readonly log: Logger;
  /** Longest time without a provider. */
  readonly orphanTimeout: Duration;
  /** What the agent says first, made again for each stream. */
  hello(): MachineHello;
  /** The provider has answered the hello. */
  onAttached(hello: Hello): void;
  /** A message after the hello. A thrown MutiraoError closes the stream. */
  onMessage(message: NonNullable<AttachResponse['message']>): void;
  onLost(): void;
  /** The link is given up for good. */
  onGone(error: MutiraoError): void;
}

const backOffMin = 100;
const backOffMax = 5000;

/** Codes after which another try would be refused as well. */
const finalCodes = new Set([
  'MUT_UNAUTHENTICATED',
  'MUT_INVITATION_REFUSED',
  'MUT_CREDENTIAL_NAME',
  'MUT_MACHINE_REMOVED',
  'MUT_ALLOCATION_ENDED',
  'MUT_WALLTIME_ENDED',
  'MUT_RELEASED',
  'MUT_MACHINE_NAME_TAKEN_OVER',
]);
/** The same, where they are the answer to our hello. */
const finalAnswers = new Set(['MUT_BAD_REQUEST', 'MUT_UNIMPLEMENTED']);

/** Keeps one stream open to the provider: dials it, again after it was lost, with longer and longer pauses. */
export class ProviderLink {
  readonly client: GridMachineServiceClient;
  private readonly options: ProviderLinkOptions;
  private stream: MessageStream<AttachResponse, AttachRequest> | undefined;
  private isAttached = false;
  private capabilities: readonly string[] = [];
  private isOver = false;
  private backOff = backOffMin;
  private retryTimer: NodeJS.Timeout | undefined;
  private orphanTimer: NodeJS.Timeout | undefined;

  constructor(options: ProviderLinkOptions) {
    this.options = options;
    this.client = dial(GridMachineServiceClient, options.address, { token: options.credential, trust: options.trust });
  }

  /** Whether the provider that was attached to last says how much of a content is stored already. */
  get takesOffsets(): boolean {
    return this.capabilities.includes('offset');
  }

  /** Begins to dial. */
  open(): void {
    this.startOrphanTimer();
    this.attach();
  }

  /** Sends a message; without a provider it is dropped, and what matters is sent again after the next attachment. */
  send(message: NonNullable<AttachRequest['message']>): void {
    if (this.isAttached) this.stream?.write({ message });
  }

  /** Presents itself again, since what it says of itself has changed. */
  greetAgain(): void {
    if (this.isAttached) this.stream?.close(new MutiraoError('MUT_REATTACH', 'the clock of the machine was set'));
  }

  /** Says good-bye: what was sent still goes out. */
  close(): void {
    this.isOver = true;
    clearTimeout(this.retryTimer);
    clearTimeout(this.orphanTimer);
    this.stream?.end();
    this.client.close();
  }

  private attach(): void {
    const stream = openStream(this.client.attach(), this.options.log);
    this.stream = stream;
    stream.listen({
      onMessage: ({ message }) => {
        this.receive(message);
      },
      onClosed: (error) => {
        this.detach(stream, error);
      },
    });
    stream.write({ message: { $case: 'hello', value: this.options.hello() } });
  }

  private receive(message: AttachResponse['message']): void {
    if (message === undefined) throw new MutiraoError('MUT_PROTOCOL', 'an empty message from the provider');
    if (this.isAttached) return this.options.onMessage(message);
    if (message.$case !== 'hello')
      throw new MutiraoError('MUT_PROTOCOL', `first message is ${message.$case}; expected hello`);
    const hello = decodeHello(message.value);
    this.isAttached = true;
    this.capabilities = hello.capabilities;
    this.backOff = backOffMin;
    clearTimeout(this.orphanTimer);
    this.options.log.info({ provider: hello.speakerId }, 'attached to the provider');
    this.options.onAttached(hello);
  }

  private detach(stream: MessageStream<AttachResponse, AttachRequest>, error: MutiraoError | undefined): void {
    if (this.stream !== stream || this.isOver) return;
    this.stream = undefined;
    const wasAttached = this.isAttached;
    this.isAttached = false;
    if (wasAttached) {
      this.startOrphanTimer();
      this.options.onLost();
    }
    const reason = error ?? new MutiraoError('MUT_UNREACHABLE', 'the provider ended the stream');
    if (finalCodes.has(reason.code) || (!wasAttached && finalAnswers.has(reason.code))) return this.giveUp(reason);
    const delay = reason.code === 'MUT_REATTACH' ? 0 : this.nextDelay();
    this.options.log.info(
      { code: reason.code, reason: reason.message, retry_ms: Math.round(delay) },
      wasAttached ? 'lost the connection to the provider' : 'cannot reach the provider',
    );
    this.retryTimer = setTimeout(() => {
      this.attach();
    }, delay);
  }

  /** Half of the pause is random, so that agents do not all come back at the same moment. */
  private nextDelay(): Duration {
    const delay = this.backOff * (0.5 + Math.random() / 2);
    this.backOff = Math.min(this.backOff * 2, backOffMax);
    return delay;
  }

  private startOrphanTimer(): void {
    clearTimeout(this.orphanTimer);
    const { orphanTimeout, address } = this.options;
    this.orphanTimer = setTimeout(() => {
      this.giveUp(new MutiraoError('MUT_UNREACHABLE', `no provider at ${address} for ${orphanTimeout} ms`));
    }, orphanTimeout);
  }

  private giveUp(error: MutiraoError): void {
    this.close();
    this.options.onGone(error);
  }
}
