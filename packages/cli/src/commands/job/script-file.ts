import { parse } from 'node:path';

import { foreignOptions } from '../../usage/foreign-options.ts';
import { readArray } from '../../usage/foreign-values.ts';
import { UsageError } from '../../usage/usage-error.ts';

/** A file that is submitted as a job file and is a program or a job of another system. */
interface Script {
  /** What it is, with its article. */
  readonly kind: string;
  /** What runs it; empty where it runs by itself. */
  readonly interpreter: string;
}

const interpreters: Readonly<Record<string, string>> = {
  '.sh': 'sh',
  '.bash': 'bash',
  '.slurm': 'bash',
  '.sbatch': 'bash',
  '.pbs': 'bash',
  '.py': 'python3',
  '.r': 'Rscript',
  '.jl': 'julia',
  '.pl': 'perl',
  '.rb': 'ruby',
  '.js': 'node',
  '.lua': 'lua',
  '.m': 'octave',
};

/** How other systems mark options in a script. */
const directives: readonly { readonly system: string; readonly mark: RegExp; readonly variable: string }[] = [
  { system: 'Slurm', mark: /^#SBATCH[ \t]+(.*)$/gm, variable: 'SLURM_ARRAY_TASK_ID' },
  { system: 'PBS', mark: /^#PBS[ \t]+(.*)$/gm, variable: 'PBS_ARRAY_INDEX' },
  { system: 'Grid Engine', mark: /^#\$[ \t]+(-.*)$/gm, variable: 'SGE_TASK_ID' },
  { system: 'LSF', mark: /^#BSUB[ \t]+(.*)$/gm, variable: 'LSB_JOBINDEX' },
];

/**
 * Refuses a program, or a job of another system, in the place of a job file, and shows how it is submitted.
 *
 * @param file as the user wrote it. @param isJobFile whether its content is in a format of job files.
 * @throws {UsageError} where it is one.
 */
export function refuseScript(file: string, text: string, isJobFile: boolean): void {
  refuseDescription(file, text);
  if (isJobFile && !text.startsWith('#!')) return;
  const script = readScript(file, text);
  if (script === undefined) return;
  const found = directives.find(({ mark }) => text.search(mark) >= 0);
  const [options, notes] = found === undefined ? [[], []] : readDirectives(text, found);
  const isArray = options.includes('--array');
  throw new UsageError(
    `${file} is ${found === undefined ? script.kind : `a job script for ${found.system}`}; expected a job file ` +
      '(docs/reference/jdf.md, docs/guides/workflows.md), or "--" before a command',
    {
      rewrite: (words) =>
        submitScript(words, { file, script, options, variable: isArray ? (found?.variable ?? '') : '' }),
      notes: [
        ...(found === undefined
          ? []
          : [
              `Lines that begin with ${String(found.mark.source.slice(1).split('[')[0]).replace('\\', '')} are ` +
                'not read.',
            ]),
        ...notes,
        'Tasks start in an empty folder: --put brings files there, --get brings results home.',
      ],
    },
  );
}

/** The formats of other systems that are not scripts. */
function refuseDescription(file: string, text: string): void {
  const description = readCondor(text) ?? readKubernetes(text);
  if (description === undefined) return;
  const { system, array, program } = description;
  const [values, value] = array === undefined ? [[], []] : [['--array', array], ['{}']];
  const command = program === undefined ? ['--', 'COMMAND'] : ['--put', program, '--', `./${parse(program).base}`];
  throw new UsageError(
    `${file} describes a job for ${system}; expected a job file ` +
      '(docs/reference/jdf.md, docs/guides/workflows.md), or "--" before a command',
    {
      rewrite: () => ['job', 'submit', ...values, ...command, ...value],
      notes: [
        '{} stands for the number of the task.',
        'Tasks start in an empty folder: --put brings files there, --get brings results home.',
      ],
    },
  );
}

/** The parts of another system's job description that options of Mutirao can express. */
interface Description {
  readonly system: string;
  /** The numbers of its tasks. */
  readonly array: string | undefined;
  readonly program: string | undefined;
}

function readCondor(text: string): Description | undefined {
  if (!/^[ \t]*queue\b/im.test(text) || !/^[ \t]*(?:executable|universe)[ \t]*=/im.test(text)) return undefined;
  const count = /^[ \t]*queue[ \t]+(\d+)/im.exec(text)?.[1];
  return {
    system: 'HTCondor',
    array: count === undefined ? undefined : `0-${Number(count) - 1}`,
    program: /^[ \t]*executable[ \t]*=[ \t]*(\S+)/im.exec(text)?.[1],
  };
}

function readKubernetes(text: string): Description | undefined {
  if (!/^apiVersion:/m.test(text) || !/^kind:/m.test(text)) return undefined;
  const count = /^[ \t]*completions:[ \t]*(\d+)/m.exec(text)?.[1];
  return { system: 'Kubernetes', array: count === undefined ? undefined : `1-${count}`, program: undefined };
}

function readScript(file: string, text: string): Script | undefined {
  const shebang = /^#![ \t]*(\S+)(?:[ \t]+(\S+))?/.exec(text);
  if (shebang !== null) {
    const program = parse(shebang[1] ?? '').base;
    const name = program === 'env' ? (shebang[2] ?? '') : program;
    return { kind: `a script for ${name}`, interpreter: name };
  }
  if (text.startsWith('\u007FELF')) return { kind: 'a program', interpreter: '' };
  const interpreter = interpreters[parse(file).ext.toLowerCase()];
  return interpreter === undefined ? undefined : { kind: `a script for ${interpreter}`, interpreter };
}

/** The options of a script for another system as ours, and what a user must know of those. */
function readDirectives(text: string, { mark }: { readonly mark: RegExp }): [options: string[], notes: string[]] {
  const options: string[] = [];
  const notes: string[] = [];
  for (const [, line = ''] of text.matchAll(mark)) {
    const [name = '', ...rest] = line
      .replace(/\s+#.*$/, '')
      .trim()
      .split(/[\s=]+/);
    const value = rest.join(' ');
    if (isArray(name, value)) options.push(...readArray(value));
    else addForeign(name, value, { options, notes });
  }
  return [options, [...new Set(notes)]];
}

/** Slurm's and Grid Engine's arrays; `-J` and `-t` mean something else where no range follows. */
function isArray(name: string, value: string): boolean {
  return name === '--array' || name === '-a' || ((name === '-J' || name === '-t') && /^\d+-\d+/.test(value));
}

function addForeign(
  name: string,
  value: string,
  { options, notes }: { readonly options: string[]; readonly notes: string[] },
): void {
  const foreign = foreignOptions['job submit']?.find(({ names }) => names.includes(name));
  if (foreign === undefined) return;
  const ours = foreign.instead(value);
  if (!options.includes(ours[0] ?? '')) options.push(...ours);
  if (foreign.why !== '' && ours.length > 0) notes.push(foreign.why);
}

/** Brings the script along and calls it, in place of the file among the words. */
function submitScript(
  words: readonly string[],
  {
    file,
    script,
    options,
    variable,
  }: { readonly file: string; readonly script: Script; readonly options: readonly string[]; readonly variable: string },
): string[] {
  const at = words.indexOf(file);
  const dashes = words.indexOf('--');
  const after = dashes < 0 ? [] : words.slice(dashes + 1);
  const before = [...words.slice(0, at), ...words.slice(at + 1, dashes < 0 ? undefined : dashes)];
  const name = parse(file).base;
  const call = script.interpreter === '' ? [`./${name}`] : [script.interpreter, name];
  const hasValues = before.some((word) => /^--(?:array|each-line|values)/.test(word));
  const isFilled = hasValues && !after.some((word) => word.includes('{'));
  const line =
    variable === '' ? [...call, ...after, ...(isFilled ? ['{}'] : [])] : ['env', `${variable}={}`, ...call, ...after];
  return [...before, ...withoutGiven(options, before), '--put', file, '--', ...line];
}

/** What the command line says goes before what the script says, as other systems have it. */
function withoutGiven(options: readonly string[], given: readonly string[]): string[] {
  return options.filter((word, index) => !given.includes(word.startsWith('--') ? word : (options[index - 1] ?? '')));
}
