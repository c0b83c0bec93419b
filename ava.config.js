export default {
  extensions: ['ts'],
  // The second and third rings have scripts of their own.
  files: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', '!test/sites/**', '!test/compose/**', '!test/lint-fixtures/**'],
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '2m',
};
