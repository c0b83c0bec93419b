/**
 * What a word of a simple command means to the program before it: shell code, part of a code that the program joins, or
 * an ordinary argument.
 */
export type WordRole = 'argument' | 'script' | 'part of a script';

const shells: ReadonlySet<string> = new Set([
  'sh',
  'ash',
  'bash',
  'dash',
  'ksh',
  'ksh93',
  'mksh',
  'posh',
  'yash',
  'zsh',
  'rbash',
]);
/** Programs that give the word after `-c` to a shell. */
const callers: ReadonlySet<string> = new Set(['su', 'runuser', 'script', 'flock', 'sg', 'newgrp']);
/** Programs that join their words to a script. */
const joiners: ReadonlySet<string> = new Set(['ssh', 'rsh', 'slogin', 'autossh', 'watch', 'parallel']);
const envs: ReadonlySet<string> = new Set(['env']);
/** Programs that run the rest of their words as a command. */
const wrappers: ReadonlySet<string> = new Set([
  'command',
  'env',
  'exec',
  'nice',
  'nohup',
  'setsid',
  'sshpass',
  'stdbuf',
  'sudo',
  'time',
  'timeout',
  'xargs',
]);

/** A word without quotes; undefined where only the shell can know it. */
export type KnownWord = string | undefined;

/**
 * Says what the next word of a simple command means.
 *
 * @param all those before it, from the name of the command on.
 */
export function roleOfNext(all: readonly KnownWord[]): WordRole {
  const words = all.slice(all.findIndex((word) => word !== 'command' && word !== 'builtin'));
  const [first] = words;
  if (first === 'eval') return words.length === 1 ? 'script' : 'part of a script';
  if (first === 'trap') return words.slice(1).every((word) => word === '--') ? 'script' : 'argument';
  if (isBehindShell(words)) return 'script';
  return roleBehindOption(words) ?? (isJoined(words) ? 'part of a script' : 'argument');
}

function roleBehindOption(words: readonly KnownWord[]): WordRole | undefined {
  const last = words.at(-1);
  if (last === '--wrap') return 'script';
  if (last === '-S' && words.some((word) => isNamed(word, envs))) return 'part of a script';
  if (last === '-c' || last === '--command') {
    if (words.some((word) => isNamed(word, callers))) return 'script';
    if (words.slice(0, -1).includes(undefined)) return 'part of a script';
  }
  return undefined;
}

/** `sh -c`, also with more options, and behind other words, as in `timeout 5 bash -euc`. */
function isBehindShell(words: readonly KnownWord[]): boolean {
  const shell = words.findLastIndex((word) => isNamed(word, shells));
  if (shell < 0) return false;
  const options = words.slice(shell + 1);
  return (
    options.some((word) => /^[-+][A-Za-z]*c[A-Za-z]*$/.test(word ?? '')) &&
    options.every((word, index) => /^[-+]/.test(word ?? '') || /^[-+][A-Za-z]*[oO]$/.test(options[index - 1] ?? ''))
  );
}

function isJoined(words: readonly KnownWord[]): boolean {
  const joiner = words.findIndex((word) => isNamed(word, joiners));
  return joiner === 0 || (joiner > 0 && isNamed(words[0], wrappers));
}

function isNamed(word: KnownWord, names: ReadonlySet<string>): boolean {
  return word !== undefined && names.has(word.slice(word.lastIndexOf('/') + 1));
}
