import { readInteger } from '../usage/read-integer.ts';
import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { findNearestWord } from '@mutirao/core/shared';
import { parseDuration } from '@mutirao/formats';
import { parseHalt, type HaltRule } from '@mutirao/formats/parallel';

import { collect } from '../usage/repeated-options.ts';

/** What `mutirao parallel` takes, named as GNU parallel names it. */
export interface ParallelOptions {
  readonly jobs?: string;
  readonly argFile?: readonly string[];
  readonly null?: true;
  readonly delimiter?: string;
  readonly colsep?: string;
  readonly header?: string;
  readonly link?: true;
  readonly maxArgs?: string;
  readonly maxReplaceArgs?: string;
  readonly quote?: true;
  /** False with `--no-run-if-empty`. */
  readonly runIfEmpty: boolean;
  readonly keepOrder?: true;
  readonly tag?: true;
  readonly dryRun?: true;
  readonly verbose?: true;
  readonly bar?: true;
  readonly eta?: true;
  readonly progress?: true;
  readonly joblog?: string;
  readonly resume?: true;
  readonly resumeFailed?: true;
  readonly results?: string;
  readonly halt?: string;
  readonly retries?: string;
  readonly timeout?: string;
}

/** Adds the options. */
export function addParallelOptions(command: Command): void {
  command
    .optionsGroup('Jobs:')
    .option('-j, --jobs <count>', 'jobs at a time: 4, 50%, +2 or -1 of the processors, 0 for many (default: 100%)')
    .addOption(new Option('-P, --max-procs <count>', 'the same as --jobs').hideHelp())
    .option('--timeout <time>', 'end a job that runs longer: 10 or 10s, 5m, 1h')
    .option('--retries <count>', 'run a job that fails up to this many times (default: 1)')
    .option('--halt <rule>', 'end early: now,fail=1, soon,fail=10%, now,success=1, or never (default: never)')
    .option('--dry-run', 'print the commands, and run none')
    .optionsGroup('Arguments:')
    .option('-a, --arg-file <file>', 'read arguments from the lines of this file; may be repeated', collect)
    .option('-0, --null', 'arguments of files and standard input end in NUL instead of a line end')
    .option('-d, --delimiter <character>', 'arguments of files and standard input end in this character')
    .option('-C, --colsep <regexp>', 'split each argument into columns {1}, {2} and so on')
    .option('--header <regexp>', 'the first line names the columns: {name}; ":" takes it as it is')
    .option('--link', 'take the first values of all sources together, then the second ones; shorter sources repeat')
    .option('-n, --max-args <count>', 'arguments of each job')
    .option('-N, --max-replace-args <count>', 'like -n; with 0, read arguments and insert none')
    .option('-r, --no-run-if-empty', 'run nothing for an empty line')
    .option('--quote', 'pass the command on as it is, so that no shell reads $, * and the like in it')
    .optionsGroup('Output:')
    .option('-k, --keep-order', 'print outputs in the order of the arguments')
    .option('--tag', 'begin each line of output with the arguments of its job')
    .option('-v, --verbose', 'print the command before the output of each job')
    .option(
      '--results <folder>',
      'write stdout, stderr and seq of each job to FOLDER/1/VALUE/..., and print none of it',
    )
    .option('--joblog <file>', 'write a line about each job that has ended')
    .option('--resume', 'with --joblog: leave out jobs that are in it')
    .option('--resume-failed', 'with --joblog: like --resume, but run jobs that failed again')
    .option('--bar', 'show how far the jobs are')
    .option('--eta', 'like --bar, with the time that is left')
    .option('--progress', 'like --bar')
    .addOption(new Option('--will-cite', 'has no effect').hideHelp())
    .optionsGroup('General:')
    .option('--home <folder>', 'home folder for the temporary grid (default: MUTIRAO_HOME, else ~/.mutirao)');
}

/** Options of GNU parallel that there are none of here, with what to use. */
const unsupported: Readonly<Record<string, string>> = {
  '--pipe': 'Split the input into files, and give their names as arguments.',
  '--pipepart': 'Split the input into files, and give their names as arguments.',
  '--block': 'Split the input into files, and give their names as arguments.',
  '-m': 'Use -n with a number of arguments.',
  '-X': 'Use -n with a number of arguments.',
  '--xargs': 'Use -n with a number of arguments.',
  '-S': '"mutirao job submit" runs tasks on other hosts.',
  '--sshlogin': '"mutirao job submit" runs tasks on other hosts.',
  '--sshloginfile': '"mutirao job submit" runs tasks on other hosts.',
  '--trc': '"mutirao job submit --put FILE --get FILE" copies files.',
  '--transferfile': '"mutirao job submit --put FILE" copies files.',
  '--return': '"mutirao job submit --get FILE" brings files back.',
  '-u': 'Output is printed when its job has ended.',
  '--ungroup': 'Output is printed when its job has ended.',
  '--lb': 'Output is printed when its job has ended.',
  '--line-buffer': 'Output is printed when its job has ended.',
  '--semaphore': '',
  '--fg': '',
  '--bg': '',
  '--tmux': '',
  '--shuf': 'Shuffle the input: shuf FILE | mutirao parallel ...',
  '--delay': '',
  '--load': '',
  '--memfree': '',
  '--nice': 'Write nice into the command.',
  '-I': 'Write {} in the command.',
  '--plus': '',
  '--tagstring': 'Use --tag.',
  '--wd': 'Change the folder first: cd FOLDER.',
  '--workdir': 'Change the folder first: cd FOLDER.',
  '--rpl': '',
  '--sqlmaster': '',
  '--retry-failed': 'Use --resume-failed with the same arguments.',
};

/** Refuses an option that is left among the words. @throws {MutiraoError} MUT_BAD_REQUEST */
export function refuseUnknown([first = '']: readonly string[], known: readonly string[]): void {
  if (!/^-./.test(first)) return;
  const name = first.split('=')[0] ?? '';
  const advice = unsupported[name] ?? unsupported[name.slice(0, 2)];
  if (advice !== undefined && (Object.hasOwn(unsupported, name) || !name.startsWith('--')))
    throw badRequest(`${name} of GNU parallel is not supported. ${advice}`.trimEnd());
  const nearest = findNearestWord(name, known);
  throw badRequest(`there is no option ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`);
}

const slotsMax = 256;

function parseSlots(text: string): { readonly sign: string; readonly digits: string; readonly percent: string } {
  const [, sign = '', digits, percent = ''] = /^([+-]?)(\d+)(%?)$/.exec(text) ?? [];
  if (digits === undefined) throw badRequest(`--jobs is "${text}"; expected a number, 50%, +2 or -1`);
  return { sign, digits, percent };
}

/** How many jobs run at a time. @param jobCount how many there are. */
export function readSlots(text: string | undefined, jobCount: number, processors = availableParallelism()): number {
  const { sign, digits, percent } = parseSlots(text ?? '100%');
  const given = percent === '' ? Number(digits) : Math.round((processors * Number(digits)) / 100);
  const isAll = sign === '' && percent === '' && given === 0;
  const wanted = isAll ? slotsMax : addSigned(sign, processors, given);
  return Math.max(1, Math.min(wanted, jobCount, 4096));
}

/** `+2` is two more than there are processors, `-1` one fewer, and `3` is three. */
function addSigned(sign: string, processors: number, given: number): number {
  if (sign === '+') return processors + given;
  return sign === '-' ? processors - given : given;
}

/** In milliseconds; 0 for none. */
export function readTimeout(text: string | undefined): number {
  if (text === undefined) return 0;
  if (text.includes('%')) throw badRequest(`--timeout is "${text}"; expected a time, as in 10 or 5m`);
  return parseDuration(/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);
}

/** Undefined for never. */
export function readHalt(text: string | undefined): HaltRule | undefined {
  const rule = parseHalt(text ?? 'never');
  if (rule === undefined)
    throw badRequest(`--halt is "${text ?? ''}"; expected never, or as in now,fail=1 or soon,fail=10%`);
  return rule === 'never' ? undefined : rule;
}

/** An integer of an option; undefined where it is not given. */
export function readCount(name: string, text: string | undefined, min: number): number | undefined {
  return text === undefined ? undefined : readInteger(name, text, { min, max: 1_000_000 });
}

export function badRequest(message: string): MutiraoError {
  return new MutiraoError('MUT_BAD_REQUEST', message);
}
