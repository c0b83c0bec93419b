// Proves that each fence stands: every rule is shown to fire on a planted violation.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { ESLint } from 'eslint';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixtures = `${root}test/lint-fixtures`;

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

async function violationsOfFixtures(): Promise<Violation[]> {
  const program = `${root}node_modules/dependency-cruiser/bin/dependency-cruiser.mjs`;
  const args = [program, 'packages', '--config', `${root}.dependency-cruiser.js`, '--output-type', 'json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: fixtures, maxBuffer: 1 << 26 });
  const report = JSON.parse(stdout) as { summary: { violations: Violation[]; totalCruised: number } };
  if (report.summary.totalCruised < 15) throw new Error(`only ${report.summary.totalCruised} modules were cruised`);
  return report.summary.violations;
}

test('each rule of dependency-cruiser fires on the file that names it', async (t) => {
  const violations = await violationsOfFixtures();
  const { default: config } = (await import(`${root}.dependency-cruiser.js`)) as {
    default: { forbidden: { name: string }[] };
  };
  for (const { name } of config.forbidden) {
    const fired = violations.filter((violation) => violation.rule.name === name);
    const named = fired.some(({ from }) => readFileSync(`${fixtures}/${from}`, 'utf8').includes(`// ${name}\n`));
    t.true(
      named,
      `${name} did not fire on its own fixture; it fired on ${fired.map(({ from }) => from).join(', ') || 'nothing'}`,
    );
  }
});

const expected: Readonly<Record<string, readonly string[]>> = {
  'packages/core/src/clock.ts': ['no-restricted-globals', 'no-restricted-properties', 'no-restricted-syntax'],
  'packages/core/test/timed.test.ts': ['no-restricted-globals', 'no-restricted-properties'],
  'packages/cli/src/long.ts': ['max-lines', 'max-lines-per-function'],
  'packages/cli/src/complex.ts': ['complexity'],
  'packages/cli/src/style.ts': [
    '@typescript-eslint/ban-ts-comment',
    '@typescript-eslint/consistent-type-imports',
    '@typescript-eslint/no-explicit-any',
    '@typescript-eslint/no-non-null-assertion',
    'eqeqeq',
    'max-params',
    'no-console',
  ],
};

test('each rule of ESLint fires where it is meant to', async (t) => {
  const eslint = new ESLint({
    cwd: fixtures,
    overrideConfigFile: `${root}eslint.config.js`,
  });
  for (const [file, rules] of Object.entries(expected)) {
    const [result] = await eslint.lintFiles([file]);
    const fired = new Set(result?.messages.map(({ ruleId }) => ruleId));
    for (const rule of rules) t.true(fired.has(rule), `${rule} did not fire on ${file}`);
  }
});

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

test('each rule that needs types, and the types themselves, are checked where they are meant to be', async (t) => {
  // Rules of its own for what is ignored: the fixtures.
  const config = JSON.parse(readFileSync(`${root}.oxlintrc.json`, 'utf8')) as { ignorePatterns: string[] };
  const folder = mkdtempSync(join(tmpdir(), 'mutirao-oxlint-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(`${folder}/oxlintrc.json`, JSON.stringify({ ...config, ignorePatterns: [] }));
  const args = [
    `${root}node_modules/oxlint/bin/oxlint`,
    '--config',
    `${folder}/oxlintrc.json`,
    '--type-aware',
    '--type-check',
    '--format',
    'json',
    'packages',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: fixtures }).catch(
    (error: unknown) => error as { stdout: string },
  );
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  const fired = diagnostics.map(({ code, filename }) => `${filename}: ${code}`);
  for (const rule of ['no-floating-promises', 'no-misused-promises', 'switch-exhaustiveness-check'])
    t.true(fired.includes(`packages/cli/src/style.ts: typescript(${rule})`), rule);
  t.true(fired.includes('packages/core/src/node-types.ts: typescript(TS2591)'), 'the core has no types of Node');
  t.true(fired.includes('packages/core/test/wrong-type.ts: typescript(TS2322)'), 'tests have types');
});

test('each ban of the core names the way out', async (t) => {
  const eslint = new ESLint({
    cwd: fixtures,
    overrideConfigFile: `${root}eslint.config.js`,
  });
  const [result] = await eslint.lintFiles(['packages/core/src/clock.ts']);
  const messages = result?.messages.map(({ message }) => message).join('\n') ?? '';
  for (const way of [
    'Time comes in',
    'Draw from the generator',
    'return a command',
    'their order is defined',
    'a simulation runs many cores',
    'Re-export explicit names',
  ]) {
    t.true(messages.includes(way), way);
  }
});
