import { commandFromWords, escapeTemplate, writeFields } from '@mutirao/core/bag';

import { fillReplacement, printReplacement, readReplacements, type Replacement } from './replacements.ts';

/** A job of GNU parallel: its place in the order, from 1, and its arguments. */
export interface ParallelJob {
  readonly sequence: number;
  readonly arguments: readonly string[];
}

/** How the command of the jobs is written. */
export interface ParallelCommand {
  /** The words as they were given; empty where each argument is a command. */
  readonly words: readonly string[];
  /** Names of the columns, with `--header`. */
  readonly names: readonly string[];
  /** `--quote`: the words are passed on as they are, and no shell reads them. */
  readonly isQuoted: boolean;
  /** Whether the arguments are put behind a command without a replacement string. */
  readonly appends: boolean;
  /** What `{%}` becomes: a variable of the shell. */
  readonly slot: string;
}

/** Jobs with the same number of arguments: a template for the broker, and the value of each. */
export interface JobGroup {
  readonly command: string;
  readonly jobs: readonly ParallelJob[];
  readonly values: readonly string[];
}

/** Jobs that follow one another and have as many arguments, as groups with one template. */
export function makeJobGroups(command: ParallelCommand, jobs: readonly ParallelJob[]): JobGroup[] {
  const groups: { count: number; jobs: ParallelJob[] }[] = [];
  for (const job of jobs) {
    const last = groups.at(-1);
    if (last?.count === job.arguments.length) last.jobs.push(job);
    else groups.push({ count: job.arguments.length, jobs: [job] });
  }
  return groups.map((group) => makeGroup(command, group.count, group.jobs));
}

/** Whether the command has a replacement string for arguments or a number. */
export function hasReplacement(words: readonly string[], names: readonly string[]): boolean {
  return words.some((word) => readReplacements(word, names).some((piece) => typeof piece !== 'string'));
}

function makeGroup(command: ParallelCommand, count: number, jobs: readonly ParallelJob[]): JobGroup {
  const fields = new Map<string, { readonly replacement: Replacement; readonly position: number | undefined }>();
  const template = getTemplate(command, count, (replacement, position) => {
    const { depth, part } = replacement;
    if (part === 'slot') return '{'.repeat(depth) + command.slot + '}'.repeat(depth);
    const name = `${printReplacement(replacement) || 'value'}${position === undefined ? '' : `@${position + 1}`}${'+'.repeat(depth)}`;
    fields.set(name, { replacement, position });
    return `{=${name}}`;
  });
  const values = jobs.map(({ arguments: given, sequence }) =>
    writeFields(
      [...fields].map(([name, { replacement, position }]): [string, string] => {
        const texts = fillReplacement(replacement, { arguments: given, names: command.names, sequence });
        return [name, texts[position ?? 0] ?? ''];
      }),
    ),
  );
  return { command: template, jobs, values };
}

type Write = (replacement: Replacement, position: number | undefined) => string;

function getTemplate({ words, names, isQuoted, appends }: ParallelCommand, count: number, write: Write): string {
  // Without a command each argument is one, which is a whole script and no word of one.
  const all = { argument: undefined, part: 'whole', depth: 0 } as const;
  if (words.length === 0) return `eval ${listAll(all, count, write).join(' ')}`;
  const fill = (text: string): string => fillText(text, { names, count, write });
  const line = isQuoted ? words.map((word) => quoteWord(word, fill, names)).join(' ') : fill(words.join(' '));
  return appends ? [line, ...listAll(all, count, write)].join(' ') : line;
}

/** A word that no shell reads, but for what stands in its replacement strings. */
function quoteWord(word: string, fill: (text: string) => string, names: readonly string[]): string {
  const pieces = readReplacements(word, names);
  if (pieces.length === 0) return commandFromWords([word]);
  return pieces
    .map((piece) =>
      typeof piece === 'string' ? commandFromWords([escapeTemplate(piece)]) : fill(`{${printReplacement(piece)}}`),
    )
    .join('');
}

/** A word of the shell with `{}` for several arguments is repeated for each: `[{}]` becomes `[a] [b]`. */
function fillText(
  text: string,
  { names, count, write }: { readonly names: readonly string[]; readonly count: number; readonly write: Write },
): string {
  const pieces = readReplacements(text, names);
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return escapeTemplate(piece);
      return piece.argument === undefined && piece.part !== 'sequence' && piece.part !== 'slot'
        ? listAll(piece, count, write).join(' ')
        : write(piece, undefined);
    })
    .join('');
}

function listAll(replacement: Replacement, count: number, write: Write): string[] {
  return Array.from({ length: count }, (_, position) => write(replacement, count === 1 ? undefined : position));
}
