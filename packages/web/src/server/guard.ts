import { MutiraoError } from '@mutirao/api/errors';
import type { TokenCheck } from '@mutirao/runtime/rpc';

import { AdvisedError } from './problems.ts';

/** What of a request decides whether it is let in. */
export interface Knock {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /**
   * What the browser says of where the request comes from: `same-origin`, `same-site`, `cross-site`, `none` (typed by
   * the user); undefined from other programs.
   */
  readonly fetchSite: string | undefined;
  readonly authorization: string | undefined;
}

/** The names by which a server at a port of the loopback interface may be called. */
export function loopbackHosts(port: number): ReadonlySet<string> {
  return new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]);
}

/**
 * Admits a request or refuses it. A foreign name that resolves to this host (DNS rebinding) is refused, and a request
 * from another page cannot act, token or not.
 *
 * @param needsToken false for the files of the page itself, which hold nothing of anybody's.
 * @throws {MutiraoError} MUT_WEB_ORIGIN_FORBIDDEN; MUT_UNAUTHENTICATED, which says nothing of the token that was shown.
 */
export function admit(
  knock: Knock,
  hosts: ReadonlySet<string>,
  { needsToken, tokens }: { readonly needsToken: boolean; readonly tokens: TokenCheck },
): void {
  requireOwnName(knock, hosts);
  if (!needsToken) return;
  const { fetchSite = 'none', authorization = '' } = knock;
  if (fetchSite !== 'same-origin' && fetchSite !== 'none')
    throw new MutiraoError(
      'MUT_WEB_ORIGIN_FORBIDDEN',
      `the request comes from another page (${fetchSite.slice(0, 20)})`,
    );
  const [, token] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization) ?? [];
  if (token === undefined || tokens(token) === undefined)
    throw new AdvisedError(
      'MUT_UNAUTHENTICATED',
      'the token is missing, or the page has been started again since',
      'Open the page by the address that "mutirao web" prints. Programs send the content of MUTIRAO_HOME/web/token ' +
        '(default: ~/.mutirao/web/token) as "Authorization: Bearer TOKEN".',
    );
}

function requireOwnName({ host = '', origin }: Knock, hosts: ReadonlySet<string>): void {
  const name = host.toLowerCase();
  if (!hosts.has(name))
    throw new MutiraoError(
      'MUT_WEB_ORIGIN_FORBIDDEN',
      'the request names another host; expected 127.0.0.1 or localhost with the port of the page',
    );
  if (origin !== undefined && origin.toLowerCase() !== `http://${name}`)
    throw new MutiraoError('MUT_WEB_ORIGIN_FORBIDDEN', 'the request comes from another page');
}

/**
 * The headers of every answer: nothing runs on the page but its own files, nobody frames it, and no type is guessed.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
};
