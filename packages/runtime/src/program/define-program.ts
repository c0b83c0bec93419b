import { resolve } from 'node:path';
import { MutiraoError, registry } from '@mutirao/api/errors';
import { describeError } from '@mutirao/core/shared';
import { readConfig, type ConfigOf, type OptionSpecs } from '../config/index.ts';
import { keepDebuggerShut, keepOwnFilesUsable } from '../files/account.ts';
import { mutiraoHome } from '../files/home.ts';
import { prepareHome } from '../files/prepare-home.ts';
import { isFullDisk } from '../files/room.ts';
import { createLogger, type Logger } from '../log/index.ts';
import { completeSearchPath } from '../processes/search-path.ts';
import { raiseSoftLimits } from '../processes/soft-limits.ts';
import { commonOptions, parseCommandLine, type OptionGroup } from './command-line.ts';
import { writeCrashDump } from './crash-dump.ts';
import type { Example } from './help-format.ts';
import { processHost, type ProgramHost } from './host.ts';

/** What a running program gets. */
export interface ProgramContext {
  readonly log: Logger;
  /** Aborted by SIGTERM or SIGINT: drain, then let `run` resolve. */
  readonly signal: AbortSignal;
  /** Absolute. */
  readonly home: string;
  /** What came after `--`. */
  readonly passedOn: readonly string[];
  /**
   * Ends the process over an error that nobody can mend, after a log line and a dump: what a driver's `onFatal` calls.
   */
  fail(error: unknown): void;
  /** Adds what `describe` returns to the dump of a crash. */
  addToDump(name: string, describe: () => unknown): void;
}

/** A process of Mutirao. */
export interface Program<O extends OptionSpecs> {
  /** Its word after `mutirao`. */
  readonly name: string;
  /** One sentence for --help. */
  readonly summary: string;
  readonly options: O;
  /** The options by subject, as --help shows them; those that are left out come last, as "Other options". */
  readonly optionGroups?: readonly OptionGroup<Extract<keyof O, string>>[];
  /** Two commands for --help. */
  readonly examples?: readonly Example[];
  /** One sentence for --help on what words after `--` mean; left out where there may be none. */
  readonly passesOn?: string;
  /** Whether it can do without a home folder that it may write to, as an agent on another host can. */
  readonly doesWithoutHome?: true;
  /** Resolves when all is drained after `context.signal` was aborted, or when there is nothing more to do. */
  run(config: ConfigOf<O>, context: ProgramContext): Promise<void>;
}

/** Runs a program with argv, without node and script. The reference of settings is rendered from `program`. */
export type ProgramMain<O extends OptionSpecs> = ((argv: readonly string[]) => Promise<void>) & {
  readonly program: Program<O>;
};

/**
 * Makes a program's `main(argv)`: argv without node and script.
 *
 * The process ends with 0 when `run` resolves, 2 for wrong use or configuration, 3 when something that is needed is out
 * of reach, 70 for a bug. The first SIGTERM or SIGINT (with `--leash` also the end of standard input) asks `run` to
 * drain, a second signal ends the process at once.
 */
export function defineProgram<O extends OptionSpecs>(
  program: Program<O>,
  host: ProgramHost = processHost,
): ProgramMain<O> {
  const main = async (argv: readonly string[]): Promise<void> => {
    if (host === processHost && process.pid === 1) (await import('../processes/leave-first.ts')).leaveFirst();
    const specs = { ...commonOptions, ...program.options };
    const line = parseCommandLine(program, specs, argv, host);
    if (line.kind === 'exit') {
      host.exit(line.status);
      return;
    }
    let config: ConfigOf<typeof specs>;
    try {
      config = readConfig(program.name, specs, {
        flags: line.flags,
        environment: host.environment,
        file: line.configPath,
      });
    } catch (error) {
      if (!(error instanceof MutiraoError)) throw error;
      host.writeError(`mutirao ${program.name}: ${error.message}\n${error.advice}\n`);
      host.exit(2);
      return;
    }
    await runToEnd(
      program,
      { config: config as ConfigOf<O> & ConfigOf<typeof commonOptions>, passedOn: line.passedOn },
      host,
    );
  };
  return Object.assign(main, { program });
}

/** What a command line and its surroundings came to. */
interface Given<O extends OptionSpecs> {
  readonly config: ConfigOf<O> & ConfigOf<typeof commonOptions>;
  readonly passedOn: readonly string[];
}

async function runToEnd<O extends OptionSpecs>(
  program: Program<O>,
  { config, passedOn }: Given<O>,
  host: ProgramHost,
): Promise<void> {
  if (host === processHost) {
    keepOwnFilesUsable();
    keepDebuggerShut();
    completeSearchPath(process.env);
    raiseSoftLimits();
  }
  const home = config.home === '' ? mutiraoHome(host.environment) : resolve(config.home);
  const log = createLogger(program.name, config.logLevel);
  const parts = new Map<string, () => unknown>();
  const fail = (error: unknown): void => {
    host.exit(reportEnd(error, { program: program.name, home, log, config, parts }));
  };
  host.onUncaught(fail);
  try {
    if (program.doesWithoutHome !== true) prepareHome(home);
    await program.run(config, {
      log,
      signal: abortedBySignals(host, log, config.leash),
      home,
      passedOn,
      fail,
      addToDump: (name, describe) => {
        parts.set(name, describe);
      },
    });
  } catch (error) {
    fail(error);
    return;
  }
  host.exit(0);
}

function abortedBySignals(host: ProgramHost, log: Logger, isLeashed: boolean): AbortSignal {
  const controller = new AbortController();
  if (isLeashed) {
    host.onInputEnd(() => {
      log.info({}, 'standard input ended: draining');
      controller.abort();
    });
  }
  for (const [name, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    host.onSignal(name, () => {
      if (controller.signal.aborted) host.exit(128 + number);
      log.info({ signal: name }, 'draining');
      controller.abort();
    });
  }
  return controller.signal;
}

interface EndReport {
  readonly program: string;
  readonly home: string;
  readonly log: Logger;
  readonly config: unknown;
  readonly parts: ReadonlyMap<string, () => unknown>;
}

/** What a file system answers about a path that is the user's to put right. */
const codesOfPaths = new Set([
  'EACCES',
  'EEXIST',
  'EIO',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOTDIR',
  'EPERM',
  'EROFS',
  'ESTALE',
]);

/**
 * The error as one that a user can fix; undefined for a bug. A full disk or an unusable path is never a bug, whatever
 * the program wanted to write.
 */
function findOperatingError(error: unknown): MutiraoError | undefined {
  if (error instanceof MutiraoError && error.code !== 'MUT_INTERNAL') return error;
  if (!(error instanceof Error)) return undefined;
  if (isFullDisk(error)) return new MutiraoError('MUT_DISK_FULL', error.message, { cause: error });
  const isAboutPath = 'path' in error && 'code' in error && codesOfPaths.has(String(error.code));
  return isAboutPath ? new MutiraoError('MUT_PATH_UNUSABLE', error.message, { cause: error }) : undefined;
}

/** Logs the error that ends a program, with a dump where it is a bug, and returns the exit status. */
function reportEnd(error: unknown, { log, home, program, config, parts }: EndReport): number {
  const operating = findOperatingError(error);
  if (operating !== undefined) {
    log.fatal({ code: operating.code, advice: operating.advice }, operating.message);
    const { status } = registry[operating.code];
    return status === 'INVALID_ARGUMENT' || status === 'FAILED_PRECONDITION' ? 2 : 3;
  }
  let dump: string | undefined;
  try {
    dump = writeCrashDump(home, { program, at: new Date(), error, config, parts });
  } catch (failure) {
    log.error({ err: failure }, 'cannot write the dump');
  }
  // The reason in the message too: of a process that cannot start, its parent shows only the message.
  log.fatal({ err: error, dump }, `a bug of Mutirao ended this process: ${describeError(error)}`);
  return 70;
}
