import { quoteForShell } from '@mutirao/core/bag';
import type { LocatedValue } from '../located-value.ts';
import { getLine, splitWords } from '../shell-line.ts';
import { textOr } from './wf-values.ts';

/** How the system that a file was made by writes arguments. */
export type ArgumentStyle =
  /** Each is a word; an option and its value may be one text. */
  | 'words'
  /** The words of a line for the shell, the program among them. */
  | 'line';

const lineSystems = /makeflow|taskvine|work ?queue/i;

/** The style of arguments, by the name of the system that ran the workflow. */
export function getArgumentStyle(system: string): ArgumentStyle {
  return lineSystems.test(system) ? 'line' : 'words';
}

/** A redirection that stands by itself, as in the arguments `>` and `out.txt`. */
const redirection = /^\d?(?:>>?|<)$|^\d?>&\d$/;

/**
 * A program and its arguments as a line for the shell; empty where nothing is said.
 *
 * A program of several words without arguments is a script. An argument is one word, whatever it holds, but for two
 * that the published instances have: an option and what follows it in one text (`--level 3`, `--out "a b"`) are several
 * words, and a redirection (`>`, `2>`) redirects. Arguments of the style `line` are given to the shell as they are,
 * parted by blanks.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX
 */
export function getCommandLine(
  command: LocatedValue,
  { style, named = '' }: { readonly style: ArgumentStyle; readonly named?: string },
): string {
  const program = textOr(command.at('program'), named);
  const values = command.at('arguments').list();
  const given = values.map((argument) => argument.text());
  if (program === '') {
    if (given.length > 0) throw command.fault('a program for the arguments');
    return '';
  }
  if (given.length === 0) return /\s/.test(program.trim()) ? getScript(program) : quoteForShell(program);
  if (style === 'line') return getShellLine(program, given);
  if (given[0] === '-c' && /^(?:.*\/)?(?:ba|da|k|z)?sh$/.test(program)) return getLine([program, ...given]);
  return [quoteForShell(program), ...values.map((value) => getArgument(value))].join(' ');
}

/** What stands for an argument in a line for the shell. */
function getArgument(value: LocatedValue): string {
  const text = value.text();
  if (redirection.test(text)) return text;
  const [, option, rest] = /^(-\S*)\s+(\S[^]*)$/.exec(text) ?? [];
  if (option === undefined || rest === undefined) return quoteForShell(text);
  // A list or map of WfCommons' benchmarks is one value, quotes and blanks included.
  if (/^[[{]/.test(rest)) return getLine([option, rest]);
  const words = splitWords(text);
  if (words === undefined) throw value.fault('quotes in pairs');
  return getLine(words);
}

/** Whether a word would be read again as itself, were it written as an argument. */
export function isPlainArgument(word: string): boolean {
  return word !== '' && !redirection.test(word) && !/^-\S*\s/.test(word);
}

/** Makeflow's arguments begin with the program, perhaps behind LOCAL; others' follow it. */
function getShellLine(program: string, given: readonly string[]): string {
  const words = given[0] === 'LOCAL' ? given.slice(1) : given;
  const first = (words[0] ?? '').replace(/^.*\//, '');
  const isWhole = first !== '' && !first.startsWith('-') && (program === first || program.startsWith(`${first}_`));
  return (isWhole ? words : [quoteForShell(program), ...words]).join(' ');
}

/** Nextflow runs scripts with bash, and ends them at the first error. */
function getScript(script: string): string {
  return script.includes('\n') ? getLine(['bash', '-ue', '-c', script]) : script.trim();
}
