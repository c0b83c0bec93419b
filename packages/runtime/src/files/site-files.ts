import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readToken } from './token.ts';

/** Where a home folder keeps what it knows of a site. */
export function siteFolder(home: string, name: string): string {
  return join(home, 'sites', name);
}

/** The names of a home folder's sites, sorted. */
export function siteNames(home: string): string[] {
  try {
    return readdirSync(join(home, 'sites'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

/** The token that a provider wants: its site's own, or `token`, that of the home folder. */
export function tokenOfProvider(home: string, providerId: string, token: string): string {
  return siteNames(home).includes(providerId) ? (findSiteToken(home, providerId) ?? token) : token;
}

/** The token of the site whose provider has this address here; undefined if no site has it. */
export function findSiteTokenAt(home: string, address: string): string | undefined {
  const name = siteNames(home).find((site) => readAddress(home, site) === address);
  return name === undefined ? undefined : findSiteToken(home, name);
}

/** Undefined before the site was connected for the first time, and where the file is not as it should be. */
function findSiteToken(home: string, name: string): string | undefined {
  try {
    return readToken(join(siteFolder(home, name), 'token'));
  } catch {
    return undefined;
  }
}

function readAddress(home: string, name: string): unknown {
  try {
    return (JSON.parse(readFileSync(join(siteFolder(home, name), 'site.json'), 'utf8')) as { address?: unknown })
      .address;
  } catch {
    return undefined;
  }
}
