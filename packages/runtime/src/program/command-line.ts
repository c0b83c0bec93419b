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
    .addOption(
      new Option('--config <FILE>', 'Configuration file: a JSON object with the names below in camel case.').argParser(
        (path) => {
          configPath = path;
        },
      ),
    );
  for (const [name, spec] of Object.entries(specs)) {
    command.addOption(
      new Option(getUsage(name, spec), getHelp(program.name, name, spec)).argParser((given) => {
        flags.set(name, [...(flags.get(name) ?? []), given]);
      }),
    );
  }
  if (program.passesOn !== undefined)
    command.usage('[options] [-- WORDS...]').addHelpText('after', `\n${program.passesOn}`);
  command.addHelpText(
    'after',
    '\nA flag wins over the environment, that over the configuration file, and that over the default.\n',
  );
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

function getHelp(program: string, name: string, spec: OptionSpec<unknown>): string {
  const shown = spec.shownDefault === '' ? '' : `, default ${spec.shownDefault}`;
  return `${spec.help} (${environmentName(program, name)}${shown})`;
}
