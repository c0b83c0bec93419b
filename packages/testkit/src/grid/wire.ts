import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can be cut while the server goes on: what connects to it is passed on, byte for byte. */
export class Wire {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => { this.#join(socket); });
  readonly #to: { readonly host: string; readonly port: number };
  #isCut = false;
  #bytes = 0;
  #sentBytes = 0;
  #cutsAt = Infinity;
  #onCut = (): void => undefined;

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

  /** Bytes that came from the server. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that went to the server. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Breaks what is connected each time that so many further bytes have passed, either way, so many times; what dials again gets through. */
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

  #look(): void {
    if (this.#bytes + this.#sentBytes < this.#cutsAt) return;
    this.#cutsAt = Infinity;
    for (const socket of this.#sockets) socket.destroy();
    this.#onCut();
  }
}
