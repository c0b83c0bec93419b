import type { Socket } from 'node:net';
import { describeError } from '@mutirao/core/shared';
import { encodeFrame, FrameReader, type Frame } from './frames.ts';

/** How long a peer may be silent, in milliseconds. */
export interface Patience {
  /** A ping is sent so often. */
  readonly pingInterval: number;
  /** A connection that is silent for this time is lost: its peer is gone without a word. */
  readonly silenceMax: number;
}

/** Three pings may get lost before a connection is given up. */
export const usualPatience: Patience = { pingInterval: 5000, silenceMax: 20_000 };

/** Receives the events of a connection. */
export interface ConnectionListener {
  /** A thrown error closes the connection. */
  onFrame(frame: Frame): void;
  /** All that was sent is on its way: more may be. */
  onDrained(): void;
  /** Called once. */
  onClosed(reason: string): void;
}

/** One connection of a gang's channel: frames both ways, and a peer that is known to be there. */
export class Connection {
  private readonly socket: Socket;
  private readonly patience: Patience;
  private readonly reader = new FrameReader();
  private listener: ConnectionListener | undefined;
  private readonly timer: NodeJS.Timeout;
  private silence = 0;
  private isOver = false;

  /** @param socket whose peer has shown the gang's secret. Nothing is read before `listen`. */
  constructor(socket: Socket, patience: Patience = usualPatience) {
    this.socket = socket;
    this.patience = patience;
    socket.setNoDelay(true);
    socket.on('error', (error) => {
      this.close(error.message);
    });
    socket.on('close', () => {
      this.close('the other end closed it');
    });
    this.timer = setInterval(() => {
      this.beat();
    }, patience.pingInterval);
  }

  /** Sends frames to this listener from now on, and none to the one before. */
  listen(listener: ConnectionListener): void {
    const isFirst = this.listener === undefined;
    this.listener = listener;
    if (!isFirst) return;
    this.socket.on('drain', () => {
      this.listener?.onDrained();
    });
    this.socket.on('data', (chunk: Buffer) => {
      this.receive(chunk);
    });
  }

  /** Sends a frame; false when the peer is slower than we are, until `onDrained`. Harmless after the end. */
  send(frame: Frame): boolean {
    return this.isOver || this.socket.write(encodeFrame(frame));
  }

  /** Reads nothing for now, because the consumer is behind. */
  pause(): void {
    this.socket.pause();
  }

  /** Reads again. */
  resume(): void {
    this.silence = 0;
    this.socket.resume();
  }

  /** Closes it once all that was sent is out. */
  end(): void {
    if (this.isOver) return;
    this.socket.end();
  }

  /** Closes it now. */
  close(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.timer);
    this.socket.destroy();
    this.listener?.onClosed(reason);
  }

  private receive(chunk: Buffer): void {
    this.silence = 0;
    try {
      for (const frame of this.reader.take(chunk)) {
        if (this.isOver) return;
        if (frame.kind !== 'ping') this.listener?.onFrame(frame);
      }
    } catch (error) {
      this.close(describeError(error));
    }
  }

  private beat(): void {
    // While we do not read, a silent peer may be a talkative one.
    this.silence = this.socket.isPaused() ? 0 : this.silence + this.patience.pingInterval;
    if (this.silence >= this.patience.silenceMax) this.close(`received nothing for ${this.silence} ms`);
    else this.send({ kind: 'ping' });
  }
}
