import { MutiraoError } from '@mutirao/api/errors';

/** What the user's own flags of sbatch, and her environment, say of what else is ours to say. */
export interface UserFlags {
  /** Flags that are passed on as they are: all but the partition. */
  readonly flags: readonly string[];
  /** The partition that they name; undefined where they name none. */
  readonly partition: string | undefined;
  /** Names of the options among them, in full. */
  readonly names: ReadonlySet<string>;
}

/** Short options of sbatch that take a value, with their long names. */
const shortWithValue: Readonly<Record<string, string>> = {
  A: 'account',
  a: 'array',
  B: 'extra-node-info',
  b: 'begin',
  C: 'constraint',
  c: 'cpus-per-task',
  D: 'chdir',
  d: 'dependency',
  e: 'error',
  F: 'nodefile',
  G: 'gpus',
  i: 'input',
  J: 'job-name',
  L: 'licenses',
  M: 'clusters',
  m: 'distribution',
  N: 'nodes',
  n: 'ntasks',
  o: 'output',
  p: 'partition',
  q: 'qos',
  S: 'core-spec',
  t: 'time',
  w: 'nodelist',
  x: 'exclude',
};
const shortAlone: Readonly<Record<string, string>> = {
  H: 'hold',
  h: 'help',
  k: 'no-kill',
  O: 'overcommit',
  Q: 'quiet',
  s: 'oversubscribe',
  V: 'version',
  v: 'verbose',
  W: 'wait',
};

/**
 * Long options that mean something here; others are passed on unread. Slurm takes any beginning of a name that is one
 * option's alone.
 */
const withValue: ReadonlySet<string> = new Set([
  ...Object.values(shortWithValue),
  'comment',
  'export',
  'export-file',
  'gid',
  'open-mode',
  'time-min',
  'uid',
  'wrap',
  'ntasks-per-node',
  'mem',
  'mem-per-cpu',
  'reservation',
  'gres',
]);
const alone: ReadonlySet<string> = new Set([
  ...Object.values(shortAlone),
  'no-requeue',
  'parsable',
  'requeue',
  'test-only',
  'usage',
  'exclusive',
]);

const ownWidth = 'how many processors are asked for is decided here; --width-max bounds it';
const ownWalltime = 'how long is asked for is decided here; --walltime-max bounds it';
const ownFiles = 'Mutirao reads that output to see why agents cannot start';
const oneAtOnce = 'a request is one job';
const ownRequests = 'requests are found by it';
/** Options that would take from Slurm, or from us, what is needed to know what became of a request; and why. */
const refused: Readonly<Record<string, string>> = {
  array: oneAtOnce,
  chdir: 'agents start in a folder that is there on every node',
  clusters: 'a provider serves one cluster; name it by SLURM_CLUSTERS or SLURM_CONF',
  'cpus-per-task': ownWidth,
  error: ownFiles,
  gid: "agents run as the provider's own account",
  help: oneAtOnce,
  hold: 'a request that is held never starts',
  input: 'agents read none',
  'job-name': ownRequests,
  ntasks: ownWidth,
  output: ownFiles,
  'open-mode': ownFiles,
  'test-only': oneAtOnce,
  time: ownWalltime,
  'time-min': ownWalltime,
  uid: "agents run as the provider's own account",
  usage: oneAtOnce,
  version: oneAtOnce,
  wait: 'it would hold up the provider until the job has ended',
  wrap: 'the script is ours',
};

/**
 * Reads flags that a user gives for each submission.
 *
 * @param partition as another option says; empty for none.
 * @throws {MutiraoError} MUT_BAD_CONFIG for a flag that would be of no effect or in the way, with the reason: none is
 * dropped in silence.
 */
export function readUserFlags(words: readonly string[], partition: string): UserFlags {
  const flags: string[] = [];
  const names = new Set<string>();
  let named = partition;
  for (let at = 0; at < words.length; ) {
    const { name, value, taken } = readOption(words, at);
    const reason = refused[name];
    if (reason !== undefined)
      throw new MutiraoError('MUT_BAD_CONFIG', `the flag "${words[at] ?? ''}" of sbatch is not taken: ${reason}`);
    if (name === 'partition') named = onePartition(value, named);
    else flags.push(...words.slice(at, at + taken));
    names.add(name);
    at += taken;
  }
  return { flags, names, partition: named === '' ? undefined : named };
}

/**
 * The partition that the environment of sbatch names; undefined where it names none. @throws {MutiraoError}
 * MUT_BAD_CONFIG for several.
 */
export function findPartition(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = environment['SBATCH_PARTITION'] ?? '';
  return named === '' ? undefined : onePartition(named, '');
}

function onePartition(value: string, before: string): string {
  if (!/^[\w.:@+-]+$/.test(value))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the partition is "${value}"; expected one, since limits and the queue are read of it`,
    );
  if (before !== '' && before !== value)
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the partition is "${before}" by one option and "${value}" by a flag of sbatch; expected one`,
    );
  return value;
}

interface ReadOption {
  /** In full where it means something here. */
  readonly name: string;
  readonly value: string;
  /** Words that it has. */
  readonly taken: number;
}

function readOption(words: readonly string[], at: number): ReadOption {
  const word = words[at] ?? '';
  const [, long, value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (long !== undefined) return readLong(words, at, { name: fullName(long), value });
  return readShort(words, at, word);
}

function readShort(words: readonly string[], at: number, word: string): ReadOption {
  const [, letter = '', rest = ''] = /^-(\w)(.*)$/s.exec(word) ?? [];
  const taking = shortWithValue[letter];
  if (taking !== undefined)
    return rest === ''
      ? { name: taking, value: words[at + 1] ?? '', taken: 2 }
      : { name: taking, value: rest, taken: 1 };
  const name = shortAlone[letter];
  if (name === undefined) throw new MutiraoError('MUT_BAD_CONFIG', `"${word}" is not a flag of sbatch`);
  if (rest !== '')
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `"${word}" is several flags of sbatch in one word; expected a word for each`,
    );
  return { name, value: '', taken: 1 };
}

function readLong(
  words: readonly string[],
  at: number,
  { name, value }: { readonly name: string; readonly value: string | undefined },
): ReadOption {
  if (value !== undefined) return { name, value, taken: 1 };
  const next = words[at + 1];
  const takesNext = next !== undefined && !next.startsWith('-') && !alone.has(name);
  return takesNext ? { name, value: next, taken: 2 } : { name, value: '', taken: 1 };
}

function fullName(given: string): string {
  if (withValue.has(given) || alone.has(given)) return given;
  const candidates = [...withValue, ...alone].filter((name) => name.startsWith(given));
  return candidates.length === 1 && given.length >= 3 ? (candidates[0] ?? given) : given;
}
