import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { plural } from '@mutirao/core/shared';
import { decodeText, FormatError, parseFailureTrace } from '@mutirao/formats';
import { readScenario, ScenarioError, type FailureLog, type Scenario } from '@mutirao/sim';

import { writeNamed } from '../../output/write-named.ts';
import { readWhole } from '../numbers.ts';
import { readPacked } from '../read-file.ts';

/** What `sim swarm` takes. */
export interface SwarmOptions {
  readonly seeds?: string;
  readonly from?: string;
  readonly workers?: string;
  readonly scenario?: string;
  readonly out?: string;
  readonly trace?: string;
  readonly shrink: string;
  readonly failures?: string;
  readonly factor: string;
}

/** Which worlds are run, and how. */
export interface SwarmPlan {
  /** Undefined where worlds are drawn from their seeds. */
  readonly scenario: Scenario | undefined;
  /** The file of the scenario, as the user names it. */
  readonly file: string | undefined;
  /** Seeds from `from`, `count` of them; undefined where the scenario runs with its own. */
  readonly seeds: { readonly from: number; readonly count: number } | undefined;
  /** How lab machines fail; undefined where their worlds say. */
  readonly failures: FailureLog | undefined;
  /** The words that name that log again. */
  readonly failuresFile: readonly string[];
  readonly workerCount: number;
  /** Absolute. */
  readonly out: string;
  readonly trace: string | undefined;
  readonly triesMax: number;
}

const seedsMax = 100_000_000;

/**
 * Reads which grids to simulate. @param warn gets what was left out of a log of failures. @throws {MutiraoError}
 * MUT_BAD_REQUEST; MUT_FILE_NOT_FOUND for a scenario that is not there.
 */
export function readPlan(directory: string, options: SwarmOptions, warn: (line: string) => void): SwarmPlan {
  const { scenario: file, workers, shrink } = options;
  const seeds = readSeeds(options);
  if (seeds === undefined && file === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', 'there is no world to run; expected --seeds, --scenario or both');
  const triesMax = readWhole('--shrink', shrink, { min: 0, max: 1_000_000 });
  const workerCount =
    workers === undefined ? availableParallelism() : readWhole('--workers', workers, { min: 1, max: 1024 });
  const scenario = file === undefined ? undefined : readScenarioFile(file, resolve(directory, file));
  const failures = readFailures(directory, options, warn);
  const failuresFile =
    options.failures === undefined ? [] : ['--failures', options.failures, '--factor', options.factor];
  return {
    scenario,
    file,
    seeds,
    failures,
    failuresFile,
    triesMax,
    workerCount,
    trace: openTrace(directory, options),
    out: openFolder(directory, options.out),
  };
}

function readSeeds({ seeds, from }: SwarmOptions): SwarmPlan['seeds'] {
  if (seeds !== undefined)
    return {
      count: readWhole('--seeds', seeds, { min: 1, max: seedsMax }),
      from: readWhole('--from', from ?? '0', { min: 0, max: Number.MAX_SAFE_INTEGER - seedsMax }),
    };
  if (from !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `--from is "${from}" and there is no --seeds; expected both`);
  return undefined;
}

/** Reads a log of failures, gzipped or not. */
function readFailures(
  directory: string,
  { failures: file, factor }: SwarmOptions,
  warn: (line: string) => void,
): FailureLog | undefined {
  if (file === undefined) return undefined;
  const log = decodeText(readPacked(file, resolve(directory, file)), file);
  try {
    const { nodes, malformedCount } = parseFailureTrace(log, file);
    if (malformedCount > 0)
      warn(
        `${file}: ${plural(malformedCount, 'line')} that ${malformedCount === 1 ? 'is' : 'are'} no event ` +
          `${malformedCount === 1 ? 'was' : 'were'} left out`,
      );
    if (nodes.length === 0) throw new MutiraoError('MUT_BAD_REQUEST', `${file} has no failure; expected one at least`);
    return { nodes, factor: readWhole('--factor', factor, { min: 1, max: 1_000_000_000 }) };
  } catch (error) {
    throw error instanceof FormatError ? new MutiraoError('MUT_BAD_REQUEST', error.message, { cause: error }) : error;
  }
}

/**
 * Reads the scenario of a file. @throws {MutiraoError} MUT_FILE_NOT_FOUND; MUT_BAD_REQUEST with the field, the value
 * found and the value wanted.
 */
export function readScenarioFile(file: string, path: string): Scenario {
  try {
    return readScenario(JSON.parse(decodeText(readPacked(file, path), file)));
  } catch (error) {
    if (!(error instanceof ScenarioError || error instanceof SyntaxError)) throw error;
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${file}${error instanceof ScenarioError ? '' : ' is not JSON'}: ${error.message}`,
      { cause: error },
    );
  }
}

/** Made first, so that a failure does not come after hours of running. */
function openFolder(directory: string, out: string | undefined): string {
  if (out === undefined) return directory;
  const path = resolve(directory, out);
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', `cannot use ${path} for scenarios: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return path;
}

function openTrace(directory: string, { trace, seeds }: SwarmOptions): string | undefined {
  if (trace === undefined) return undefined;
  if (seeds !== undefined && seeds !== '1')
    throw new MutiraoError('MUT_BAD_REQUEST', `--trace is of one world and --seeds is ${seeds}; expected --seeds 1`);
  const path = resolve(directory, trace);
  writeNamed(path, '');
  return path;
}
