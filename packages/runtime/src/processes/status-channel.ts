import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

/**
 * A pair of connected sockets: shells write to one as their standard output, all to the same, and we read from the
 * other.
 */
export interface StatusChannel {
  readonly reader: Socket;
  readonly writer: Socket;
  onText: (text: string) => void;
}

/**
 * Node makes no pipes of its own accord; one connection to ourselves does as well, and is read without a stream's
 * overhead.
 */
export async function openStatusChannel(folder: string): Promise<StatusChannel> {
  // The kernel takes 107 bytes for the path of a socket; a folder may have a longer one, but its descriptor has not.
  const place = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await connectToSelf(`/proc/self/fd/${place}/status`);
  } finally {
    closeSync(place);
  }
}

async function connectToSelf(file: string): Promise<StatusChannel> {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer({ pauseOnConnect: true }, accepted.resolve);
  server.once('error', accepted.reject);
  server.listen(file);
  const readText = (count: number, bytes: Uint8Array): boolean => {
    channel.onText(Buffer.from(bytes.buffer, bytes.byteOffset, count).toString('latin1'));
    return true;
  };
  await once(server, 'listening');
  const reader = connect({ path: file, onread: { buffer: new Uint8Array(16 * 1024), callback: readText } });
  reader.once('error', accepted.reject);
  const channel: StatusChannel = { reader, writer: await accepted.promise, onText: () => undefined };
  server.close(); // Removes the file at once, while the folder's descriptor leads there.
  return channel;
}
