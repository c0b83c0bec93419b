// The rings that need more than npm packages; their scripts see to it that it is there.
export default {
  extensions: ['ts'],
  files: ['test/sites/**/*.test.ts', 'test/compose/**/*.test.ts'],
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '5m',
  concurrency: 1,
};
