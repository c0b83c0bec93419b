// Makes releases in small repositories of their own, whose packing is recorded and not done.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { describeMissingEntry, describeWrongVersion } from '../../scripts/releasing/versions.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const identity = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

class Repository {
  readonly #folder: string;

  constructor(t: ExecutionContext) {
    this.#folder = temporaryFolder(t);
    for (const path of ['scripts/release', 'scripts/releasing', 'CITATION.cff'])
      cpSync(join(root, path), join(this.#folder, path), { recursive: true });
    mkdirSync(join(this.#folder, 'packages/core'), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
    for (const name of ['breaking', 'pack'])
      writeFileSync(join(this.#folder, 'scripts', name), `#!/bin/sh\necho "${name} $*" >> .git/called\n`, {
        mode: 0o755,
      });
    this.write('.gitignore', 'node_modules\n');
    this.write(
      'package.json',
      '{ "name": "mutirao", "type": "module", "version": "0.1.0", "devDependencies": { "ava": "8.0.0" } }\n',
    );
    this.write('packages/core/package.json', '{ "name": "@mutirao/core", "version": "0.1.0" }\n');
    this.write(
      'package-lock.json',
      JSON.stringify({
        version: '0.1.0',
        packages: {
          '': { version: '0.1.0' },
          'packages/core': { version: '0.1.0' },
          'node_modules/ava': { version: '8.0.0' },
        },
      }),
    );
    this.write(
      'CHANGELOG.md',
      '# Changelog\n\n## [0.2.0] - 2026-01-02\n\n- It is faster.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n',
    );
    this.git('init', '--quiet');
    this.commit();
    this.git('tag', 'v0.1.0');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.#folder, file), text);
  }

  read(file: string): string {
    return readFileSync(join(this.#folder, file), 'utf8');
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd: this.#folder,
      encoding: 'utf8',
      env: { ...process.env, ...identity },
    }).trim();
  }

  commit(): void {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'a');
  }

  release(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync('scripts/release', args, {
      cwd: this.#folder,
      encoding: 'utf8',
      env: { ...process.env, ...identity },
    });
  }

  /** The scripts that were called, a line each. */
  called(): string {
    return existsSync(join(this.#folder, '.git/called')) ? this.read('.git/called') : '';
  }
}

test('a dry run makes the checks, says each step, and changes nothing', (t) => {
  const repository = new Repository(t);
  const before = repository.git('rev-parse', 'HEAD');
  const { status, stdout, stderr } = repository.release('0.2.0', '--dry-run');
  t.is(stderr, '');
  t.is(status, 0);
  t.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['would set', 'would keep', 'would commit', 'would make', 'would tag'],
  );
  t.is(repository.git('status', '--porcelain'), '');
  t.is(repository.git('rev-parse', 'HEAD'), before);
  t.is(repository.git('tag'), 'v0.1.0');
  t.is(repository.called(), 'breaking \n');
});

test('a release sets all versions, keeps the API, packs, and tags its commit', (t) => {
  const repository = new Repository(t);
  const { status, stderr } = repository.release('0.2.0');
  t.is(status, 0, stderr);
  t.is(
    repository.read('package.json'),
    '{ "name": "mutirao", "type": "module", "version": "0.2.0", "devDependencies": { "ava": "8.0.0" } }\n',
  );
  t.is(repository.read('packages/core/package.json'), '{ "name": "@mutirao/core", "version": "0.2.0" }\n');
  const { packages } = JSON.parse(repository.read('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  t.deepEqual(
    Object.values(packages).map(({ version }) => version),
    ['0.2.0', '0.2.0', '8.0.0'],
  );
  t.regex(repository.read('CITATION.cff'), /^version: 0\.2\.0\ndate-released: '\d{4}-\d\d-\d\d'$/m);
  t.is(repository.called(), 'breaking \nbreaking --keep\npack \n');
  t.is(repository.git('log', '-1', '--format=%s', 'v0.2.0'), 'release: 0.2.0');
  t.is(repository.git('status', '--porcelain'), '');
});

test('a release is refused with everything that stands in its way, and nothing is changed', (t) => {
  const repository = new Repository(t);
  repository.write('new.txt', 'new');
  const { status, stderr } = repository.release('0.3.0');
  t.is(status, 3);
  t.regex(stderr, /the version is 0\.3\.0; expected one of 0\.1\.1, 0\.2\.0, 1\.0\.0/);
  t.regex(stderr, /the working tree has changes/);
  t.regex(stderr, /CHANGELOG\.md has no section for 0\.3\.0/);
  t.is(repository.git('status', '--porcelain'), '?? new.txt');
  t.is(repository.release().status, 2);
  repository.write('new.txt', 'new');
  repository.commit();
  repository.write('scripts/breaking', '#!/bin/sh\necho field gone\nexit 100\n');
  repository.commit();
  t.regex(repository.release('0.2.0', '--dry-run').stderr, /breaks programs of the last release:\nfield gone/);
  t.regex(repository.release('0.1.0').stderr, /the tag v0\.1\.0 exists/);
});

test('the version after one is its next patch, minor or major, and a first release may keep its own', (t) => {
  t.is(describeWrongVersion('0.1.0', '0.1.0', false), undefined);
  t.regex(describeWrongVersion('0.1.0', '0.1.0', true) ?? '', /since 0\.1\.0 is released/);
  for (const next of ['1.2.4', '1.3.0', '2.0.0']) t.is(describeWrongVersion('1.2.3', next, true), undefined);
  for (const next of ['1.2.5', '1.3.1', '3.0.0', '1.2.2', 'v1.2.4', '1.2', '1.2.04', ''])
    t.is(typeof describeWrongVersion('1.2.3', next, true), 'string', next);
});

test('the changelog needs a dated section with an entry', (t) => {
  t.is(describeMissingEntry('# C\n\n## 0.1.0 - 2026-01-01\n\n### Added\n\n- A.\n', '0.1.0'), undefined);
  t.regex(describeMissingEntry('## 0.1.0, unreleased\n\n- A.\n', '0.1.0') ?? '', /has no date/);
  t.regex(
    describeMissingEntry('## [0.1.0] - 2026-01-01\n\n## [0.0.9] - 2025-01-01\n\n- A.\n', '0.1.0') ?? '',
    /has no entry/,
  );
  t.regex(describeMissingEntry('## 0.1.01 - 2026-01-01\n\n- A.\n', '0.1.0') ?? '', /has no section/);
});

test('every package of Mutirao and the citation have the version of the whole', (t) => {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  for (const name of readdirSync(join(root, 'packages')))
    t.is((JSON.parse(read(`packages/${name}/package.json`)) as { version: string }).version, version, name);
  t.is(/^version: (.*)$/m.exec(read('CITATION.cff'))?.[1], version);
});
