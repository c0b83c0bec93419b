import { connect, createServer, type Server, type Socket } from 'node:net';
import type { WireMode } from './fault-plan.ts';
import { freePort } from './free-port.ts';

/** A way to a server that can fail while the server goes on. Its own address stays. */
export class FaultyWire {
  readonly name: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  #to: string;
  #mode: WireMode | undefined;

  /** @param to where the server listens, as host:port. */
  constructor(name: string, to: string) {
    this.name = name;
    this.#to = to;
  }

  /** Begins to listen. Where to connect instead, as host:port. */
  async open(): Promise<string> {
    this.#port = await freePort();
    await this.#listen();
    return this.address;
  }

  /** What `open` answered. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Another server from now on. */
  set to(address: string) {
    this.#to = address;
  }

  /** Fails from now on, also for what is connected. */
  fail(mode: WireMode): void {
    this.#mode = mode;
    switch (mode) {
      case 'cut':
        this.#destroyAll();
        break;
      case 'refuse':
        this.#server?.close();
        this.#server = undefined;
        this.#destroyAll();
        break;
      case 'stall':
        for (const socket of this.#sockets) socket.pause();
        break;
      case 'halfClose':
        for (const socket of this.#sockets) if (!socket.writableEnded) socket.end();
        break;
    }
  }

  /** Is as good as new; what was broken stays so. */
  async mend(): Promise<void> {
    const mode = this.#mode;
    this.#mode = undefined;
    if (mode === 'stall') for (const socket of this.#sockets) socket.resume();
    if (this.#server === undefined) await this.#listen();
  }

  close(): void {
    this.#server?.close();
    this.#server = undefined;
    this.#destroyAll();
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#join(socket);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
  }

  #join(socket: Socket): void {
    socket.on('error', () => {
      socket.destroy();
    });
    if (this.#mode === 'cut') {
      socket.destroy();
      return;
    }
    const at = this.#to.lastIndexOf(':');
    const onward = connect({ host: this.#to.slice(0, at), port: Number(this.#to.slice(at + 1)), allowHalfOpen: true });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      this.#pass(one, other);
    if (this.#mode === 'stall') for (const one of [socket, onward]) one.pause();
  }

  /** By hand and not by `pipe`, which our pause would not hold. */
  #pass(one: Socket, other: Socket): void {
    this.#sockets.add(one);
    one.on('data', (chunk) => {
      if (!other.writable) return;
      if (!other.write(chunk)) one.pause();
    });
    other.on('drain', () => {
      if (this.#mode !== 'stall') one.resume();
    });
    one.on('end', () => {
      if (other.writable) other.end();
    });
    one.on('error', () => {
      one.destroy();
    });
    one.on('close', () => {
      this.#sockets.delete(one);
      other.destroy();
    });
  }
}
