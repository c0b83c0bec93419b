import { quoteForShell } from '@mutirao/core/bag';

/** A command of another system, and ours. */
export interface ForeignCommand {
  /** The words of our command; empty where there is none. */
  readonly ours: readonly string[];
  /** What stands for the arguments where the user gave none. */
  readonly argument: string;
  /** Further remarks for the user. */
  readonly why: string;
}

const use = (ours: string, argument = '', why = ''): ForeignCommand => ({
  ours: ours.split(' ').filter((word) => word !== ''),
  argument,
  why,
});

const submit = use('job submit --', 'COMMAND');
const list = use('job list');
const wait = use('job wait', 'last');
const show = use('job show', 'last');
const cancel = use('job cancel', 'last');
const output = use('task output', 'last');
const retry = use('job retry', 'last');
const machines = use('machine list');
const drain = use('provider drain', 'NAME');
const undrain = use('provider undrain', 'NAME');
const noPause = use(
  '',
  '',
  'Tasks that run cannot be paused. "mutirao job hold N" starts no more of a job, and "mutirao job release N" goes on.',
);

/**
 * By the words that a user of Slurm, HTCondor, HyperQueue, GNU parallel, Kubernetes or Docker would try; `*` is any
 * command of that noun.
 */
export const foreignCommands: Readonly<Record<string, ForeignCommand>> = {
  submit,
  sbatch: submit,
  qsub: submit,
  bsub: submit,
  condor_submit: submit,
  srun: use('job submit --wait --', 'COMMAND'),
  exec: submit,
  start: use('up'),
  serve: use('up'),
  server: use('up'),
  worker: use('up'),
  create: submit,
  apply: submit,
  spawn: submit,
  queue: list,
  ls: list,
  ps: list,
  list,
  jobs: list,
  squeue: list,
  qstat: list,
  condor_q: list,
  top: use('status'),
  get: list,
  history: list,
  sacct: list,
  bjobs: list,
  logs: output,
  log: output,
  cat: output,
  output,
  tail: output,
  stdout: output,
  show,
  describe: show,
  inspect: show,
  info: use('status'),
  why: use('explain job', 'last'),
  kill: cancel,
  cancel,
  rm: cancel,
  remove: cancel,
  delete: cancel,
  scancel: cancel,
  qdel: cancel,
  condor_rm: cancel,
  bkill: cancel,
  abort: cancel,
  stop: use('down', '', '"mutirao job cancel N" stops one job.'),
  shutdown: use('down'),
  halt: use('down'),
  destroy: use('down'),
  wait,
  watch: wait,
  attach: wait,
  follow: wait,
  retry,
  rerun: retry,
  resubmit: retry,
  requeue: retry,
  restart: retry,
  resume: retry,
  hold: use('job hold', 'last'),
  release: use('job release', 'last'),
  scontrol: use(
    'job update',
    'last --priority 10',
    '"mutirao job hold" and "mutirao job release" hold and release it.',
  ),
  pause: noPause,
  suspend: noPause,
  nodes: machines,
  machines,
  hosts: machines,
  sinfo: machines,
  workers: machines,
  agents: machines,
  node: machines,
  worker_list: machines,
  tasks: use('task list', 'last'),
  providers: use('provider list'),
  reservations: use('reservation list'),
  requests: use('request list'),
  sites: use('site list'),
  resources: use('reservation resource list'),
  reserve: use('reservation request'),
  simulate: use('sim swarm'),
  version: use('--version'),
  dashboard: use('web'),
  ui: use('web'),
  open: use('web --open'),
  config: use('', '', 'Each process has its own options: mutirao run broker --help'),

  'job run': submit,
  'job create': submit,
  'job start': submit,
  'job add': submit,
  'job new': submit,
  'job queue': list,
  'job apply': submit,
  'job exec': submit,
  'job ls': list,
  'job ps': list,
  'job status': show,
  'job info': show,
  'job get': show,
  'job describe': show,
  'job inspect': show,
  'job state': show,
  'job progress': wait,
  'job watch': wait,
  'job attach': wait,
  'job follow': wait,
  'job log': output,
  'job logs': output,
  'job output': output,
  'job cat': output,
  'job stdout': output,
  'job result': output,
  'job results': output,
  'job kill': cancel,
  'job stop': cancel,
  'job rm': cancel,
  'job remove': cancel,
  'job delete': cancel,
  'job abort': cancel,
  'job forget': cancel,
  'job end': cancel,
  'job rerun': retry,
  'job resubmit': retry,
  'job restart': retry,
  'job requeue': retry,
  'job resume': retry,
  'job explain': use('explain job', 'last'),
  'job why': use('explain job', 'last'),
  'job tasks': use('task list', 'last'),
  'job pause': noPause,
  'job suspend': noPause,

  'task ls': use('task list', 'last'),
  'task show': use('explain task', 'last 0'),
  'task status': use('task list', 'last'),
  'task info': use('explain task', 'last 0'),
  'task explain': use('explain task', 'last 0'),
  'task log': output,
  'task logs': output,
  'task cat': output,
  'task stdout': output,
  'task retry': retry,
  'task rerun': retry,
  'task cancel': use('job cancel', 'last 0', 'The tasks come after the job.'),
  'task kill': use('job cancel', 'last 0', 'The tasks come after the job.'),
  'machine ls': machines,
  'machine rm': use('machine remove', 'NAME'),
  'machine delete': use('machine remove', 'NAME'),
  'machine info': use('machine show', 'NAME'),
  'machine status': machines,
  'provider disable': drain,
  'provider pause': drain,
  'provider stop': drain,
  'provider cordon': drain,
  'provider enable': undrain,
  'provider resume': undrain,
  'provider start': undrain,
  'provider uncordon': undrain,
  'provider activate': undrain,
  drain,
  cordon: drain,
  undrain,
  uncordon: undrain,
  'machine cordon': use(
    'machine drain',
    'NAME',
    '"mutirao provider drain NAME" has all machines of a provider take no new work.',
  ),
  'machine uncordon': use('machine undrain', 'NAME'),
  'provider ls': use('provider list'),
  'provider info': use('provider show', 'NAME'),
  'provider status': use('provider list'),
  'provider rm': use('provider remove', 'NAME'),
  'site ls': use('site list'),
  'site rm': use('site remove', 'NAME'),
  'site delete': use('site remove', 'NAME'),
  'site status': use('site list'),
  'site info': use('site show', 'NAME'),
  'reservation create': use('reservation request'),
  'reservation add': use('reservation request'),
  'reservation new': use('reservation request'),
  'reservation ls': use('reservation list'),
  'reservation delete': use('reservation cancel', 'N'),
  'reservation rm': use('reservation cancel', 'N'),
  'cluster ls': use('cluster queue'),
  'cluster list': use('cluster queue'),
  'cluster status': use('cluster queue'),
  'cluster start': use('up'),
  'cluster up': use('up'),
  'sim run': use('sim swarm'),
  'workflow run': use('job submit', 'FILE'),
  'workflow submit': use('job submit', 'FILE'),
  'workflow validate': use('workflow show', 'FILE'),
  'workflow check': use('workflow show', 'FILE'),
};

/** Nouns in the plural and of other systems, before one of our verbs or theirs. */
const nouns: Readonly<Record<string, string>> = {
  jobs: 'job',
  tasks: 'task',
  machines: 'machine',
  node: 'machine',
  nodes: 'machine',
  worker: 'machine',
  workers: 'machine',
  host: 'machine',
  hosts: 'machine',
  providers: 'provider',
  sites: 'site',
  requests: 'request',
  reservations: 'reservation',
  clusters: 'cluster',
  workflows: 'workflow',
  alloc: 'request',
  allocation: 'request',
};

/**
 * Finds what a user of another system means by a command that Mutirao does not have.
 *
 * @param words without options. @param hasCommand whether our command of these words exists.
 * @returns how many of the words it stands for, and what to write in their place.
 */
export function findForeignCommand(
  words: readonly string[],
  hasCommand: (words: readonly string[]) => boolean,
): { readonly count: number; readonly command: ForeignCommand } | undefined {
  const [first = '', second] = words;
  const noun = nouns[first];
  if (second !== undefined) {
    const pair = [noun ?? first, second];
    if (noun !== undefined && hasCommand(pair)) return { count: 2, command: { ours: pair, argument: '', why: '' } };
    const whole = lookUp(pair.join(' '));
    if (whole !== undefined) return { count: 2, command: whole };
    const swapped = swap(first, second, hasCommand);
    if (swapped !== undefined) return { count: 2, command: swapped };
  }
  const single = lookUp(first);
  return single === undefined ? undefined : { count: 1, command: single };
}

/** Kubernetes puts the verb first: `get jobs`, `delete job 3`, `list machines`. */
function swap(
  verb: string,
  object: string,
  hasCommand: (words: readonly string[]) => boolean,
): ForeignCommand | undefined {
  const noun = nouns[object] ?? object;
  if (hasCommand([noun, verb])) return { ours: [noun, verb], argument: '', why: '' };
  return (
    lookUp(`${noun} ${{ get: 'ls', describe: 'info', delete: 'rm' }[verb] ?? verb}`) ??
    (verb === 'get' && hasCommand([noun, 'list']) ? { ours: [noun, 'list'], argument: '', why: '' } : undefined)
  );
}

function lookUp(words: string): ForeignCommand | undefined {
  return Object.hasOwn(foreignCommands, words) ? foreignCommands[words] : undefined;
}

/** Writes a command line to copy. */
export function showCommand(words: readonly string[]): string {
  return ['mutirao', ...words]
    .map((word) => (/^[{}\w@%+=:,./#-]*\{#?\}[{}\w@%+=:,./#-]*$/.test(word) ? word : quoteForShell(word)))
    .join(' ');
}
