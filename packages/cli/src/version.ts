import { readFileSync } from 'node:fs';

/** The release of this Mutirao, from the root's package.json. */
export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string };
  return version;
}
