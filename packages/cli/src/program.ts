import { Command, CommanderError } from 'commander';

import { MutiraoError, registry, type ErrorEntry } from '@mutirao/api/errors';
import type { FormatError } from '@mutirao/formats';

import { findEntry, type CommandEntry } from './commands/index.ts';
import type { Act, CommonOptions, ContextMaker } from './context.ts';
import { getExitStatus, type ExitStatus } from './exit-status.ts';
import { processOutput, type Output, type OutputMode } from './output/output.ts';
import { asOutputFailure, OutputClosed, OutputFailed } from './output/write-standard.ts';
import { nounSummaries } from './help/command-groups.ts';
import { addAfterHelp, findHeading, findPosition, layOutHelp } from './help/lay-out-help.ts';
import type { Mistake } from './usage/describe-mistake.ts';
import { refuseRepeated } from './usage/repeated-options.ts';
import { UsageError } from './usage/usage-error.ts';
import { programVersion } from './version.ts';

/** What a test replaces. */
export interface Surroundings {
  readonly makeContext: ContextMaker;
  readonly makeOutput: (mode: OutputMode) => Output;
}

/**
 * Runs one command line and returns its exit status. Only the module of the command that is run gets loaded.
 *
 * @param argv without the names of Node and the script.
 */
export async function runCommand(argv: readonly string[], surroundings: Surroundings = live): Promise<ExitStatus> {
  const split = argv.indexOf('--');
  const words = readHelpCommand(split < 0 ? argv : argv.slice(0, split));
  const passedOn = split < 0 ? undefined : argv.slice(split + 1);
  const state: RunState = { status: 0, output: surroundings.makeOutput('table'), help: '', program: undefined };
  const entry = findEntry(words.filter((word) => !word.startsWith('-')));
  try {
    const program = await buildProgram(entry, state, (options) => async (work) => {
      state.output = surroundings.makeOutput(getMode(options));
      const { context, close } = await surroundings.makeContext(state.output, options, passedOn);
      try {
        state.status = await work(context);
      } finally {
        close();
      }
    });
    state.program = program;
    await program.parseAsync([...words], { from: 'user' });
    return state.status;
  } catch (error) {
    const failure = asOutputFailure(error);
    if (failure instanceof CommanderError && state.program !== undefined)
      return await reportUsage(failure, state, { words, passedOn, program: state.program, path: entry?.path });
    if (failure instanceof UsageError) return reportRemedy(failure, argv, state.output);
    return await reportFailure(failure, state.output);
  }
}

/** With `--json`, the last line on standard error is the error as JSON; the text for people stands above it. */
async function reportFailure(failure: unknown, output: Output): Promise<ExitStatus> {
  const status = reportError(failure, output);
  if (output.mode === 'json' && failure instanceof MutiraoError) {
    const { errorJson } = await import('./json/error-document.ts');
    output.note(JSON.stringify(errorJson(failure)));
  }
  return status;
}

interface RunState {
  status: ExitStatus;
  output: Output;
  /** What the parser last said to standard error: the help, where words were missing. */
  help: string;
  /** The tree of commands, once it is there. */
  program: Command | undefined;
}

/** `mutirao help job submit` is `mutirao job submit --help`. */
function readHelpCommand(words: readonly string[]): readonly string[] {
  return words[0] === 'help' ? [...words.slice(1), '--help'] : words;
}

function getMode(options: CommonOptions): OutputMode {
  if (options.json === true) return 'json';
  return options.quiet === true ? 'quiet' : 'table';
}

async function buildProgram(
  wanted: CommandEntry | undefined,
  state: RunState,
  act: (options: CommonOptions) => Act,
): Promise<Command> {
  const { entries } = await import('./commands/index.ts');
  const program = new Command('mutirao')
    .description('Runs many tasks on a laptop, a few clusters and some lab PCs as if they were one machine.')
    .usage('COMMAND [options]')
    .helpCommand(false)
    .optionsGroup('General:')
    .version(`mutirao ${programVersion()}`, '-V, --version', 'print the version')
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => {
        state.output.write(text);
      },
      writeErr: (text) => {
        state.help = text;
      },
    })
    .exitOverride();
  layOutHelp(program);
  const { examples, firstExamples } = await import('./help/examples.ts');
  addAfterHelp(program, firstExamples, '"mutirao COMMAND --help" prints the options of a command, with examples.');
  const groups = new Map<string, Command>();
  for (const entry of entries.toSorted((one, other) => findPosition(one.path[0]) - findPosition(other.path[0]))) {
    const [first, second] = entry.path;
    const parent = second === undefined ? program : groupOf(first, program, groups);
    const command = parent
      .command(second ?? first, entry.hidden === true ? { hidden: true } : {})
      .description(entry.summary);
    command.copyInheritedSettings(program).exitOverride();
    if (second === undefined) command.helpGroup(findHeading(first));
    if (entry !== wanted) continue;
    const { define } = await entry.load();
    define(command, (work) => act(command.opts<CommonOptions>())(work));
    addAfterHelp(command, examples[entry.path.join(' ')] ?? []);
    if (first === 'run' || entry.ownOptions === true) continue;
    addCommonOptions(command);
    refuseRepeated(command);
  }
  return program;
}

function groupOf(name: string, program: Command, groups: Map<string, Command>): Command {
  const known = groups.get(name);
  if (known !== undefined) return known;
  const group = program
    .command(name)
    .description(nounSummaries[name] ?? '')
    .usage('COMMAND [options]')
    .helpCommand(false)
    .helpGroup(findHeading(name))
    .copyInheritedSettings(program)
    .exitOverride();
  groups.set(name, group);
  return group;
}

/** A command alone, with all of its arguments and options and an action that does nothing. */
export async function describeCommand({ path, summary, load, ownOptions }: CommandEntry): Promise<Command> {
  const command = new Command(path.join(' ')).description(summary).exitOverride();
  const { define } = await load();
  define(command, () => Promise.resolve());
  if (path[0] !== 'run' && ownOptions !== true) addCommonOptions(command);
  refuseRepeated(command);
  return command;
}

function addCommonOptions(command: Command): void {
  command
    .optionsGroup('General:')
    .option('--json', 'print JSON (docs/reference/json.md)')
    .option('-q, --quiet', 'print only identifiers, one per line')
    .option(
      '--broker <address>',
      'HOST:PORT or unix:/path of the broker (default: MUTIRAO_BROKER, else the broker of the home folder)',
    )
    .option('--home <folder>', 'home folder (default: MUTIRAO_HOME, else ~/.mutirao)');
}

/** Prints an error in one line, and what to do in a second one; a bug also shows where it is. */
function reportError(error: unknown, output: Output): ExitStatus {
  if (error instanceof OutputClosed) return 0;
  if (error instanceof OutputFailed) {
    output.note(`error: ${error.code} ${error.message}`);
    output.note(registry[error.code].advice);
    return 3;
  }
  if (error instanceof MutiraoError) {
    output.note(`error: ${error.code} ${error.message}`);
    output.note(error.advice);
    return getExitStatus(error);
  }
  if (isFormatError(error)) return reportFormatError(error, output);
  const trace = `error: MUT_INTERNAL ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  for (const line of trace.split('\n')) output.note(line);
  output.note('This is a bug of Mutirao; report it with the lines above.');
  return 70;
}

/** Known by its name, so that commands that read no text need not load the formats. */
function isFormatError(error: unknown): error is FormatError {
  return error instanceof Error && error.name === 'FormatError' && 'code' in error;
}

/** Errors of one text that are printed one by one. */
const errorsReported = 20;

/** Prints the errors of a text, up to a bound, and what to do about each kind. */
function reportFormatError(error: FormatError, output: Output): ExitStatus {
  const all = [error, ...error.further];
  const reported = all.slice(0, errorsReported);
  for (const { code, message } of reported) output.note(`error: ${code} ${message}`);
  const rest = all.length - reported.length;
  if (rest > 0) output.note(`and ${rest} more${error.isCut ? ', and the rest of the file was not read' : ''}`);
  const advice = reported.map(
    ({ code }) => (registry as Readonly<Record<string, ErrorEntry>>)[code]?.advice ?? registry.MUT_BAD_REQUEST.advice,
  );
  for (const line of new Set(advice)) output.note(line);
  return 2;
}

/** Says what is wrong with a command line, the one that is meant, and whose help to read. */
async function reportUsage(
  error: CommanderError,
  { output, help }: RunState,
  line: Omit<Mistake, 'error' | 'define'>,
): Promise<ExitStatus> {
  if (error.exitCode === 0) return 0;
  if (error.code === 'commander.help' && !(line.words[0] === 'run' && line.passedOn !== undefined)) {
    for (const one of help.trimEnd().split('\n')) output.note(one);
    return 2;
  }
  const { describeMistake } = await import('./usage/describe-mistake.ts');
  const { message, command, notes } = await describeMistake({ error, ...line, define: defineCommand });
  output.note(`error: MUT_BAD_REQUEST ${message}`);
  if (command !== undefined) output.note(`Use: ${command}`);
  for (const note of notes) output.note(note);
  output.note(`See "${['mutirao', ...(line.path ?? []), '--help'].join(' ')}".`);
  return 2;
}

/** Adds the options of a command to the tree, where they are needed to describe a mistake. */
async function defineCommand(path: readonly string[], command: Command): Promise<void> {
  const module = await findEntry(path)?.load();
  module?.define(command, () => Promise.resolve());
  addCommonOptions(command);
}

/** Says what is wrong with a command line that was read, and the one that is meant. */
async function reportRemedy(
  { code, message, remedy }: UsageError,
  argv: readonly string[],
  output: Output,
): Promise<ExitStatus> {
  output.note(`error: ${code} ${message}`);
  if (remedy.rewrite !== undefined)
    output.note(`Use: ${(await import('./usage/foreign-commands.ts')).showCommand(remedy.rewrite(argv))}`);
  for (const note of remedy.notes ?? []) output.note(note);
  return 2;
}

const live: Surroundings = {
  makeOutput: processOutput,
  makeContext: async (output, options, passedOn) =>
    (await import('./live-context.ts')).makeLiveContext(output, options, passedOn),
};
