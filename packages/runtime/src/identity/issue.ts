import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type * as Library from '@peculiar/x509';
import type { Duration, Instant } from '@mutirao/core/shared';

/** A certificate and its private key, both as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** How long certificates are good for. */
export interface Validity {
  readonly now: Instant;
  readonly lasts: Duration;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** Certificates are backdated by this time, since the clocks of hosts differ. */
const headStart = 24 * 3_600_000;

/** Loaded only where certificates are made. */
async function loadLibrary(): Promise<typeof Library> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/**
 * Makes an authority: what it signs, those who know its certificate take. @param name for people, who may have several.
 */
export async function makeAuthority(name: string, validity: Validity): Promise<KeyPair> {
  const x509 = await loadLibrary();
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...getDates(validity),
    serialNumber: makeSerial(),
    name: [{ CN: [name] }],
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await keyText(keys) };
}

/** Makes a user's certificate, which only clients can show. */
export function issueForUser(authority: KeyPair, user: string, validity: Validity): Promise<KeyPair> {
  return issue(authority, { name: user, hosts: [] }, validity);
}

/** Makes a host's certificate, which only servers can show. @param hosts names and IP addresses, one or more. */
export function issueForHosts(authority: KeyPair, hosts: readonly string[], validity: Validity): Promise<KeyPair> {
  return issue(
    authority,
    { name: hosts.find((host) => isIP(host) === 0 && host.length <= 64) ?? 'host', hosts },
    validity,
  );
}

interface Subject {
  readonly name: string;
  /** Empty for a user. */
  readonly hosts: readonly string[];
}

async function issue(authority: KeyPair, { name, hosts }: Subject, validity: Validity): Promise<KeyPair> {
  const x509 = await loadLibrary();
  const keys = await makeKeys();
  const signer = new x509.X509Certificate(authority.certificate);
  const ends = Math.min(validity.now + validity.lasts, signer.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create({
    ...getDates(validity),
    notAfter: new Date(ends),
    serialNumber: makeSerial(),
    subject: [{ CN: [name] }],
    issuer: signer.subject,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await readKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        hosts.length === 0 ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth,
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(signer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(hosts.length === 0
        ? []
        : [
            new x509.SubjectAlternativeNameExtension(
              hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
            ),
          ]),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await keyText(keys) };
}

function getDates({ now, lasts }: Validity): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - headStart), notAfter: new Date(now + lasts) };
}

/** Positive, and never the same twice. */
function makeSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function keyText({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  return (
    `-----BEGIN PRIVATE KEY-----\n${bytes.toString('base64').replace(/.{64}(?!$)/g, '$&\n')}\n-----END PRIVATE ` +
    'KEY-----\n'
  );
}

function readKey(pem: string): Promise<webcrypto.CryptoKey> {
  const bytes = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return webcrypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']);
}

/** The names that a host's certificate holds. */
export function listHosts(certificate: string): string[] {
  const listed = new X509Certificate(certificate).subjectAltName ?? '';
  const names = listed
    .split(', ')
    .map((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? '')
    .filter((name) => name !== '');
  // IPv6 is listed at full length.
  return names.map((name) => (isIP(name) === 6 ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name));
}
