import { Command, CommanderError, Option } from 'commander';
import {
  environmentName,
  flag,
  flagName,
  text,
  choice,
  type GivenTexts,
  type OptionSpec,
  type OptionSpecs,
} from '../config/index.ts';
import type { LogLevel } from '../log/index.ts';
import {
  formatExamples,
  generalHeading,
  findHelpWidth,
  helpFormat,
  wrapParagraphs,
  type Example,
} from './help-format.ts';

/** Options that every program has. */
export const commonOptions = {
  home: text({
    help: "Folder of Mutirao's files. Default: MUTIRAO_HOME, else ~/.mutirao.",
    placeholder: 'FOLDER',
  }),
  logLevel: choice<LogLevel>({
    help: 'What to log to standard error.',
    words: ['debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
  }),
  leash: flag({
    help: 'Stop, as after SIGTERM, when standard input ends: for a parent process that holds its other end.',
  }),
} as const satisfies OptionSpecs;

/** What a command line says. */
export type CommandLine =
  | {
      readonly kind: 'run';
      readonly flags: GivenTexts;
      readonly configPath: string | undefined;
      readonly passedOn: readonly string[];
    }
  /** All is said (`--help`), or something is wrong; the text has been written. */
  | { readonly kind: 'exit'; readonly status: number };

/** Where help and complaints go. */
export interface Output {
  writeOut(text: string): void;
  writeError(text: string): void;
}

/** What is said of a program in its help. */
interface About {
  readonly name: string;
  readonly summary: string;
  /** What words after `--` mean; undefined where there may be none. */
  readonly passesOn?: string;
  readonly optionGroups?: readonly OptionGroup[];
  readonly examples?: readonly Example[];
}

/** Options that --help shows under one heading. */
export interface OptionGroup<Name extends string = string> {
  readonly heading: string;
  readonly names: readonly Name[];
}

/** Reads the command line of a program. */
export function parseCommandLine(
  program: About,
  specs: OptionSpecs,
  argv: readonly string[],
  output: Output,
): CommandLine {
  const { own, passedOn } = splitWords(argv, program.passesOn !== undefined);
  const flags = new Map<string, string[]>();
  let configPath: string | undefined;
  const command = new Command(`mutirao run ${program.name}`)
    .description(program.summary)
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (words) => {
        output.writeOut(words);
      },
      writeErr: (words) => {
        output.writeError(words);
      },
    })
    .configureHelp(helpFormat)
    .usage(program.passesOn === undefined ? '[options]' : '[options] [-- WORDS...]')
    .addHelpOption(new Option('-h, --help', 'Print this help.').helpGroup(generalHeading));
  addOptions(command, { program, specs, flags });
  command
    .optionsGroup(generalHeading)
    .addOption(
      new Option(
        '--config <FILE>',
        'JSON file with options: an object whose keys are option names in camel case.',
      ).argParser((path) => {
        configPath = path;
      }),
    )
    .addHelpText('after', () => getEnding(program, Object.keys(specs)));
  try {
    command.parse(own, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'exit', status: error.exitCode === 0 ? 0 : 2 };
  }
  for (const [name, spec] of Object.entries(specs)) {
    if (spec.placeholder === '' && command.getOptionValueSource(name) === 'cli') flags.set(name, ['true']);
  }
  return { kind: 'run', flags, configPath, passedOn };
}

/** Adds the options of a program by subject; what is given goes to `flags`. */
function addOptions(
  command: Command,
  {
    program,
    specs,
    flags,
  }: { readonly program: About; readonly specs: OptionSpecs; readonly flags: Map<string, string[]> },
): void {
  for (const { heading, names } of groupOptions(program, specs)) {
    command.optionsGroup(`${heading}:`);
    for (const name of names) {
      const spec = specs[name];
      if (spec === undefined) continue;
      command.addOption(
        new Option(getUsage(name, spec), getHelp(spec)).argParser((given) => {
          flags.set(name, [...(flags.get(name) ?? []), given]);
        }),
      );
    }
  }
}

/** The words of the program itself, and those after `--` where it passes them on. */
function splitWords(
  argv: readonly string[],
  passesOn: boolean,
): { readonly own: readonly string[]; readonly passedOn: readonly string[] } {
  const at = argv.indexOf('--');
  return passesOn && at >= 0 ? { own: argv.slice(0, at), passedOn: argv.slice(at + 1) } : { own: argv, passedOn: [] };
}

function getUsage(name: string, spec: OptionSpec<unknown>): string {
  return spec.placeholder === '' ? flagName(name) : `${flagName(name)} <${spec.placeholder}>`;
}

function getHelp(spec: OptionSpec<unknown>): string {
  const isSaid = spec.shownDefault === '' || /\bdefault\b/i.test(spec.help);
  return isSaid ? spec.help : `${spec.help} (default: ${spec.shownDefault})`;
}

/** The groups of a program, then what is in none, then what every program has. */
function groupOptions({ optionGroups = [] }: About, specs: OptionSpecs): readonly OptionGroup[] {
  const general = Object.keys(commonOptions);
  const named = new Set<string>([...optionGroups.flatMap(({ names }) => names), ...general]);
  const rest = Object.keys(specs).filter((name) => !named.has(name));
  return [
    ...optionGroups,
    { heading: optionGroups.length === 0 ? 'Options' : 'Other options', names: rest },
    { heading: generalHeading.slice(0, -1), names: general },
  ];
}

/** What follows the options in the help. */
function getEnding({ name, passesOn, examples = [] }: About, options: readonly string[]): string {
  const shown = options.find((option) => !(option in commonOptions)) ?? 'logLevel';
  const paragraphs = [
    ...(passesOn === undefined ? [] : [passesOn]),
    `Every option can also be set in the environment, as ${environmentName(name, shown)} for ${flagName(shown)}, or ` +
      'in a configuration file. The command line comes first, then the environment, then the file.',
  ];
  return `\n${wrapParagraphs(paragraphs.join('\n'), findHelpWidth() - 1)}\n${formatExamples(examples)}`;
}
