import { connect } from 'node:net';
import { isSocket, parseAddress } from '../rpc/address.ts';

const patienceMs = 10_000;

/** Whether a server at an address says anything without being asked, before the connection closes. */
export function onFrom(address: string): Promise<boolean> {
  const where = parseAddress(address);
  return new Promise((resolve) => {
    const socket = isSocket(where) ? connect({ path: where.path }) : connect({ host: where.host, port: where.port });
    const end = (hasReceived: boolean) => (): void => {
      socket.destroy();
      resolve(hasReceived);
    };
    socket.setTimeout(patienceMs, end(false));
    socket.once('data', end(true));
    socket.once('error', end(false));
    socket.once('close', end(false));
  });
}
