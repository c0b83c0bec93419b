import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { credentials, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import type { TrustSource } from '../identity/index.ts';

/** How a client speaks TLS. */
export interface SecureChannel {
  readonly channelCredentials: ChannelCredentials;
  readonly channelOptions: ChannelOptions;
  readonly showsCertificate: boolean;
}

/**
 * TLS to one host, whose certificate has to name it. @throws {MutiraoError} MUT_BAD_CONFIG, MUT_TOKEN_UNSAFE,
 * MUT_LOOPBACK_ONLY
 */
export function secureChannel(host: string, trust: TrustSource | undefined): SecureChannel {
  if (trust === undefined)
    throw new MutiraoError(
      'MUT_LOOPBACK_ONLY',
      `this client has no identity to reach ${host} with; expected a socket, unix:/path`,
    );
  const { authority, user } = trust();
  const channelCredentials = credentials.createSsl(
    Buffer.from(authority),
    user === undefined ? null : Buffer.from(user.key),
    user === undefined ? null : Buffer.from(user.certificate),
    { checkServerIdentity: (_name: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate) },
  );
  // TLS carries the names of hosts only, not their addresses; which one is meant is checked above.
  const channelOptions = isIP(host) === 0 ? {} : { 'grpc.ssl_target_name_override': 'localhost' };
  return { channelCredentials, channelOptions, showsCertificate: user !== undefined };
}
