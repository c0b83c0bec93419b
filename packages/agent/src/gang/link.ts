import type { Duration } from '@mutirao/core/shared';
import { MutiraoError } from '@mutirao/api/errors';
import { dialMember, type ChannelKey } from './channel.ts';
import type { Connection, Patience } from './connection.ts';

/** What a link needs. */
export interface LinkOptions {
  readonly addresses: readonly string[];
  readonly key: ChannelKey;
  /** Longest time that the member may be out of reach, in milliseconds. */
  readonly linkPatience: Duration;
  readonly patience?: Patience;
  /** Called once when it has been out of reach for longer, and never before `open` has resolved. */
  onLost(detail: string): void;
}

const pauseMin = 100;
const pauseMax = 2000;

/** Rank 0's hold on a member: a connection that says that rank 0 is there, made again when it breaks. */
export class Link {
  private readonly options: LinkOptions;
  private connection: Connection | undefined;
  private isClosed = false;
  private pauseTimer: NodeJS.Timeout | undefined;

  private constructor(options: LinkOptions) {
    this.options = options;
  }

  /**
   * Resolves once the member has answered. @throws {MutiraoError} MUT_GANG_CHANNEL_FAILED when it does not within the
   * patience.
   */
  static async open(options: LinkOptions): Promise<Link> {
    const link = new Link(options);
    await link.connect(performance.now() + options.linkPatience);
    return link;
  }

  /** Lets go of the member. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.pauseTimer);
    this.connection?.close('rank 0 has ended');
  }

  /** Dials until it is answered. @param deadline on the clock of `performance.now()`. */
  private async connect(deadline: number): Promise<void> {
    for (let pause = pauseMin; ; pause = Math.min(2 * pause, pauseMax)) {
      try {
        await this.dial(Math.max(1, deadline - performance.now()));
        return;
      } catch (error) {
        if (this.isClosed || performance.now() + pause >= deadline) throw error;
        await new Promise<void>((resolve) => {
          this.pauseTimer = setTimeout(resolve, pause);
        });
      }
    }
  }

  private async dial(deadline: number): Promise<void> {
    const { addresses, key, patience } = this.options;
    const connection = await dialMember(addresses, key, deadline, patience);
    const answered = Promise.withResolvers<undefined>();
    // A member that accepts the connection and says nothing counts as unreachable.
    const timer = setTimeout(() => {
      connection.close('no answer');
    }, deadline);
    connection.listen({
      onFrame: (frame) => {
        if (frame.kind !== 'ready') throw new Error(`frame ${frame.kind} on a link`);
        answered.resolve(undefined);
      },
      onDrained: () => undefined,
      onClosed: (reason) => {
        answered.reject(new MutiraoError('MUT_GANG_CHANNEL_FAILED', reason));
        if (this.connection === connection) void this.restore(reason);
      },
    });
    connection.send({ kind: 'link' });
    try {
      await answered.promise;
    } finally {
      clearTimeout(timer);
    }
    this.connection = connection;
    if (this.isClosed) connection.close('rank 0 has ended');
  }

  private async restore(reason: string): Promise<void> {
    this.connection = undefined;
    if (this.isClosed) return;
    try {
      await this.connect(performance.now() + this.options.linkPatience);
    } catch {
      if (!this.isClosed)
        this.options.onLost(
          `rank ${this.options.key.rank} is lost: ${reason}; it is not back after ${this.options.linkPatience} ms`,
        );
    }
  }
}
