// Rules that need no types. Those that do, and the types themselves, are checked in one pass by oxlint (.oxlintrc.json), which is several times faster.
import tseslint from 'typescript-eslint';

const everywhere = {
  'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
  'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }],
  complexity: ['error', { max: 10, variant: 'modified' }],
  'max-params': ['error', 4],
  eqeqeq: 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'no-console': 'error',
  'object-shorthand': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/ban-ts-comment': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
};

const noExportStar = {
  selector: 'ExportAllDeclaration',
  message: 'Re-export explicit names, so that a package shows what it offers.',
};

/** What would let names and output of tasks become markup. */
const noMarkup = [
  {
    selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
    message: 'What the page shows is text, never markup.',
  },
  {
    selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]',
    message: 'What the page shows is text, never markup.',
  },
];

const coreSyntax = [
  noExportStar,
  { selector: ':function[async=true], AwaitExpression', message: 'The core never waits; return a command.' },
  { selector: 'NewExpression[callee.name="Promise"]', message: 'The core never waits; return a command.' },
  { selector: 'ForInStatement', message: 'Iterate a Map or an array; their order is defined.' },
  { selector: 'Program > VariableDeclaration[kind="let"]', message: 'No module state: a simulation runs many cores.' },
];

const realTime = [
  { name: 'Date', message: 'Time comes in as `now`.' },
  { name: 'setTimeout', message: 'No real time here: return a WakeAt command, or inject a clock.' },
  { name: 'setInterval', message: 'No real time here: return a WakeAt command, or inject a clock.' },
];

export default tseslint.config(
  {
    ignores: [
      '**/generated/**',
      'test/lint-fixtures/**',
      '**/*.js',
      '**/*.mjs',
      '**/*.cjs',
      '**/node_modules/**',
      '.cache/**',
    ],
  },
  {
    files: ['**/*.ts'],
    languageOptions: { parser: tseslint.parser },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: { ...everywhere, 'no-restricted-syntax': ['error', noExportStar] },
  },
  {
    // The page has a window and no Node: a project of its own.
    files: ['packages/web/client/**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: { ...everywhere, 'no-restricted-syntax': ['error', noExportStar, ...noMarkup] },
  },
  {
    files: ['packages/core/src/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...realTime],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Draw from the generator in the state.' },
      ],
      'no-restricted-syntax': ['error', ...coreSyntax],
    },
  },
  {
    files: ['packages/*/test/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...realTime],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'No real time in tests outside test/.' },
      ],
    },
  },
  {
    files: ['**/test/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // A table of cases is one long function without being a complicated one.
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['bench/**/*.ts', 'scripts/**/*.ts'], rules: { 'no-console': 'off' } },
  // Tables, read from top to bottom.
  {
    files: ['packages/api/src/errors/registry.ts', 'packages/testkit/src/*-harness.ts'],
    rules: { 'max-lines': 'off' },
  },
);
