import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

import { MutiraoError } from '@mutirao/api/errors';

/**
 * Makes this process the only one that keeps a site, until it ends, however it does: two would take the site's port
 * from each other.
 *
 * The claim is an abstract socket, which the kernel takes back by itself. @throws {MutiraoError} MUT_ALREADY_RUNNING
 */
export function claimSite(home: string, name: string): Promise<void> {
  const mark = createHash('sha256').update(`${home}\0${name}`).digest('hex').slice(0, 32);
  const server = createServer((socket) => {
    socket.destroy();
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new MutiraoError('MUT_ALREADY_RUNNING', `another process keeps the connection to ${name}`, { cause: error }),
      );
    });
    server.listen(`\0mutirao-site-${mark}`, () => {
      server.unref();
      resolve();
    });
  });
}
