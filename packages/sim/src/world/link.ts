import type { Duration, Prng } from '@mutirao/core/shared';
import type { Life } from './host.ts';
import type { Kernel } from './kernel.ts';
import type { StreamEnd } from './network.ts';

/** What keeping a stream open takes. */
export interface LinkSetup<Out, In> {
  readonly kernel: Kernel;
  readonly life: Life;
  readonly rng: Prng;
  /** Pauses between tries double from `first` to `longest`. */
  readonly backOff: { readonly first: Duration; readonly longest: Duration };
  dial(): StreamEnd<Out, In>;
  /** What is said first on each stream. */
  hello(): Out;
  /** Called with the other side's greeting. */
  onConnected(greeting: In): void;
  /** A message after the greeting. */
  onMessage(message: In): void;
  onLost(): void;
  /** Whether this code, on a stream that was greeted or not, ends the link for good. */
  isFinal(code: string, wasConnected: boolean): boolean;
  onGone(code: string): void;
}

/** Time after which an unanswered greeting is given up. */
const helloMax: Duration = 10_000;

/**
 * Keeps one stream open, as agents do to their provider and brokers to each of theirs: dials again whenever it is lost.
 */
export class Link<Out, In extends { readonly kind: string }> {
  readonly #setup: LinkSetup<Out, In>;
  #stream: StreamEnd<Out, In> | undefined;
  #isConnected = false;
  #pause: Duration;
  /** Counts connections; what was meant for one is not sent on another. */
  epoch = 0;

  constructor(setup: LinkSetup<Out, In>) {
    this.#setup = setup;
    this.#pause = setup.backOff.first;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  open(): void {
    const { life, kernel, dial, hello } = this.#setup;
    if (life.isOver) return;
    const stream = dial();
    this.#stream = stream;
    stream.onMessage = (message) => {
      this.#receive(stream, message);
    };
    stream.onClosed = (code) => {
      this.#lose(stream, code);
    };
    stream.write(hello());
    kernel.after(helloMax, () => {
      if (this.#stream !== stream || this.#isConnected || life.isOver) return;
      stream.close('MUT_DEADLINE_EXCEEDED');
      this.#lose(stream, 'MUT_DEADLINE_EXCEEDED');
    });
  }

  /** Dropped without a connection: important messages are sent again on the next one. */
  send(message: Out): void {
    if (this.#isConnected) this.#stream?.write(message);
  }

  /** Closes the stream that was greeted and dials again, to say of itself what has changed. */
  redial(): void {
    if (this.#stream === undefined || !this.#isConnected) return;
    this.#stream.close('MUT_REATTACH');
    this.#lose(this.#stream, 'MUT_REATTACH');
  }

  /** Says good-bye. */
  close(): void {
    this.#stream?.close('');
    this.#stream = undefined;
    this.#isConnected = false;
  }

  #receive(stream: StreamEnd<Out, In>, message: In): void {
    if (this.#stream !== stream) return;
    if (this.#isConnected) {
      this.#setup.onMessage(message);
      return;
    }
    this.#isConnected = true;
    this.epoch += 1;
    this.#pause = this.#setup.backOff.first;
    this.#setup.onConnected(message);
  }

  #lose(stream: StreamEnd<Out, In>, code: string): void {
    const { life, kernel, rng, backOff, onLost, isFinal, onGone } = this.#setup;
    if (this.#stream !== stream || life.isOver) return;
    const wasConnected = this.#isConnected;
    this.#stream = undefined;
    this.#isConnected = false;
    if (wasConnected) onLost();
    if (isFinal(code, wasConnected)) {
      onGone(code);
      return;
    }
    const pause = code === 'MUT_REATTACH' ? 0 : this.#pause * (0.5 + rng.fraction() / 2);
    if (code !== 'MUT_REATTACH') this.#pause = Math.min(backOff.longest, this.#pause * 2);
    kernel.after(pause, () => {
      if (this.#stream === undefined) this.open();
    });
  }
}
