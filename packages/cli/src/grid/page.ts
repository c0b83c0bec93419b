import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { readToken } from '@mutirao/runtime/files';

import { isOurs } from './record.ts';

/** Where the process that serves the page of a home folder writes its address. */
export function webInfoPath(home: string): string {
  return join(home, 'web', 'web.json');
}

/** The page of a home folder, while it is served. */
export interface ServedPage {
  /** With the token behind `#`, which browsers send to nobody. */
  readonly url: string;
  readonly pid: number;
}

/** The page that is served now; undefined where none is. @throws {MutiraoError} MUT_TOKEN_UNSAFE */
export function findPage(home: string): ServedPage | undefined {
  let reported: { readonly address?: string; readonly pid?: number };
  try {
    reported = JSON.parse(readFileSync(webInfoPath(home), 'utf8')) as typeof reported;
  } catch {
    return undefined; // None was ever served.
  }
  const { address, pid } = reported;
  if (address === undefined || pid === undefined || !isOurs(pid, 'web')) return undefined;
  return { url: `http://${address}/#token=${readToken(join(home, 'web', 'token'))}`, pid };
}
