import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { Timing, type ReservationSpec, type Resource } from '@mutirao/api/reservation';
import { parseDuration } from '@mutirao/formats';

import { parseMoment } from '../local-time.ts';
import { showAmount } from './show-reservation.ts';

/** What a user says of a reservation. */
export interface SpecOptions {
  readonly count?: string;
  readonly share?: string;
  readonly capacity?: string;
  readonly processors?: string;
  readonly reference?: string;
  readonly work?: string;
  readonly for?: string;
  readonly from?: string;
  readonly until?: string;
  readonly immediate?: true;
  readonly onDemand?: true;
}

/** Adds the options that say how much, how long and when. */
export function addSpecOptions(command: Command): Command {
  return command
    .optionsGroup('Amount (exactly one):')
    .option('--count <units>', 'number of units')
    .option('--share <percent>', 'a share of the resource: 30%')
    .option('--capacity <amount>', 'a capacity: 200KB/s, 2TB, 3GHz')
    .option('--processors <least..most>', 'minimum and maximum units: 2..8; --for is the duration on --reference units')
    .option('--reference <units>', 'with --processors: the number of units that --for refers to (default: the maximum)')
    .option('--work <time>', 'with --processors, instead of --for: the work, as the time that one unit takes')
    .optionsGroup('Time:')
    .option('--for <duration>', 'length: 90s, 1h30m or HH:MM:SS')
    .option(
      '--from <time>',
      'earliest start: 14:00, "tomorrow 14:00", 2026-03-01T14:00:00Z, +30m or now (default: now)',
    )
    .option('--until <time>', 'latest end, in the same forms, or none (default: none)')
    .option('--immediate', 'start now, or refuse')
    .option('--on-demand', 'start now, or else as early as possible');
}

/** The amount that options ask for; undefined where they say nothing. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readAmount(options: SpecOptions): ReservationSpec['amount'] {
  const given = (['count', 'share', 'capacity', 'processors'] as const).filter((name) => options[name] !== undefined);
  if (given.length > 1)
    throw new MutiraoError('MUT_BAD_REQUEST', `--${given.join(' and --')} are given; expected one of them`);
  const { count, share, capacity } = options;
  if (options.processors !== undefined) return readRange(options, options.processors);
  if (options.work !== undefined || options.reference !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', '--work and --reference go with --processors');
  if (count !== undefined && !/^-?\d+$/.test(count))
    throw new MutiraoError(
      'MUT_RESERVATION_AMOUNT',
      `--count is ${JSON.stringify(count)}; expected a whole number of units, 1 or more`,
    );
  const text = share === undefined ? (count ?? capacity) : `${share.replace(/\s*%$/, '')}%`;
  return text === undefined ? undefined : { $case: 'quantity', value: text };
}

function readRange({ work, reference = '0' }: SpecOptions, processors: string): NonNullable<ReservationSpec['amount']> {
  const [, least = '0', most = least] = /^(\d+)(?:\.\.(\d+))?$/.exec(processors) ?? [];
  const [amountMin, amountMax] = [Number(least), Number(most)];
  if (amountMin < 1 || amountMax < amountMin)
    throw new MutiraoError(
      'MUT_RESERVATION_AMOUNT',
      `--processors is ${JSON.stringify(processors)}; expected LEAST..MOST, as in 2..8`,
    );
  if (work !== undefined)
    return { $case: 'malleable', value: { workUnitMs: readDuration(work, '--work'), amountMin, amountMax } };
  if (!/^\d+$/.test(reference))
    throw new MutiraoError(
      'MUT_RESERVATION_AMOUNT',
      `--reference is ${JSON.stringify(reference)}; expected a whole number of units, 1 or more`,
    );
  return { $case: 'elastic', value: { amountMin, amountMax, referenceAmount: Number(reference) } };
}

/**
 * Units are of what is counted: four of a bandwidth would be four bytes a second. @throws {MutiraoError}
 * MUT_UNKNOWN_UNIT
 */
export function checkUnits({ count, processors }: SpecOptions, resource: Resource | undefined): void {
  const [option, text] = processors === undefined ? ['--count', count] : ['--processors', processors];
  if (resource === undefined || resource.unit === '' || text === undefined) return;
  throw new MutiraoError(
    'MUT_UNKNOWN_UNIT',
    `${option} is ${text}, but ${resource.resourceId} is measured in ${resource.unit}; expected ` +
      '--share 30%, or --capacity as in ' +
      `${showAmount(Math.ceil(resource.total / 4), resource.unit).replace(' ', '')}`,
  );
}

/** A hundred years: later ends are not valid dates. */
const durationMax = 100 * 365.25 * 86_400_000;

/** The interval of a reservation. */
export function readTiming(options: SpecOptions): Timing {
  if (options.immediate === true && options.onDemand === true)
    throw new MutiraoError('MUT_BAD_REQUEST', '--immediate and --on-demand are given; expected one of them');
  if (options.immediate === true) return Timing.IMMEDIATE;
  return options.onDemand === true ? Timing.ON_DEMAND : Timing.ADVANCE;
}

/** Reads a duration, which is not negative. @throws {MutiraoError} MUT_RESERVATION_DURATION */
export function readDuration(text: string, option = '--for'): number {
  if (/^-/.test(text.trim()))
    throw new MutiraoError(
      'MUT_RESERVATION_DURATION',
      `${option} is ${JSON.stringify(text)}; expected a duration of 1 ms or more`,
    );
  const duration = parseDuration(text);
  if (duration > durationMax)
    throw new MutiraoError(
      'MUT_RESERVATION_TOO_LONG',
      `${JSON.stringify(text)} is longer than a hundred years; expected a shorter time`,
    );
  return duration;
}

/**
 * Reads how long a hold lasts; 0 for a reservation. @throws {MutiraoError}
 * MUT_RESERVATION_DURATION
 */
export function readHold(text: string | undefined): number {
  if (text === undefined) return 0;
  const hold = readDuration(text, '--hold');
  if (hold === 0)
    throw new MutiraoError(
      'MUT_RESERVATION_DURATION',
      `--hold is ${JSON.stringify(text)}; expected a duration of 1 ms or more, or no --hold, which reserves at once`,
    );
  return hold;
}

/** Reads a limit; undefined where none is given. @throws {MutiraoError} MUT_LOCAL_TIME, MUT_BAD_REQUEST */
export function readLimit(text: string | undefined, now: number): number | undefined {
  if (text === undefined || text === 'now' || text === 'none') return undefined;
  return text.startsWith('+') ? now + readDuration(text.slice(1), 'the time after +') : parseMoment(text, now);
}
