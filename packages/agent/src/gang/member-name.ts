import { createHash } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { accountName } from '@mutirao/runtime/files';
import { isHomeSocket, isLoopback, isSocket, parseAddress } from '@mutirao/runtime/rpc';

/**
 * The name of a member of a gang, `user@host`: one word for shells and for the host files of Open MPI.
 *
 * No resolver may know the host, or mpirun would take it for its own host and start processes there itself. No two
 * machines of a provider share a host name, though they may be on one host.
 */
export function nameMember(machineId: string, user: string = accountName(), host: string = hostname()): string {
  const own = machineId.slice(machineId.indexOf('/') + 1);
  const plain = plainWord(own);
  // Names that differ in what is left out here are distinguished by this.
  const mark = plain === own ? '' : `-${createHash('sha256').update(own).digest('hex').slice(0, 6)}`;
  return `${plainWord(user)}@${plainWord(host.split('.')[0] ?? '')}-${plain}${mark}`;
}

/**
 * Addresses of this host at which members on other hosts may reach it, the likeliest first. @param provider an agent
 * that reaches its provider by loopback or by a socket of the provider's home folder has all members of its gangs on
 * this host.
 */
export function findGangHosts(provider: string): string[] {
  const address = parseAddress(provider);
  if (isSocket(address) ? isHomeSocket(address.path) : isLoopback(address.host)) return ['127.0.0.1'];
  const found = Object.values(networkInterfaces())
    .flatMap((interfaces) => interfaces ?? [])
    .filter(({ internal, address: own }) => !internal && !own.startsWith('fe80:'));
  const hosts = [
    ...found.filter(({ family }) => family === 'IPv4'),
    ...found.filter(({ family }) => family === 'IPv6'),
  ].map(({ address: own }) => own);
  return hosts.length === 0 ? ['127.0.0.1'] : hosts;
}

function plainWord(text: string): string {
  const word = text
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, 60);
  return word === '' ? 'x' : word;
}
