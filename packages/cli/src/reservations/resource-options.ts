import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { Algorithm, Placement, type FailResourceRequest, type ResourceRules } from '@mutirao/api/reservation';
import { parseDuration } from '@mutirao/formats';

/** What an owner says of a resource. */
export interface ResourceOptions {
  readonly manager?: string;
  readonly total?: string;
  readonly type?: string;
  readonly cap?: string;
  readonly algorithm?: string;
  readonly placement?: string;
  readonly maxDuration?: string;
  readonly perUser?: string;
  readonly amountPerUser?: string;
  readonly movesMax?: string;
  readonly claimTimeout?: string;
  readonly id?: string;
  readonly from?: string;
  readonly until?: string;
  readonly amount?: string;
  readonly unit?: string;
  readonly reason?: string;
}

/** Adds the options of `reservation resource`. */
export function addResourceOptions(command: Command): Command {
  return command
    .optionsGroup('Describe the resource (add):')
    .option('--total <quantity>', 'its size: 16 (units), or a capacity such as 800KB/s, 2TB, 3GHz')
    .option('--type <word>', 'what it is, for example processors')
    .optionsGroup('Rules (add, update):')
    .option('--cap <percent>', 'largest share that reservations may take together')
    .option('--algorithm <word>', 'suvs, or suvs-p, which moves reservations without a latest end')
    .option('--placement <word>', 'first-fit, min-lip or min-tip')
    .option('--max-duration <duration>', 'longest reservation; 0 = no limit')
    .option('--per-user <count>', 'reservations of one user at a time; 0 = no limit')
    .option('--amount-per-user <amount>', 'largest amount of one user at any instant; 0 = no limit')
    .option('--moves-max <count>', 'with suvs-p: reservations that one request may move')
    .option('--claim-timeout <duration>', 'cancel a reservation that is not claimed within this time; 0 = never')
    .optionsGroup('Maintenance and failures:')
    .option('--id <name>', 'add-maintenance, remove-maintenance: name of the maintenance window')
    .option('--from <time>', 'add-maintenance: start of the window (default: now)')
    .option('--until <time>', 'add-maintenance: end of the window')
    .option(
      '--amount <number>',
      "add-maintenance, fail, restore: units, or an amount in the resource's own unit (default for " +
        'add-maintenance: all)',
    )
    .option('--unit <index>', 'fail, restore: index of one unit, from 0')
    .option('--reason <text>', 'add-maintenance, fail: the reason that users see');
}

const algorithms = new Map<string, Algorithm>([
  ['suvs', Algorithm.SUVS],
  ['suvs-p', Algorithm.SUVS_P],
]);
const placements = new Map<string, Placement>([
  ['first-fit', Placement.FIRST_FIT],
  ['min-lip', Placement.MIN_LIP],
  ['min-tip', Placement.MIN_TIP],
]);
const usual: ResourceRules = {
  capPercent: undefined,
  algorithm: Algorithm.UNSPECIFIED,
  placement: Placement.UNSPECIFIED,
  durationMsMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: undefined,
  unclaimedMsMax: 0,
};

/** The rules that options state; the others are as usual. @throws {MutiraoError} MUT_BAD_REQUEST */
export function rulesJson(options: ResourceOptions): ResourceRules {
  return mergeRules(undefined, options);
}

/** The old rules, but for those that options state. @throws {MutiraoError} MUT_BAD_REQUEST */
export function mergeRules(old: ResourceRules | undefined, options: ResourceOptions): ResourceRules {
  const { cap, algorithm, placement, maxDuration, perUser, amountPerUser, movesMax, claimTimeout } = options;
  return {
    ...(old ?? usual),
    ...(cap === undefined ? {} : { capPercent: readNumber('cap', cap.replace(/\s*%$/, '')) }),
    ...(algorithm === undefined ? {} : { algorithm: readWord('algorithm', algorithm, algorithms) }),
    ...(placement === undefined ? {} : { placement: readWord('placement', placement, placements) }),
    ...(maxDuration === undefined ? {} : { durationMsMax: parseDuration(maxDuration) }),
    ...(claimTimeout === undefined ? {} : { unclaimedMsMax: parseDuration(claimTimeout) }),
    ...getCounts({ perUser, amountPerUser, movesMax }),
  };
}

/** Whether rules are those that options state; what they do not state may be any. */
export function areStated(rules: ResourceRules | undefined, options: ResourceOptions): boolean {
  return JSON.stringify(mergeRules(rules, options)) === JSON.stringify(mergeRules(rules, {}));
}

function getCounts({
  perUser,
  amountPerUser,
  movesMax,
}: Record<'perUser' | 'amountPerUser' | 'movesMax', string | undefined>): Partial<ResourceRules> {
  return {
    ...(perUser === undefined ? {} : { reservationsPerUserMax: readCount('per-user', perUser) }),
    ...(amountPerUser === undefined ? {} : { amountPerUserMax: readCount('amount-per-user', amountPerUser) }),
    ...(movesMax === undefined ? {} : { movesMax: readCount('moves-max', movesMax) }),
  };
}

/** Which part of a resource is meant. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readPart({ amount, unit }: ResourceOptions): NonNullable<FailResourceRequest['what']> {
  if ((amount === undefined) === (unit === undefined))
    throw new MutiraoError('MUT_BAD_REQUEST', 'expected --amount or --unit, to say what is meant');
  return unit === undefined
    ? { $case: 'amount', value: readCount('amount', amount ?? '') }
    : { $case: 'unitIndex', value: readCount('unit', unit) };
}

/** Reads a whole number. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readCount(name: string, text: string): number {
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--${name} is ${JSON.stringify(text)}; expected a whole number of 0 or more`,
    );
  return Number(text);
}

function readNumber(name: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw new MutiraoError('MUT_BAD_REQUEST', `--${name} is ${JSON.stringify(text)}; expected a number of 0 or more`);
  return Number(text);
}

function readWord<Value>(name: string, text: string, words: ReadonlyMap<string, Value>): Value {
  const value = words.get(text);
  if (value === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--${name} is "${text}"; expected one of ${[...words.keys()].join(', ')}`,
    );
  return value;
}
