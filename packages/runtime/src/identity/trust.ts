import { X509Certificate } from 'node:crypto';
import { MutiraoError } from '@mutirao/api/errors';
import { identityFolder, identityPaths } from './folder.ts';
import type { KeyPair } from './issue.ts';
import { requireInDate, parseCertificate, readCertificate, readKeyPair } from './read-identity.ts';

/** What a client needs to speak TLS. */
export interface Trust {
  /** The certificate of the authority that servers must be signed by, as PEM. */
  readonly authority: string;
  /** What the client shows; undefined for one that shows a credential instead. */
  readonly user?: KeyPair;
}

/**
 * Called when TLS is needed: clients of sockets need no identity. @throws {MutiraoError} MUT_BAD_CONFIG,
 * MUT_TOKEN_UNSAFE
 */
export type TrustSource = () => Trust;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment variable with the authority's certificate: a file's path, PEM text, or the base64 of it on one line.
 */
export const authorityVariable = 'MUTIRAO_CA';

/** What the processes of a user show and trust: the identity of her home folder. */
export function userTrust(home: string, environment: Environment = process.env): TrustSource {
  return () => {
    const { folder, authorityCertificate, userCertificate, userKey } = identityPaths(identityFolder(home));
    const wayOut =
      'servers at a port are called with an identity only: make one with "mutirao init", or put one that you were ' +
      `given into ${folder}`;
    const user = readKeyPair(userCertificate, userKey, wayOut);
    requireInDate(user.certificate, {
      path: userCertificate,
      now: Date.now(),
      wayOut: 'make a new one with "mutirao init", or ask who gave it to you',
    });
    const [own, given] = [readCertificate(authorityCertificate, wayOut), givenAuthority(environment)];
    // Servers of this home at loopback ports are signed by its own authority.
    return { authority: given === undefined ? own : `${given}\n${own}`, user };
  };
}

/** What agents trust: they show the credential of their allocation. */
export function agentTrust(home: string, environment: Environment = process.env): TrustSource {
  return () => {
    const { authorityCertificate } = identityPaths(identityFolder(home));
    return {
      authority:
        givenAuthority(environment) ??
        readCertificate(authorityCertificate, `expected the provider's authority there or in ${authorityVariable}`),
    };
  };
}

function givenAuthority(environment: Environment): string | undefined {
  const given = environment[authorityVariable] ?? '';
  if (given === '') return undefined;
  if (given.includes('-----BEGIN')) return parseCertificate(given, authorityVariable).toString();
  if (/^MI[A-Za-z0-9+/]{100,}=*$/.test(given))
    return parseCertificate(Buffer.from(given, 'base64'), authorityVariable).toString();
  return readCertificate(given, `${authorityVariable} names it`);
}

/**
 * A certificate on one line, as it goes into an environment variable that a resource manager carries to other hosts.
 */
export function onOneLine(certificate: string): string {
  return new X509Certificate(certificate).raw.toString('base64');
}

/** What a server needs to speak TLS. */
export interface HostIdentity {
  readonly authority: string;
  readonly host: KeyPair;
}

/**
 * Reads it. @throws {MutiraoError} MUT_BAD_CONFIG when there is none or it has expired; MUT_TOKEN_UNSAFE when others
 * may read the key.
 */
export function readHostIdentity(folder: string): HostIdentity {
  const { authorityCertificate, hostCertificate, hostKey } = identityPaths(folder);
  const wayOut = 'to listen for other hosts, a process needs an identity: run "mutirao init" for this home folder';
  const host = readKeyPair(hostCertificate, hostKey, wayOut);
  requireInDate(host.certificate, {
    path: hostCertificate,
    now: Date.now(),
    wayOut: 'make a new one with "mutirao init", or ask who gave it to you',
  });
  const authority = readCertificate(authorityCertificate, wayOut);
  if (!new X509Certificate(host.certificate).verify(new X509Certificate(authority).publicKey)) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${hostCertificate} is not signed by ${authorityCertificate}; expected both from one authority`,
    );
  }
  return { authority, host };
}
