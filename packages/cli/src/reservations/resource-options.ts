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
    .option('--total <quantity>', 'add: 16 units, or a capacity: 800KB/s, 2TB, 3GHz')
    .option('--type <word>', 'add: what it is, such as processors')
    .option('--cap <percent>', 'add, update: the most that reservations may take together')
    .option('--algorithm <word>', 'add, update: suvs, or suvs-p, where reservations without a latest end give way')
    .option('--placement <word>', 'add, update: first-fit, min-lip or min-tip')
    .option('--max-duration <duration>', 'add, update: longest reservation; 0 for any')
    .option('--per-user <count>', 'add, update: reservations of one user at a time; 0 for any')
    .option('--amount-per-user <amount>', 'add, update: the most of one user at any instant; 0 for any')
    .option('--moves-max <count>', 'add, update: reservations that one request may move, with suvs-p')
    .option('--claim-timeout <duration>', 'add, update: what nobody claims for so long is given back; 0 for never')
    .option('--id <name>', 'add-maintenance, remove-maintenance: name of the window')
    .option('--from <time>', 'add-maintenance: its beginning (default: now)')
    .option('--until <time>', 'add-maintenance: its end')
    .option(
      '--amount <number>',
      "add-maintenance, fail, restore: so many units, or so much in the resource's own unit (default for " +
        'maintain: all)',
    )
    .option('--unit <index>', 'fail, restore: one unit, counted from 0')
    .option('--reason <text>', 'add-maintenance, fail: what users are told');
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
