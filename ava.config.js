export default {
  extensions: ['ts'],
  files: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '2m',
};
