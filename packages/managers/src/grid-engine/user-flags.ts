import { MutiraoError } from '@mutirao/api/errors';

/** What the user's own flags of qsub say of what else is ours to say. */
export interface UserFlags {
  /** Flags that are passed on as they are: all but the queue. */
  readonly flags: readonly string[];
  /** The queue that they name; undefined where they name none. */
  readonly queue: string | undefined;
  readonly names: ReadonlySet<string>;
}

/** Options of qsub, with how many words follow. */
const wordCounts: ReadonlyMap<string, number> = new Map([
  ...['clear', 'cwd', 'h', 'hard', 'help', 'notify', 'soft', 'terse', 'V', 'verify'].map((name) => [name, 0] as const),
  ...[
    '@',
    'a',
    'A',
    'ac',
    'ar',
    'b',
    'binding',
    'c',
    'C',
    'ckpt',
    'dc',
    'dl',
    'display',
    'e',
    'he',
    'hold_jid',
    'hold_jid_ad',
    'i',
    'j',
    'js',
    'jsv',
    'l',
    'M',
    'm',
    'masterq',
    'N',
    'now',
    'o',
    'P',
    'p',
    'pe',
    'q',
    'r',
    'R',
    'S',
    'sc',
    'shell',
    'sync',
    't',
    'tc',
    'v',
    'w',
    'wd',
  ].map((name) => [name, 1] as const),
]);

const ownFiles = 'Mutirao reads that output to see why agents cannot start';
const oneAtOnce = 'a request is one job';
const ownScript = 'the script is ours';
/** Options that would take from Grid Engine, or from us, what is needed to know what became of a request; and why. */
const refused: Readonly<Record<string, string>> = {
  '@': 'flags are given here, not in a file',
  ar: 'the reservation of a request is chosen here',
  b: ownScript,
  C: ownScript,
  cwd: 'agents start in a folder that is there on every node',
  e: ownFiles,
  h: 'a request that is held never starts',
  help: oneAtOnce,
  i: 'agents read none',
  j: ownFiles,
  N: 'requests are found by it',
  now: oneAtOnce,
  o: ownFiles,
  pe: 'how many processors are asked for is decided here; --grid-engine-pe names the parallel environment',
  S: ownScript,
  shell: ownScript,
  sync: 'it would hold up the provider until the job has ended',
  t: oneAtOnce,
  tc: oneAtOnce,
  verify: oneAtOnce,
  wd: 'agents start in a folder that is there on every node',
};

/**
 * Reads flags that a user gives for each submission.
 *
 * @param queue as another option says; empty for none.
 * @throws {MutiraoError} MUT_BAD_CONFIG for a flag that would be of no effect or in the way, with the reason: none is
 * dropped in silence.
 */
export function readUserFlags(words: readonly string[], queue: string): UserFlags {
  const flags: string[] = [];
  const names = new Set<string>();
  let named = queue === '' ? '' : oneQueue(queue, '');
  for (let at = 0; at < words.length; ) {
    const [word = '', value = ''] = words.slice(at, at + 2);
    const name = word.slice(1);
    const taken = wordsTaken(word, value);
    refuse(name, word, value);
    if (name === 'q') named = oneQueue(value, named);
    else flags.push(...words.slice(at, at + taken));
    names.add(name);
    at += taken;
  }
  return { flags, names, queue: named === '' ? undefined : named };
}

/** How many words a flag has. */
function wordsTaken(word: string, value: string): number {
  const count = word.startsWith('-') ? wordCounts.get(word.slice(1)) : undefined;
  if (count === undefined) throw new MutiraoError('MUT_BAD_CONFIG', `"${word}" is not a flag of qsub`);
  // As in `-binding set linear:2`.
  return 1 + count + (word === '-binding' && /^(?:env|pe|set)$/.test(value) ? 1 : 0);
}

function refuse(name: string, word: string, value: string): void {
  const isWalltime = name === 'l' && value.split(',').some((part) => /^\s*[hs]_rt\s*(?:=|$)/.test(part));
  const reason = isWalltime ? 'how long is asked for is decided here; --walltime-max bounds it' : refused[name];
  if (reason !== undefined)
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the flag "${word}${isWalltime ? ` ${value}` : ''}" of qsub is refused: ${reason}`,
    );
}

function oneQueue(value: string, before: string): string {
  if (!/^[\w.-]+$/.test(value))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the queue is "${value}"; expected one cluster queue, since limits and the listing are read of it`,
    );
  if (before !== '' && before !== value)
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the queue is "${before}" by one option and "${value}" by a flag of qsub; expected one`,
    );
  return value;
}
