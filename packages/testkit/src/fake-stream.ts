import type { EventMessage } from '@mutirao/api/events';
import type { EventConnection, Publication } from '@mutirao/runtime/events';

/** The fate of a message: `lost` never arrives, and the answer of `unsaid` never arrives. Both end in an error. */
export type Disposition = 'kept' | 'lost' | 'unsaid';

/** A stand-in for JetStream: one stream that drops repeats and keeps a message only behind the one that it names. */
export class FakeStream {
  /** What it keeps, in its order. */
  readonly messages: EventMessage[] = [];
  /** What befalls each message that is sent. */
  getFate: (message: EventMessage) => Disposition = () => 'kept';
  /** Whether connections can be made. */
  isUp = true;
  connectCount = 0;
  repeatCount = 0;
  /** Most messages that waited for an answer at a time. */
  inFlightMax = 0;
  /** While true, answers wait for `answer`. */
  isSilent = false;
  #inFlight = 0;
  #answers: (() => void)[] = [];
  #drop: (() => void) | undefined;

  get ids(): string[] {
    return this.messages.map(({ headers }) => headers['ce-id'] ?? '');
  }

  readonly connect = (): Promise<EventConnection> => {
    this.connectCount += 1;
    if (!this.isUp) return Promise.reject(new Error('nobody listens'));
    const { promise: closed, resolve } = Promise.withResolvers<Error | undefined>();
    this.#drop = () => {
      resolve(new Error('the connection broke'));
    };
    return Promise.resolve({
      closed,
      publish: (message, previousId) => this.#publish(message, previousId),
      close: () => {
        resolve(undefined);
        return Promise.resolve();
      },
    });
  };

  /** Breaks the connection; what waits for an answer gets none. */
  breakDown(): void {
    this.isUp = false;
    this.getFate = () => 'lost';
    this.answer();
    this.#drop?.();
  }

  /** Says what became of all messages that wait for an answer. */
  answer(): void {
    for (const say of this.#answers.splice(0)) say();
  }

  /** Another publisher's message. */
  putForeign(): void {
    this.messages.push({
      subject: 'mutirao.events.job.accepted.1',
      messageId: `foreign ${this.messages.length}`,
      headers: {},
      data: new Uint8Array(),
    });
  }

  async #publish(message: EventMessage, previousId: string | undefined): Promise<Publication> {
    this.inFlightMax = Math.max(this.inFlightMax, ++this.#inFlight);
    const disposition = this.getFate(message);
    const publication = disposition === 'lost' ? 'kept' : this.#keep(message, previousId);
    if (this.isSilent)
      await new Promise<void>((resolve) => {
        this.#answers.push(resolve);
      });
    this.#inFlight -= 1;
    if (disposition !== 'kept' || !this.isUp) throw new Error('no answer');
    return publication;
  }

  #keep(message: EventMessage, previousId: string | undefined): Publication {
    if (this.messages.some(({ messageId }) => messageId === message.messageId)) {
      this.repeatCount += 1;
      return 'kept';
    }
    if (previousId !== undefined && this.messages.at(-1)?.messageId !== previousId) return 'out of order';
    this.messages.push(message);
    return 'kept';
  }
}
