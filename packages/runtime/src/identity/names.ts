import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { MutiraoError } from '@mutirao/api/errors';

const dnsName =
  /^(?:\*\.)?(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;

/** A host's name or IP address, as a certificate can say it. @throws {MutiraoError} MUT_BAD_REQUEST */
export function checkHostName(name: string): string {
  const bare = name.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0 && (bare.length > 253 || !dnsName.test(bare))) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `host is "${name}"; expected a name or an IP address, without a port, for example login1.example.org`,
    );
  }
  return bare;
}

/** A user's name, as a certificate can say it. @throws {MutiraoError} MUT_BAD_REQUEST */
export function checkUserName(name: string): string {
  if (!isUserName(name))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `user is ${JSON.stringify(name)}; expected 1 to 64 characters without blanks, "/" and control characters`,
    );
  return name;
}

/** Whether a certificate may name a user so. */
export function isUserName(name: string): boolean {
  return /^[^\p{C}\p{Z}/]{1,64}$/u.test(name);
}

/** How processes on the same host call it. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** What this host is called: by itself, and by others. */
export function ownHostNames(): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  return [...loopbackNames, hostname(), ...addresses.map(({ address }) => address)];
}
