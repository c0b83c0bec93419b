import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the parts of an identity are. A folder need not hold them all: only the owner's own has the key of the
 * authority.
 */
export interface IdentityPaths {
  readonly folder: string;
  /** The certificate of the authority, which all hosts and users of one grid trust. */
  readonly authorityCertificate: string;
  /** Its holder can issue any certificate. It is elsewhere where `authorityPlace` exists; see `authorityKeyPath`. */
  readonly authorityKey: string;
  /** Holds the path of the folder that the authority's key was moved to. */
  readonly authorityPlace: string;
  /** Says who the user is; shown to servers. */
  readonly userCertificate: string;
  readonly userKey: string;
  /** Says which host this is; shown to clients. */
  readonly hostCertificate: string;
  readonly hostKey: string;
  /** Serial numbers of certificates that servers of this home no longer take, one a line. */
  readonly revoked: string;
}

/** The identity of a home folder. */
export function identityFolder(home: string): string {
  return join(home, 'identity');
}

/** The files of an identity. */
export function identityPaths(folder: string): IdentityPaths {
  return {
    folder,
    authorityCertificate: join(folder, 'ca.crt'),
    authorityKey: join(folder, 'ca.key'),
    authorityPlace: join(folder, 'authority'),
    userCertificate: join(folder, 'user.crt'),
    userKey: join(folder, 'user.key'),
    hostCertificate: join(folder, 'host.crt'),
    hostKey: join(folder, 'host.key'),
    revoked: join(folder, 'revoked'),
  };
}

/** Where the key of an identity's authority is, or was put; it need not be readable, nor there. */
export function authorityKeyPath(folder: string): string {
  const { authorityKey, authorityPlace } = identityPaths(folder);
  try {
    return join(readFileSync(authorityPlace, 'utf8').trim(), 'ca.key');
  } catch {
    return authorityKey;
  }
}
