import { availableParallelism } from 'node:os';

export default {
  extensions: ['ts'],
  // The second and third rings have scripts of their own.
  files: [
    'packages/*/test/**/*.test.ts',
    'test/**/*.test.ts',
    '!test/sites/**',
    '!test/compose/**',
    '!test/lint-fixtures/**',
  ],
  // A process for each file: Node's SQLite has been seen to crash in worker threads, and they are no faster here.
  workerThreads: false,
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  // Files whose tests wait for processes leave half of a core idle.
  concurrency: availableParallelism() + 1,
  // How long no test at all may end. Slow machines need minutes while all files that run are long ones.
  timeout: '5m',
};
