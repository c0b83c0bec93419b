import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can be cut while the server goes on: what connects to it is passed on, byte for byte. */
export class Wire {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => { this.#join(socket); });
  readonly #to: { readonly host: string; readonly port: number };
  #isCut = false;

  /** @param address where the server listens, as host:port. */
  constructor(address: string) {
    const at = address.lastIndexOf(':');
    this.#to = { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
  }

  /** Where to connect instead, as host:port. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => { this.#server.listen(0, '127.0.0.1', resolve); });
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
  }

  #join(socket: Socket): void {
    if (this.#isCut) {
      socket.destroy();
      return;
    }
    const onward = connect(this.#to);
    for (const [one, other] of [[socket, onward], [onward, socket]] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on('error', () => { one.destroy(); });
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
