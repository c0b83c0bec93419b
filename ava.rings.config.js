// The rings that need more than npm packages; their scripts see to it that it is there.
export default {
  extensions: ['ts'],
  files: ['test/sites/**/*.test.ts', 'test/compose/**/*.test.ts'],
  // A process for each file: Node's SQLite has been seen to crash in worker threads, and they are no faster here.
  workerThreads: false,
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '5m',
  concurrency: 1,
};
