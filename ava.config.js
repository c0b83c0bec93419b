export default {
  extensions: ['ts'],
  // The second and third rings have scripts of their own.
  files: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', '!test/sites/**', '!test/compose/**', '!test/lint-fixtures/**'],
  // A process for each file: Node's SQLite has been seen to crash in worker threads, and they are no faster here.
  workerThreads: false,
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '2m',
};
