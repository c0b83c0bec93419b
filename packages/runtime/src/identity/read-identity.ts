import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import type { KeyPair } from './issue.ts';

/**
 * Reads a certificate. @throws {MutiraoError} MUT_BAD_CONFIG when it is not there or none; `wayOut` says what to do
 * then.
 */
export function readCertificate(path: string, wayOut: string): string {
  const text = readText(path, wayOut);
  parseCertificate(text, path);
  return text;
}

/** Understands a certificate. @param from names it in messages. @throws {MutiraoError} MUT_BAD_CONFIG */
export function parseCertificate(text: string | Buffer, from: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new MutiraoError('MUT_BAD_CONFIG', `${from} holds no certificate; expected PEM text`, { cause: error });
  }
}

/**
 * Reads a certificate and its key.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG when one of them is not there or they do not belong together; MUT_TOKEN_UNSAFE
 * when others may read the key.
 */
export function readKeyPair(certificatePath: string, keyPath: string, wayOut: string): KeyPair {
  const certificate = readCertificate(certificatePath, wayOut);
  const key = readText(keyPath, wayOut);
  const mode = statSync(keyPath).mode & 0o777;
  if ((mode & 0o077) !== 0)
    throw new MutiraoError('MUT_TOKEN_UNSAFE', `${keyPath} has mode ${mode.toString(8)}; expected 600`);
  if (!belongTogether(certificate, key))
    throw new MutiraoError('MUT_BAD_CONFIG', `${keyPath} is not the key of ${certificatePath}; ${wayOut}`);
  return { certificate, key };
}

function belongTogether(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // Not a key at all: the user fixes that in the same way.
  }
}

function readText(path: string, wayOut: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${path} ${code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`}; ${wayOut}`,
      { cause: error },
    );
  }
}

/** @throws {MutiraoError} MUT_BAD_CONFIG unless the certificate is good at this moment. */
export function requireInDate(
  certificate: string,
  { path, now, wayOut }: { readonly path: string; readonly now: number; readonly wayOut: string },
): void {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  if (now > validToDate.getTime())
    throw new MutiraoError('MUT_BAD_CONFIG', `${path} has expired on ${validToDate.toISOString()}; ${wayOut}`);
  if (now < validFromDate.getTime()) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${path} is good from ${validFromDate.toISOString()} on, and this host's clock says ` +
        `${new Date(now).toISOString()}; set the clock`,
    );
  }
}
