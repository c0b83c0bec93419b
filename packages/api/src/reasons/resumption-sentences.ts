import type { Catalogue } from './catalogue.ts';

/** Why a task of a resumed job runs: parts of sentences. */
export const resumptionSentences = {
  'rerun-no-match': () => 'no earlier task is like it',
  'rerun-command-changed': () => 'its command changed',
  'rerun-value-changed': ({ value, earlierValue }) =>
    `its value changed from ${JSON.stringify(earlierValue)} to ${JSON.stringify(value)}`,
  'rerun-check-changed': () => 'its check changed',
  'rerun-environment-changed': () => 'its environment changed',
  'rerun-verification-changed': () => 'its results are verified in another way',
  'rerun-input-changed': ({ path }) => `its input ${path} changed`,
  'rerun-input-unknown': ({ path }) =>
    `its input ${path} has a path that depends on the task, so whether it changed is unknown`,
  'rerun-inputs-differ': () => 'it has other inputs',
  'rerun-outputs-differ': () => 'it has other outputs',
  'rerun-more-tasks': () => 'the job has more tasks like it than before',
  'rerun-number-changed': () =>
    'its command or paths contain the number of the job, or an index ({#}, $TASK) that changed',
  'rerun-after-task': ({ taskIndex }) => `it waits for task ${taskIndex}, which runs`,
  'rerun-output-gone': ({ path, readerTaskIndex }) =>
    `its output ${path} is no longer stored, and task ${readerTaskIndex} reads it`,
  'rerun-predecessors-differ': () => 'it waits for other tasks than before',
  'rerun-not-finished': ({ jobId }) => `it did not finish in job ${jobId}`,
  'rerun-result-doubtful': ({ jobId }) => `its result in job ${jobId} is in doubt`,
  'rerun-outputs-conditional': () => 'which outputs it has depends on its machine',
  'rerun-output-missing': ({ path }) => `its output ${path} is gone`,
  'rerun-output-changed': ({ path }) => `its output ${path} was changed`,
  'rerun-output-unrecorded': ({ path }) => `its output ${path} is not on record`,
} satisfies Partial<Catalogue>;
