import manifest from '../../../package.json' with { type: 'json' };

/** The release of this Mutirao, from the root's package.json. */
export function programVersion(): string {
  return manifest.version;
}
