import type { ReasonTable } from './parameters.ts';

/** Why a task of a resumed job runs, instead of reusing a result of the earlier job. */
export const resumptionReasons = {
  'rerun-no-match': {},
  'rerun-command-changed': {},
  'rerun-value-changed': { value: 'text', earlierValue: 'text' },
  'rerun-check-changed': {},
  'rerun-environment-changed': {},
  'rerun-verification-changed': {},
  'rerun-input-changed': { path: 'text' },
  'rerun-input-unknown': { path: 'text' },
  'rerun-inputs-differ': {},
  'rerun-outputs-differ': {},
  'rerun-more-tasks': {},
  'rerun-number-changed': {},
  'rerun-after-task': { taskIndex: 'number' },
  'rerun-output-gone': { path: 'text', readerTaskIndex: 'number' },
  'rerun-predecessors-differ': {},
  'rerun-not-finished': { jobId: 'number' },
  'rerun-result-doubtful': { jobId: 'number' },
  'rerun-outputs-conditional': {},
  'rerun-output-missing': { path: 'text' },
  'rerun-output-changed': { path: 'text' },
  'rerun-output-unrecorded': { path: 'text' },
} as const satisfies ReasonTable;
