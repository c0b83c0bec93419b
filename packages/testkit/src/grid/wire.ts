import { mkdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { discardSocket, freeSocket } from '../free-socket.ts';

const getPath = (address: string): string => address.slice('unix:'.length);

/** A way to a server that can be cut while the server goes on: what connects to it is passed on, byte for byte. */
export class Wire {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#join(socket);
  });
  readonly #to: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly #address = freeSocket();
  #isCut = false;
  #bytes = 0;
  #sentBytes = 0;
  #cutsAt = Infinity;
  #onCut = (): void => undefined;

  /** @param address where the server listens: `unix:/path` or `host:port`. */
  constructor(address: string) {
    const at = address.lastIndexOf(':');
    this.#to = address.startsWith('unix:')
      ? { path: getPath(address) }
      : { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
  }

  /** The socket to connect to instead. */
  async open(): Promise<string> {
    mkdirSync(dirname(getPath(this.#address)), { mode: 0o700 });
    await new Promise<void>((resolve) => {
      this.#server.listen(getPath(this.#address), resolve);
    });
    return this.#address;
  }

  /** Bytes that came from the server. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that went to the server. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /**
   * Breaks all connections each time that `bytes` more have passed, either way, for `times` times. New connections get
   * through.
   */
  breakEvery(bytes: number, times: number): void {
    this.#cutsAt = this.#bytes + this.#sentBytes + bytes;
    this.#onCut = () => {
      if (times > 1) this.breakEvery(bytes, times - 1);
    };
  }

  /** Breaks what is connected, and lets nothing through until it is mended. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
    discardSocket(this.#address);
  }

  #join(socket: Socket): void {
    if (this.#isCut) {
      socket.destroy();
      return;
    }
    const onward = connect(this.#to);
    onward.on('data', (data: Buffer) => {
      this.#bytes += data.length;
      this.#look();
    });
    socket.on('data', (data: Buffer) => {
      this.#sentBytes += data.length;
      this.#look();
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on('error', () => {
        one.destroy();
      });
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }

  #look(): void {
    if (this.#bytes + this.#sentBytes < this.#cutsAt) return;
    this.#cutsAt = Infinity;
    for (const socket of this.#sockets) socket.destroy();
    this.#onCut();
  }
}
