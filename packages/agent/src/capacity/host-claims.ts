import { createServer, type Server } from 'node:net';

/**
 * What agents of one host divide among themselves: a processor to pin tasks to, a GPU.
 *
 * A claim is a socket of the abstract namespace that this process listens on: it is known on the whole host, whatever
 * the home folder and the account, leaves no file, and ends with the process. Containers with a network of their own do
 * not see each other's.
 */
export class HostClaims {
  readonly #space: string;
  readonly #servers: Server[] = [];

  /** @param space begins the names of the sockets. */
  constructor(space = 'mutirao') {
    this.#space = space;
  }

  /** Claims something until this process ends or `close`; false where another agent has it. */
  async claim(name: string): Promise<boolean> {
    const server = createServer((socket) => {
      socket.destroy();
    });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(`\0${this.#space}/${name}`, () => {
      resolve(true);
    });
    server.unref();
    if (!(await promise)) return false;
    this.#servers.push(server);
    return true;
  }

  /** Gives up all claims. */
  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
  }
}
