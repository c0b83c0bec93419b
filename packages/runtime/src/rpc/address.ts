import { isIPv4, isIPv6 } from 'node:net';
import { MutiraoError } from '@mutirao/api/errors';

/** A host and a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port` or `[host]:port`. @throws {MutiraoError} MUT_BAD_CONFIG */
function parseAddress(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535) throw new MutiraoError('MUT_BAD_CONFIG', `address is "${text}"; want host:port, for example 127.0.0.1:0`);
  return { host, port };
}

/** Reads an address that only this host can reach. @throws {MutiraoError} MUT_LOOPBACK_ONLY or MUT_BAD_CONFIG */
export function parseLoopbackAddress(text: string): Address {
  const address = parseAddress(text);
  if (!isLoopback(address.host)) throw new MutiraoError('MUT_LOOPBACK_ONLY', `address is "${text}"; want a loopback address`);
  return address;
}

function isLoopback(host: string): boolean {
  if (isIPv4(host)) return host.startsWith('127.');
  if (isIPv6(host)) return host === '::1';
  return host === 'localhost';
}
