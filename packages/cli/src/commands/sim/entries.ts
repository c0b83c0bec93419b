import type { CommandEntry } from '../command-entry.ts';

/** The commands of `mutirao sim`, in the order of its help. */
export const simEntries: readonly CommandEntry[] = [
  {
    path: ['sim', 'schedule'],
    summary: 'Plan a workflow on the processors listed in a file.',
    json: { shape: 'workflow_schedule', form: 'one' },
    load: () => import('./schedule.ts'),
  },
  {
    path: ['sim', 'trace'],
    summary: 'Replay a workload log on a simulated cluster.',
    json: { shape: 'trace_replay', form: 'one' },
    load: () => import('./trace.ts'),
  },
  {
    path: ['sim', 'job'],
    summary: 'Run grid jobs at random instants of a workload log on a simulated cluster.',
    json: { shape: 'job_simulation', form: 'one' },
    load: () => import('./job.ts'),
  },
  {
    path: ['sim', 'study'],
    summary: 'Repeat a published study, or continue one that was interrupted.',
    json: { shape: 'study', form: 'one' },
    load: () => import('./study.ts'),
  },
  {
    path: ['sim', 'study-chunk'],
    summary: 'Run one part of a study, as a task of a job does.',
    json: { shape: 'study_part', form: 'one' },
    load: () => import('./study-chunk.ts'),
  },
  {
    path: ['sim', 'replay'],
    summary: 'Replay the debugging trace of a process, and compare its decisions.',
    json: { shape: 'machine_replay', form: 'one' },
    load: () => import('./replay.ts'),
  },
  {
    path: ['sim', 'swarm'],
    summary: 'Simulate whole grids with random faults, and report each failure.',
    json: { shape: 'swarm', form: 'one' },
    load: () => import('./swarm.ts'),
  },
];
