// Versions of a release: which may come next, and where they are written.

type Version = readonly [number, number, number];

function parseVersion(text: string): Version | undefined {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** The versions that may follow one: the next patch, minor and major. */
function nextVersions([major, minor, patch]: Version): string[] {
  return [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`];
}

/** Says why `next` cannot be released after `present`; undefined when it can. */
export function describeWrongVersion(present: string, next: string, isPresentReleased: boolean): string | undefined {
  const [from, to] = [parseVersion(present), parseVersion(next)];
  if (to === undefined || from === undefined)
    return `the version is "${next}"; expected three numbers, such as ${present}`;
  if (!isPresentReleased) {
    return next === present || nextVersions(from).includes(next)
      ? undefined
      : `the version is ${next}; expected ${present}, which has no tag yet, or one of ${nextVersions(from).join(', ')}`;
  }
  return nextVersions(from).includes(next)
    ? undefined
    : `the version is ${next}; expected one of ${nextVersions(from).join(', ')}, since ${present} is released`;
}

/** Says what the changelog lacks for a release: a section with its version and date, and an entry in it. */
export function describeMissingEntry(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find(
    (text) => text.replace('[', '').startsWith(version) && !/^[\d.]/.test(text.replace('[', '').slice(version.length)),
  );
  if (section === undefined) return `CHANGELOG.md has no section for ${version}; expected "## ${version} - YYYY-MM-DD"`;
  const [heading = '', ...entries] = section.split('\n');
  if (!/\d{4}-\d\d-\d\d/.test(heading))
    return `the section "${heading}" of CHANGELOG.md has no date; expected "## ${version} - YYYY-MM-DD"`;
  return entries.some((line) => /^\s*[-*] \S/.test(line))
    ? undefined
    : `the section "${heading}" of CHANGELOG.md has no entry`;
}

/** The text of a package.json with another version; nothing else changes. */
export function withVersion(manifest: string, version: string): string {
  return manifest.replace(/("version": *)"[^"]*"/, `$1"${version}"`);
}

/** The text of package-lock.json with another version for the root and each package of Mutirao. */
export function withLockedVersion(lock: string, version: string): string {
  const content = JSON.parse(lock) as { version?: string; packages: Record<string, { version?: string }> };
  content.version = version;
  for (const [path, entry] of Object.entries(content.packages))
    if (entry.version !== undefined && (path === '' || /^packages\/[^/]+$/.test(path))) entry.version = version;
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** The text of CITATION.cff with another version and the day of its release. */
export function withCitedVersion(citation: string, version: string, day: string): string {
  const cited = citation.replace(/^date-released:.*\n/m, '');
  return cited.replace(/^version:.*$/m, `version: ${version}\ndate-released: '${day}'`);
}
