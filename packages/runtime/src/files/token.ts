import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { makePrivateFile } from './make-private-file.ts';

/** The token file of a home folder. */
export function tokenPath(home: string): string {
  return join(home, 'token');
}

/**
 * The file of the token that reads /metrics of the processes of a home folder, and nothing else: it is shown over plain
 * HTTP.
 */
export function metricsTokenPath(home: string): string {
  return join(home, 'metrics-token');
}

/** A new token: 256 random bits in base64url. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Reads a token file.
 *
 * @throws {MutiraoError} MUT_UNAUTHENTICATED when it is not there; MUT_TOKEN_UNSAFE when others may read it or it holds
 * no token.
 */
export function readToken(path: string): string {
  const mode = getMode(path);
  if (mode === undefined) throw new MutiraoError('MUT_UNAUTHENTICATED', `there is no token file ${path}`);
  if ((mode & 0o077) !== 0)
    throw new MutiraoError('MUT_TOKEN_UNSAFE', `${path} has mode ${mode.toString(8)}; expected 600`);
  const token = readFileSync(path, 'utf8').trim();
  if (token.length < 16)
    throw new MutiraoError(
      'MUT_TOKEN_UNSAFE',
      `${path} holds ${token.length} characters; expected a token of 16 or more`,
    );
  return token;
}

/**
 * Reads a token file, after making it with a new token if it is absent. Processes that start at once agree on one.
 * @throws {MutiraoError} MUT_TOKEN_UNSAFE
 */
export function ensureToken(path: string): string {
  if (getMode(path) === undefined) makePrivateFile(path, `${makeToken()}\n`);
  return readToken(path);
}

function getMode(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o777;
}
