import { createServer } from 'node:net';

/**
 * A free port of 127.0.0.1 below 32768, where Linux gives none of its own accord: it stays free while its server is
 * away.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    await new Promise((resolve) => {
      server.close(resolve);
    });
    return port;
  }
}
