// House rules that no linter knows, as ordinary tests.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { architectureMarkdown } from '../../scripts/states-rendering.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Tracked files and new ones that are not ignored. */
function files(...patterns: string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) => file !== '' && !/lint-fixtures\/|\/generated\//.test(file) && existsSync(root + file));
}

const read = (file: string): string => readFileSync(root + file, 'utf8');
const sources = files('*.ts', '*.tsx', '*.js', '*.mjs');

/** Names of the packages that a file imports, Node's own left out. */
function packagesImportedBy(file: string): string[] {
  const specifiers = [...read(file).matchAll(/(?:^import |^[^'`]*\bfrom |\bimport\()'([^'.][^']*)'/gm)].map(
    ([, specifier = '']) => specifier,
  );
  return specifiers
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}

test('every package declares the packages that it imports', (t) => {
  const undeclared: string[] = [];
  for (const file of files('packages/*/src/*.ts')) {
    const folder = file.split('/').slice(0, 2).join('/');
    const declared = JSON.parse(read(`${folder}/package.json`)) as {
      name: string;
      dependencies: Record<string, string>;
    };
    const known = new Set([declared.name, ...Object.keys(declared.dependencies)]);
    for (const name of packagesImportedBy(file)) if (!known.has(name)) undeclared.push(`${file} imports ${name}`);
  }
  t.deepEqual(undeclared, []);
});

interface LockedPackage {
  readonly link?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

for (const lock of ['package-lock.json', 'docs/.vitepress/package-lock.json'])
  test(`every package of ${lock} is pinned by the hash of its bytes, and comes from no other place than the registry`, (t) => {
    const { packages } = JSON.parse(read(lock)) as { packages: Record<string, LockedPackage> };
    const installed = Object.entries(packages).filter(
      ([path, { link }]) => path.includes('node_modules/') && link !== true,
    );
    t.true(installed.length > 100);
    for (const [path, { integrity = '', resolved }] of installed) {
      t.regex(
        integrity,
        /^sha512-[\w+/]{86}==$/,
        `${path} has no sha512 in ${lock}; "npm install --package-lock-only" writes it`,
      );
      t.is(resolved, undefined, `${path} is fetched from an address of its own`);
    }
  });

test('no package but those that are listed runs a script when it is installed, and none of them fetches a program', (t) => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> };
  const withScript = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.split('node_modules/').at(-1) ?? '');
  t.deepEqual(
    withScript.sort(),
    Object.keys(allowScripts).sort(),
    'read what a new script does before it is listed in "allowScripts" of package.json',
  );
  // Its own script would fetch the runtime by a name that no lock file pins.
  t.false(withScript.includes('node'));
});

test('nothing is left for later', (t) => {
  const marks = new RegExp(
    ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].map((word) => `\\b${word}\\b`).join('|'),
  );
  for (const file of sources.concat(files('*.md', '*.proto', 'scripts/*'))) t.notRegex(read(file), marks, file);
});

test('files are named in kebab case after what they hold, and none is a drawer', (t) => {
  for (const file of files('packages/*/src/*.ts', 'packages/*/test/*.ts', 'test/*.ts', 'bench/*.ts')) {
    const name = file.split('/').at(-1) ?? '';
    t.regex(name, /^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/, file);
    t.notRegex(name, /^(utils?|helpers?|misc|common-?utils)\.ts$/, file);
  }
});

test('every export of the core says what a caller can rely on', (t) => {
  const missing: string[] = [];
  for (const file of files('packages/core/src/*.ts').filter((name) => !name.endsWith('/index.ts'))) {
    const lines = read(file).split('\n');
    lines.forEach((line, index) => {
      if (!/^export (const|function|interface|type|class|abstract)/.test(line)) return;
      if (!(lines[index - 1] ?? '').trimEnd().endsWith('*/')) missing.push(`${file}:${index + 1} ${line.slice(0, 60)}`);
    });
  }
  t.deepEqual(missing, []);
});

test('no exported name of the core or of the API says a word that the glossary replaces', (t) => {
  const banned =
    /^(?:.*[a-z])?(Worker|PilotJob|Pilot|Booking|Slack|Peer|SiteManager|Attempt|Latency|Utils?|Helper)(?:[A-Z].*)?$/;
  const found: string[] = [];
  for (const file of files('packages/core/src/*.ts')) {
    for (const [, name = ''] of read(file).matchAll(/^export (?:const|function|interface|type|class) (\w+)/gm)) {
      if (banned.test(name.charAt(0).toUpperCase() + name.slice(1))) found.push(`${file} ${name}`);
    }
  }
  for (const file of files('proto/mutirao/*.proto')) {
    for (const [, name = ''] of read(file).matchAll(/^(?:message|enum|service|\s*rpc) (\w+)/gm))
      if (banned.test(name)) found.push(`${file} ${name}`);
  }
  t.deepEqual(found, []);
});

test('what leaves the type system carries its unit in its name', (t) => {
  const bare =
    /\b(?:walltime|duration|timeout|latency|size|memory|interval|deadline|elapsed|started|ended|submitted)\s*=\s*\d+;/;
  for (const file of files('proto/mutirao/*.proto')) {
    read(file)
      .split('\n')
      .forEach((line, index) => {
        if (/^\s*(optional )?(u?int(32|64)|double) /.test(line)) t.notRegex(line, bare, `${file}:${index + 1}`);
      });
  }
});

test('what the command line prints goes through the one place that knows what to do when it cannot be written', (t) => {
  const direct = /process\.stdout\b|console\.|process\.stderr\.write/;
  t.deepEqual(
    files('*.ts').filter((file) => /^packages\/(cli|runtime)\/src\//.test(file) && direct.test(read(file))),
    [],
  );
});

test('no test is skipped, focused or known to fail', (t) => {
  for (const file of files('*.test.ts')) t.notRegex(read(file), /\btest(\.serial)?\.(only|skip|failing|todo)\b/, file);
});

test('no file carries a folder of the machine it was written on, or the host of a package registry', (t) => {
  // These are on every machine, or those of the people in examples.
  const common = [
    '/',
    '/home',
    '/mnt',
    '/opt',
    '/srv',
    '/tmp',
    '/usr',
    '/var',
    '/var/tmp',
    ...['ana', 'mutirao', 'rosa', 'user'].map((name) => `/home/${name}`),
  ];
  const folders = [homedir(), dirname(root)].filter((folder) => !common.includes(folder)).map((folder) => `${folder}/`);
  const hosts = new RegExp(['registry[.]npmjs', 'pypi[.]org', 'deb[.]debian', 'arti' + 'factory'].join('|'), 'i');
  const found: string[] = [];
  for (const file of files().filter((name) => !/\.(png|gz)$/.test(name))) {
    const text = read(file);
    if (hosts.test(text) || folders.some((folder) => text.includes(folder))) found.push(file);
  }
  t.deepEqual(found, []);
});

test('trees are removed by removeTree alone, which stays out of what is mounted in them', (t) => {
  const recursive =
    /\brm(?:Sync)?\([^\n]*recursive|\brm -[a-z]*[rR]|\brmdir(?:Sync)?\([^\n]*recursive|\bfind [^\n]*-delete\b/;
  // The one shell function that does it, for hosts without Mutirao, and builds of our own checkout.
  const allowed = ['packages/runtime/src/files/removal/removal-script.ts', 'packages/web/client/build.mjs'];
  const shipped = files('packages/*.ts', 'packages/*.js', 'packages/*.mjs').filter(
    (file) => !/\/test\/|^packages\/testkit\/|\/dist\//.test(file) && !allowed.includes(file),
  );
  t.deepEqual(
    shipped.filter((file) => recursive.test(read(file).replaceAll(/^ *(?:\/\/|\*|\/\*\*).*$/gm, ''))),
    [],
  );
});

test('nothing asks for the name of the account where it may have none', (t) => {
  const asking = files('packages/*.ts').filter(
    (file) => !/\/test\/|^packages\/testkit\//.test(file) && /\buserInfo\(/.test(read(file)),
  );
  t.deepEqual(asking, ['packages/runtime/src/files/account.ts']);
});

/** The paths that a table cell names in backquotes, with alternatives in braces written out, below packages/. */
function pathsIn(cell: string): string[] {
  return [...cell.matchAll(/`([\w./*{},-]+)`/g)].flatMap(([, path = '']) => {
    const [, before = '', alternatives = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? ['', path];
    return alternatives.split(',').map((one) => before + one + after);
  });
}

/** Whether a path exists, below a package's `src` (`core/x` stands for `packages/core/src/x`) or below the root. */
function isPlace(path: string): boolean {
  const [top = '', ...rest] = path.replace(/\/\*$/, '').split('/');
  const inSource = ['packages', top, ...(rest[0] === 'src' ? [] : ['src']), ...rest].join('/');
  return existsSync(root + inSource) || existsSync(root + path);
}

test('the places that the glossary and the architecture name are there', (t) => {
  const glossary = read('GLOSSARY.md').matchAll(/^\|[^|]+\|[^|]+\|([^|]+)\|[^|]*\|$/gm);
  const concepts = read('ARCHITECTURE.md').split('| concept | code |')[1] ?? '';
  const cells = [
    ...[...glossary].map(([, cell = '']) => cell),
    ...[...(concepts.split('\n\n')[0] ?? '').matchAll(/^\|[^|]+\|([^|]+)\|$/gm)].map(([, cell = '']) => cell),
  ];
  const paths = cells.flatMap(pathsIn);
  t.true(paths.length > 120);
  t.deepEqual(
    paths.filter((path) => !isPlace(path)),
    [],
  );
});

test('the state diagrams of the architecture are those of the state types', (t) => {
  const page = read('ARCHITECTURE.md');
  t.is(page, architectureMarkdown(page), 'run scripts/generate and commit what it writes');
});

test('the architecture is read in one sitting, its decisions are records that are listed, and neither it nor the changelog has overlong lines', (t) => {
  const architecture = read('ARCHITECTURE.md');
  t.true(
    architecture.split('\n').length <= 301,
    'expected at most 300 lines in ARCHITECTURE.md; decisions go into docs/adr, details into docs',
  );
  for (const file of ['ARCHITECTURE.md', 'CHANGELOG.md']) {
    t.deepEqual(
      read(file)
        .split('\n')
        .flatMap((line, index) =>
          line.length > 160 ? [`${file}:${index + 1} has ${line.length} characters; expected at most 160`] : [],
        ),
      [],
    );
  }
  const records = files('docs/adr/0*.md').map((file) => file.slice('docs/adr/'.length));
  t.deepEqual(
    [...architecture.matchAll(/\(docs\/adr\/(0[^)]+)\)$/gm)].map(([, record]) => record),
    records,
  );
  for (const record of records)
    t.regex(
      read(`docs/adr/${record}`),
      /^# \d+\. .+\n\nDate: 20\d\d-\d\d-\d\d[^\n]* Status: [^\n]+\n\n## Context\n[^]+\n## Decision\n[^]+\n## Consequences\n[^]+/,
      record,
    );
});
