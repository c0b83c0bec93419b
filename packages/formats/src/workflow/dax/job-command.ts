import { quoteForShell } from '@mutirao/core/bag';
import { FormatError } from '../../format-error.ts';
import { readAttribute, type XmlElement } from '../read-xml.ts';
import { getLine, WordSplitter } from '../shell-line.ts';
import type { WorkflowFile } from '../workflow-document.ts';
import type { Executable } from './catalogs.ts';
import { readFileName } from './job-files.ts';
import type { JobProfiles } from './profiles.ts';

/** The parts of a command that are outside the job's element. */
export interface CommandParts {
  readonly executable: Executable | undefined;
  readonly profiles: JobProfiles;
  readonly inputs: readonly WorkflowFile[];
  readonly subject: string;
}

const commandElements: readonly string[] = ['argument', 'stdin', 'stdout', 'stderr'];

/**
 * The command of a job as a line for the shell: environment, program, arguments, redirections. Nothing in the arguments
 * means anything to the shell, since Pegasus uses none.
 *
 * Empty for a job of the workflow generator, which gives run times in the place of commands.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX for a quote that is left open.
 */
export function getCommand(job: XmlElement, parts: CommandParts): string {
  const { executable, profiles, subject } = parts;
  const isRunnable =
    executable !== undefined ||
    profiles.program !== undefined ||
    job.attributes['runtime'] === undefined ||
    job.children.some(({ name }) => commandElements.includes(name));
  if (!isRunnable) return '';
  const named = (name: string): XmlElement[] => job.children.filter((child) => child.name === name);
  const words = [getProgram(job, parts), ...named('argument').flatMap((argument) => listWords(argument, subject))];
  const streams = (
    [
      ['stdin', '<'],
      ['stdout', '>'],
      ['stderr', '2>'],
    ] as const
  ).flatMap(([name, sign]) => named(name).map((stream) => ({ sign, path: readFileName(stream, subject) })));
  const folders = streams.flatMap(({ sign, path }) =>
    sign !== '<' && path.includes('/') ? [path.replace(/\/[^/]*$/, '')] : [],
  );
  return [
    ...(folders.length === 0 ? [] : [`mkdir -p ${getLine([...new Set(folders)])} &&`]),
    ...[...profiles.environment].map(([name, value]) => getAssignment(name, value, job, subject)),
    getLine(words),
    ...streams.map(({ sign, path }, index) =>
      // Opened twice, each would write over what the other has written.
      sign === '2>' && streams[index - 1]?.sign === '>' && streams[index - 1]?.path === path
        ? '2>&1'
        : `${sign} ${quoteForShell(path)}`,
    ),
  ].join(' ');
}

/** A program that is brought along is run where it lies; any other is looked up in PATH. */
function getProgram(job: XmlElement, { executable, profiles, inputs, subject }: CommandParts): string {
  const program =
    profiles.program ??
    (executable?.isInstalled === true ? executable.place : (executable?.name ?? readAttribute(job, 'name', subject)));
  if (program.trim() === '')
    throw new FormatError({
      code: 'MUT_WORKFLOW_SYNTAX',
      subject,
      line: job.line,
      column: job.column,
      found: 'a job with an empty name',
      expected: 'the name of its program',
    });
  return !program.includes('/') && inputs.some(({ name }) => name === program) ? `./${program}` : program;
}

function listWords(argument: XmlElement, subject: string): string[] {
  const splitter = new WordSplitter();
  for (const piece of argument.content) {
    if (typeof piece === 'string') splitter.take(piece);
    else splitter.takeLiteral(readFileName(piece, subject));
  }
  const words = splitter.end();
  if (words !== undefined) return words;
  throw new FormatError({
    code: 'MUT_WORKFLOW_SYNTAX',
    subject,
    line: argument.line,
    column: argument.column,
    found: 'an <argument> with a quote or a backslash that nothing follows',
    expected: 'quotes in pairs',
  });
}

function getAssignment(name: string, value: string, { line, column }: XmlElement, subject: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return `${name}=${quoteForShell(value)}`;
  throw new FormatError({
    code: 'MUT_WORKFLOW_SYNTAX',
    subject,
    line,
    column,
    found: `the profile env::${name}`,
    expected: 'the name of an environment variable',
  });
}
