import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { siteFolder, siteNames, writeAtomic } from '@mutirao/runtime/files';

/** What the user said about a site, and where its provider is reached; `sites/NAME/site.json`. */
export interface SiteRecord {
  /** Of the site, and of its provider. */
  readonly name: string;
  /** `user@host`, or a name of `~/.ssh/config`. */
  readonly ssh: string;
  readonly sshOptions: readonly string[];
  readonly manager: string;
  /** Processors of the embedded cluster that is started there; 0 where Mutirao starts none. */
  readonly processors: number;
  /** Further options of the provider. */
  readonly providerOptions: readonly string[];
  /** The folder there; relative to the user's home. */
  readonly folder: string;
  /** A shell command that is run there before our processes are started; empty for none. */
  readonly setup: string;
  /** The executable to carry over; empty for that of this release. */
  readonly program: string;
  /**
   * What leads to the provider here: `unix:/path`, or `host:port` where a former release kept it; empty before the
   * first connection.
   */
  readonly address: string;
  /** The site has worked: from then on its troubles are waited for. */
  readonly isSynced: boolean;
  readonly addedUnixMs: number;
}

/** What the process that keeps a site's connection is doing; `sites/NAME/state.json`. */
export interface SiteState {
  readonly pid: number;
  readonly status: 'connecting' | 'copying' | 'starting' | 'connected' | 'waiting' | 'failed' | 'stopped';
  readonly sinceUnixMs: number;
  /** What went wrong, or a remark. */
  readonly detail: string;
  /** Of the error; empty without one. */
  readonly code: string;
  /** What is known of the site's host; kept while there is no connection. */
  readonly host: HostFacts | undefined;
}

/** A site's host as it was found. */
export interface HostFacts {
  /** As `uname -sm` has it. */
  readonly system: string;
  /** Absolute path of our folder there. */
  readonly base: string;
  readonly providerPid: number;
  readonly providerAddress: string;
  /** Hash of the executable that the provider runs. */
  readonly program: string;
  /** Another release than this one runs there until it is idle. */
  readonly isOutdated: boolean;
}

/** A site's record. @throws {MutiraoError} MUT_NOT_FOUND */
export function readSite(home: string, name: string): SiteRecord {
  const found = findSite(home, name);
  if (found !== undefined) return found;
  const names = siteNames(home).join(', ');
  throw new MutiraoError(
    'MUT_NOT_FOUND',
    `no site is named "${name}"; ${names === '' ? 'there are none' : `there are ${names}`}`,
  );
}

/** A site's record; undefined where there is none. */
export function findSite(home: string, name: string): SiteRecord | undefined {
  return /^[\w.-]+$/.test(name)
    ? (readJson(join(siteFolder(home, name), 'site.json')) as SiteRecord | undefined)
    : undefined;
}

/** All sites of a home folder, by name. */
export function readSites(home: string): SiteRecord[] {
  return siteNames(home)
    .map((name) => findSite(home, name))
    .filter((site) => site !== undefined);
}

/** Writes a site's record. */
export function writeSite(home: string, site: SiteRecord): void {
  writeAtomic(join(siteFolder(home, site.name), 'site.json'), `${JSON.stringify(site, undefined, 2)}\n`);
}

/** The last reported state of a site's connection; undefined before the first report. */
export function findState(home: string, name: string): SiteState | undefined {
  return readJson(join(siteFolder(home, name), 'state.json')) as SiteState | undefined;
}

/** Writes the state of a site's connection. */
export function writeState(home: string, name: string, state: SiteState): void {
  writeAtomic(join(siteFolder(home, name), 'state.json'), `${JSON.stringify(state)}\n`);
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // Not there; half a file is never seen.
  }
}
