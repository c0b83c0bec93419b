/** A heading of `mutirao --help`, and the first words of the commands below it. */
export interface CommandGroup {
  readonly heading: string;
  readonly words: readonly string[];
}

/** The commands by task, in the order of `mutirao --help` and of the reference. */
export const commandGroups: readonly CommandGroup[] = [
  { heading: 'Start and stop a grid', words: ['up', 'down', 'status', 'web'] },
  {
    heading: 'Submit and watch jobs',
    words: ['job', 'task', 'parallel', 'workflow', 'explain', 'events', 'ledger', 'accounting', 'quota'],
  },
  { heading: 'Machines and clusters', words: ['machine', 'provider', 'site', 'request', 'cluster'] },
  { heading: 'Reservations', words: ['reservation'] },
  { heading: 'Services', words: ['run'] },
  { heading: 'Housekeeping', words: ['init', 'identity', 'backup', 'restore', 'completion'] },
  { heading: 'Simulation', words: ['sim'] },
  { heading: "OurGrid's names", words: ['addjob', 'waitforjob', 'canceljob'] },
];

/** What the commands that begin with one word are for. */
export const nounSummaries: Readonly<Record<string, string>> = {
  job: 'Jobs: submit, watch, cancel, retry, report.',
  task: 'Tasks of a job and their output.',
  machine: 'Machines of the grid: list, add, drain, trust.',
  provider: 'Providers, which obtain machines from clusters and labs.',
  site: 'Clusters that are used over ssh.',
  request: 'Allocation requests of the providers.',
  reservation: 'Reservations of resources.',
  cluster: 'Queues of the embedded clusters, for their local users.',
  explain: 'Why a task, job, machine, request or reservation is in its state.',
  workflow: 'Workflow files: check and convert.',
  sim: 'Simulations and studies; no task is run.',
  identity: 'Certificates of this host and its users.',
  run: 'Run one process of the grid in the foreground.',
};
