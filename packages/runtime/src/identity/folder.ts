import { join } from 'node:path';

/** Where the parts of an identity are. A folder need not hold them all: only the owner's own has the key of the authority. */
export interface IdentityPaths {
  readonly folder: string;
  /** The certificate of the authority: whom all of one grid trust. */
  readonly authorityCertificate: string;
  /** Who has it can make anybody's certificate. */
  readonly authorityKey: string;
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
    authorityCertificate: join(folder, 'ca.crt'), authorityKey: join(folder, 'ca.key'),
    userCertificate: join(folder, 'user.crt'), userKey: join(folder, 'user.key'),
    hostCertificate: join(folder, 'host.crt'), hostKey: join(folder, 'host.key'),
    revoked: join(folder, 'revoked'),
  };
}
