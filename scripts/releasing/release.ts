/**
 * Makes a release. All checks come first, so that a refusal leaves everything as it was.
 *
 * Usage: node scripts/releasing/release.ts VERSION [--dry-run]
 * Exit status 0: released, or it could be; 2: wrong use; 3: something is missing, and it is named.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  describeMissingEntry,
  describeWrongVersion,
  withCitedVersion,
  withLockedVersion,
  withVersion,
} from './versions.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
});
const [version = ''] = positionals;
const isDry = values['dry-run'];
const read = (file: string): string => readFileSync(root + file, 'utf8');
const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

function fail(status: number, reasons: readonly string[]): never {
  for (const reason of reasons) console.error(`release: ${reason}`);
  process.exit(status);
}

/** Everything that stands in the way of the release. */
function findObstacles(): string[] {
  const present = (JSON.parse(read('package.json')) as { version: string }).version;
  const isReleased = (one: string): boolean => git('tag', '--list', `v${one}`) !== '';
  const changes = git('status', '--porcelain');
  const breaking = spawnSync('scripts/breaking', { cwd: root, encoding: 'utf8' });
  return [
    describeWrongVersion(present, version, isReleased(present)),
    isReleased(version) ? `the tag v${version} exists` : undefined,
    changes === '' ? undefined : `the working tree has changes; commit or remove them:\n${changes}`,
    describeMissingEntry(read('CHANGELOG.md'), version),
    breaking.status === 0
      ? undefined
      : `the API breaks programs of the last release:\n${breaking.stdout}${breaking.stderr}`,
  ].filter((obstacle) => obstacle !== undefined);
}

function setVersions(): void {
  for (const file of ['package.json', ...globSync('packages/*/package.json', { cwd: root })])
    writeFileSync(root + file, withVersion(read(file), version));
  writeFileSync(`${root}package-lock.json`, withLockedVersion(read('package-lock.json'), version));
  const day = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
  writeFileSync(`${root}CITATION.cff`, withCitedVersion(read('CITATION.cff'), version, day));
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

const steps: readonly (readonly [string, () => void])[] = [
  [`set version ${version} in package.json, packages/*/package.json, package-lock.json and CITATION.cff`, setVersions],
  [
    'keep proto/ as released in proto/released.binpb',
    () => {
      run('scripts/breaking', '--keep');
    },
  ],
  [
    `commit "release: ${version}"`,
    () => {
      // The release of what stands in the manifests already may have nothing to commit but its date.
      run('git', 'add', '--all');
      run('git', 'commit', '--quiet', '--allow-empty', '--message', `release: ${version}`);
    },
  ],
  [
    'make dist/mutirao and dist/mutirao.gz',
    () => {
      run('scripts/pack');
    },
  ],
  [
    `tag v${version}`,
    () => {
      run('git', 'tag', '--annotate', `v${version}`, '--message', `Mutirao ${version}`);
    },
  ],
];

if (positionals.length !== 1) fail(2, ['expected one version, as in: scripts/release 0.2.0 [--dry-run]']);
const obstacles = findObstacles();
if (obstacles.length > 0) fail(3, obstacles);
for (const [what, perform] of steps) {
  console.log(`${isDry ? 'would ' : ''}${what}`);
  if (!isDry) perform();
}
if (!isDry) console.log(`Released ${version} here. To publish it: git push --follow-tags`);
