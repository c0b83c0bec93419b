import type { Duration, Instant, Prng } from '@mutirao/core/shared';
import type { Host, Life } from './host.ts';
import type { Kernel } from './kernel.ts';

/** How bad a network is. Probabilities are in [0, 1). */
export interface NetworkConditions {
  /** Longest time on the way. */
  readonly delayMax: Duration;
  /** Of a call's question, and again of its answer, to get lost. */
  readonly lossProbability: number;
  /** Of a message to come twice. */
  readonly duplicateProbability: number;
}

/** A side of a stream: messages come in the order in which they were sent, until it breaks. */
export interface StreamEnd<Out, In> {
  onMessage(message: In): void;
  /** Called once when the stream is over, with the code that the other side gave, or MUT_UNREACHABLE. */
  onClosed(code: string): void;
  readonly isOpen: boolean;
  write(message: Out): void;
  /**
   * Ends the stream; the other side receives all that was written, then `code`, and this side receives nothing more.
   */
  close(code: string): void;
}

/** A side of a stream that is connected. */
class ConnectedEnd<Out, In> implements StreamEnd<Out, In> {
  onMessage: (message: In) => void = () => undefined;
  onClosed: (code: string) => void = () => undefined;
  readonly #stream: Stream;
  readonly #side: 0 | 1;

  constructor(stream: Stream, side: 0 | 1) {
    this.#stream = stream;
    this.#side = side;
  }

  get isOpen(): boolean {
    return this.#stream.isOpen;
  }

  write(message: Out): void {
    this.#stream.send(this.#side, message);
  }

  close(code: string): void {
    this.#stream.closeFrom(this.#side, code);
  }
}

/** Which life is at which side, and where its messages go. */
interface Side {
  readonly life: Life;
  readonly end: ConnectedEnd<unknown, unknown>;
  /** On the way to this side, in order. */
  readonly coming: { readonly at: Instant; readonly message: unknown }[];
  /** Of the last message that is on its way here. */
  lastAt: Instant;
  /** Set when the other side has ended the stream: after all that is coming. */
  closing: string | undefined;
  hasClosed: boolean;
}

/** How long a silent connection is believed in, as the live keepalives do at most. */
const keepalive: Duration = 15_000;
/** Longest time until a side notices that the other one is gone. */
const noticeMax: Duration = 50;

/** One connection. */
export class Stream {
  readonly #network: Network;
  readonly #sides: readonly [Side, Side];
  isBroken = false;

  constructor(network: Network, client: Life, server: Life) {
    this.#network = network;
    this.#sides = [this.#createSide(client, 0), this.#createSide(server, 1)];
    // What a process said before it took its leave still arrives after its end.
    for (const side of this.#sides)
      side.life.holds(() => {
        if (!side.hasClosed) this.break();
      });
  }

  get isOpen(): boolean {
    return this.#sides.every(({ closing, hasClosed }) => closing === undefined && !hasClosed);
  }

  get hosts(): readonly [Host, Host] {
    return [this.#sides[0].life.host, this.#sides[1].life.host];
  }

  /** The side that opens a stream says what it carries. */
  findEnd<Out, In>(side: 0 | 1): StreamEnd<Out, In> {
    return this.#sides[side].end as unknown as StreamEnd<Out, In>;
  }

  send(from: 0 | 1, message: unknown): void {
    const side = this.#sides[1 - from] as Side;
    if (!this.isOpen) return;
    this.#put(side, message);
    if (this.#network.isDuplicated(message)) this.#put(side, message);
  }

  closeFrom(from: 0 | 1, code: string): void {
    if (!this.isOpen) return;
    const [own, other] = [this.#sides[from], this.#sides[1 - from] as Side];
    own.hasClosed = true;
    own.coming.length = 0;
    other.closing = code;
    this.#deliverLater(other, Math.max(other.lastAt, this.#network.kernel.now + this.#network.drawDelay()));
  }

  /** The connection is lost, with all that is on its way. */
  break(): void {
    if (!this.#network.forget(this)) return;
    this.isBroken = true;
    for (const side of this.#sides) {
      if (side.hasClosed) continue;
      side.coming.length = 0;
      side.closing ??= 'MUT_UNREACHABLE';
      this.#deliverLater(side, this.#network.kernel.now + this.#network.rng.below(noticeMax));
    }
  }

  /** What waited behind a cut comes now. */
  resume(): void {
    for (const side of this.#sides) this.#deliverLater(side, this.#network.kernel.now);
  }

  #createSide(life: Life, side: 0 | 1): Side {
    return { life, end: new ConnectedEnd(this, side), coming: [], lastAt: 0, closing: undefined, hasClosed: false };
  }

  #put(side: Side, message: unknown): void {
    side.lastAt = Math.max(side.lastAt, this.#network.kernel.now + this.#network.drawDelay());
    side.coming.push({ at: side.lastAt, message });
    this.#deliverLater(side, side.lastAt);
  }

  #deliverLater(side: Side, at: Instant): void {
    this.#network.kernel.at(at, () => {
      this.#deliver(side);
    });
  }

  /** Delivers arrived messages, the first first; those to a paused process, or through a cut, wait. */
  #deliver(side: Side): void {
    const { kernel } = this.#network;
    const { life, end, coming } = side;
    if (life.isOver || side.hasClosed) return;
    const waitsUntil = Math.max(life.pausedUntil, this.#network.cutUntil(this));
    if (waitsUntil > kernel.now) {
      this.#deliverLater(side, waitsUntil);
      return;
    }
    for (let next = coming[0]; next !== undefined && next.at <= kernel.now; next = coming[0]) {
      coming.shift();
      end.onMessage(next.message);
      if (life.isOver || (side.hasClosed as boolean)) return;
    }
    if (side.closing === undefined || coming.length > 0) return;
    side.hasClosed = true;
    this.#network.forget(this);
    end.onClosed(side.closing);
  }
}

/** Two hosts that cannot reach each other for a while. */
interface Cut {
  readonly hosts: readonly [Host, Host];
  readonly until: Instant;
}

/** What answers calls at a process. */
export type CallHandler = (answer: (reply: unknown) => void) => void;

/** Connects lives: streams that keep the order and break, calls that get lost, come twice, or pass each other. */
export class Network {
  readonly kernel: Kernel;
  readonly rng: Prng;
  #conditions: NetworkConditions;
  readonly #streams = new Set<Stream>();
  #cuts: Cut[] = [];

  constructor(kernel: Kernel, rng: Prng, conditions: NetworkConditions) {
    this.kernel = kernel;
    this.rng = rng;
    this.#conditions = conditions;
  }

  /** From now on it is as good as this; cuts are mended. */
  heal(conditions: NetworkConditions): void {
    this.#conditions = conditions;
    this.#cuts = [];
    for (const stream of this.#streams) stream.resume();
  }

  get openStreams(): readonly Stream[] {
    return [...this.#streams].filter(({ isOpen }) => isOpen);
  }

  drawDelay(): Duration {
    const { delayMax } = this.#conditions;
    return delayMax === 0 ? 0 : this.rng.below(delayMax + 1);
  }

  /**
   * Most of a stream's messages may come twice, so that idempotent handling is tested. Greetings do not; nor do,
   * between broker and provider, reports and their acknowledgements, because only their order distinguishes two runs of
   * an agent: they come twice on the agent's stream.
   */
  isDuplicated(message?: unknown): boolean {
    const { duplicateProbability } = this.#conditions;
    if (getKind(message) === 'hello') return false;
    return duplicateProbability > 0 && this.rng.fraction() < duplicateProbability && !isKeptApart(message);
  }

  /** True if the stream was open. */
  forget(stream: Stream): boolean {
    return this.#streams.delete(stream);
  }

  /** Cuts two hosts off each other; what is silent for too long breaks. */
  cut(one: Host, other: Host, duration: Duration): void {
    const cut: Cut = { hosts: [one, other], until: this.kernel.now + duration };
    this.#cuts.push(cut);
    this.kernel.after(keepalive, () => {
      if (!this.#cuts.includes(cut) || cut.until <= this.kernel.now) return;
      for (const stream of [...this.#streams]) if (joins(stream.hosts, cut)) stream.break();
    });
    this.kernel.at(cut.until, () => {
      this.#cuts = this.#cuts.filter((known) => known !== cut);
    });
  }

  /**
   * When the stream's hosts can reach each other again; 0 if they can now, and for a broken stream, which each side
   * finds out by itself.
   */
  cutUntil(stream: Stream): Instant {
    return stream.isBroken ? 0 : this.#cutBetween(stream.hosts);
  }

  #cutBetween(hosts: readonly [Host, Host]): Instant {
    let until = 0;
    for (const cut of this.#cuts) if (joins(hosts, cut)) until = Math.max(until, cut.until);
    return until;
  }

  /**
   * Opens a stream; the client may write at once. `accept` gets the other end when the server is reached; otherwise the
   * stream closes with MUT_UNREACHABLE.
   *
   * @param findServer the server's life now; undefined while it is down.
   */
  open<Out, In>(
    client: Life,
    server: { readonly host: Host; findServer(): Life | undefined },
    accept: (end: StreamEnd<In, Out>) => void,
  ): StreamEnd<Out, In> {
    const front = new DialledEnd<Out, In>();
    this.kernel.after(this.drawDelay(), () => {
      if (client.isOver) return;
      const life = server.findServer();
      if (life === undefined || this.#cutBetween([client.host, server.host]) > 0) {
        this.kernel.after(this.drawDelay() + 1, () => {
          if (!client.isOver) front.fail('MUT_UNREACHABLE');
        });
        return;
      }
      const stream = new Stream(this, client, life);
      this.#streams.add(stream);
      accept(stream.findEnd<In, Out>(1));
      front.connect(stream.findEnd<Out, In>(0));
    });
    return front;
  }

  /** Asks a process something; `hear` gets its reply, or undefined after `deadline` when none came. */
  call(
    client: Life,
    server: { readonly host: Host; find(): { readonly life: Life; readonly handle: CallHandler } | undefined },
    deadline: Duration,
    receive: (reply: unknown) => void,
  ): void {
    let isAnswered = false;
    const answerOnce = (reply: unknown): void => {
      if (isAnswered || client.isOver) return;
      isAnswered = true;
      receive(reply);
    };
    const deliver = (): void => {
      const target = server.find();
      if (target === undefined || this.#cutBetween([client.host, server.host]) > 0) return;
      target.handle((reply) => {
        if (this.#isLost() || this.#cutBetween([client.host, server.host]) > 0) return;
        this.kernel.after(this.drawDelay(), () => {
          answerOnce(reply);
        });
      });
    };
    for (let copies = this.#isLost() ? 0 : this.isDuplicated() ? 2 : 1; copies > 0; copies -= 1)
      this.kernel.after(this.drawDelay(), deliver);
    this.kernel.after(deadline, () => {
      answerOnce(undefined);
    });
  }

  #isLost(): boolean {
    const { lossProbability } = this.#conditions;
    return lossProbability > 0 && this.rng.fraction() < lossProbability;
  }
}

function joins(hosts: readonly [Host, Host], { hosts: [one, other] }: Cut): boolean {
  return (hosts[0] === one && hosts[1] === other) || (hosts[0] === other && hosts[1] === one);
}

/** The client's end while it is being connected: what is written waits. */
class DialledEnd<Out, In> implements StreamEnd<Out, In> {
  onMessage: (message: In) => void = () => undefined;
  onClosed: (code: string) => void = () => undefined;
  readonly #waiting: Out[] = [];
  #end: StreamEnd<Out, In> | undefined;
  #isOver = false;

  get isOpen(): boolean {
    return this.#end?.isOpen ?? !this.#isOver;
  }

  write(message: Out): void {
    if (this.#end !== undefined) this.#end.write(message);
    else if (!this.#isOver) this.#waiting.push(message);
  }

  close(code: string): void {
    this.#isOver = true;
    this.#end?.close(code);
  }

  connect(end: StreamEnd<Out, In>): void {
    this.#end = end;
    end.onMessage = (message) => {
      this.onMessage(message);
    };
    end.onClosed = (code) => {
      this.onClosed(code);
    };
    for (const message of this.#waiting) end.write(message);
    if (this.#isOver) end.close('');
  }

  fail(code: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onClosed(code);
  }
}

function getKind(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined;
}

/** Whether it is a report, or its acknowledgement, between broker and provider. */
function isKeptApart(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('message' in message)) return false;
  const [kind, inner] = [getKind(message), getKind(message.message)];
  return (kind === 'fromMachine' && inner === 'report') || (kind === 'toMachine' && inner === 'acknowledged');
}
