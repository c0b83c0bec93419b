import { experimental, ServerCredentials } from '@grpc/grpc-js';
import { statSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import { identityPaths, readHostIdentity, RevokedSerials, type HostIdentity } from '../identity/index.ts';
import type { Logger } from '../log/index.ts';

/** How a server keeps foreigners out. */
export interface ServerSecurity {
  readonly credentials: ServerCredentials;
  /** Undefined without TLS: a token is wanted then. */
  readonly revoked: RevokedSerials | undefined;
  /** Takes up what has changed in the identity's folder; new connections see a new certificate. */
  refresh(): void;
}

/** A server at a socket, which only its user can reach. */
export const plainSecurity: ServerSecurity = {
  credentials: ServerCredentials.createInsecure(),
  revoked: undefined,
  refresh: () => undefined,
};

/**
 * A server that shows the certificate of its host. Clients may connect without one: the service decides whether to
 * admit them, so that they receive the reason of a refusal.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG, MUT_TOKEN_UNSAFE, and MUT_LOOPBACK_ONLY for a server without an identity.
 */
export function tlsSecurity(folder: string | undefined, log: Logger): ServerSecurity {
  if (folder === undefined)
    throw new MutiraoError('MUT_LOOPBACK_ONLY', 'this server has no identity; expected a socket, unix:/path');
  const certificates = new HostCertificates(readHostIdentity(folder));
  const revoked = new RevokedSerials(folder);
  const { hostCertificate } = identityPaths(folder);
  let stamp = getStamp(hostCertificate);
  return {
    credentials: experimental.createCertificateProviderServerCredentials(certificates, certificates, false),
    revoked,
    refresh: () => {
      revoked.refresh();
      const current = getStamp(hostCertificate);
      if (current === stamp) return;
      stamp = current;
      try {
        certificates.replace(readHostIdentity(folder));
        log.info({ certificate: hostCertificate }, 'using a new certificate');
      } catch (error) {
        log.error({ err: error }, 'cannot use the new certificate');
      }
    },
  };
}

function getStamp(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.ino}`;
}

type CertificateProvider = experimental.CertificateProvider;
type CaListener = Parameters<CertificateProvider['addCaCertificateListener']>[0];
type IdentityListener = Parameters<CertificateProvider['addIdentityCertificateListener']>[0];

/** The identity as grpc-js takes it, with its changes. */
class HostCertificates implements CertificateProvider {
  #identity: HostIdentity;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();

  constructor(identity: HostIdentity) {
    this.#identity = identity;
  }

  replace(identity: HostIdentity): void {
    this.#identity = identity;
    for (const listener of this.#caListeners) this.#reportCa(listener);
    for (const listener of this.#identityListeners) this.#reportIdentity(listener);
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#caListeners.add(listener);
    // A new listener can be called only after this method returns.
    queueMicrotask(() => {
      this.#reportCa(listener);
    });
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    queueMicrotask(() => {
      this.#reportIdentity(listener);
    });
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
  }

  #reportCa(listener: CaListener): void {
    listener({ caCertificate: Buffer.from(this.#identity.authority) });
  }

  #reportIdentity(listener: IdentityListener): void {
    const { certificate, key } = this.#identity.host;
    listener({ certificate: Buffer.from(certificate), privateKey: Buffer.from(key) });
  }
}
