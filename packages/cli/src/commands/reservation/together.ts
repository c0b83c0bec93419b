import { readInteger } from '../../usage/read-integer.ts';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { reservationJson } from '../../json/reservation-documents.ts';
import { printResult } from '../../output/print-result.ts';
import { showInstant } from '../../output/units.ts';
import { commitGroup } from '../../reservations/commit-group.ts';
import { holdGroup } from '../../reservations/hold-group.ts';
import { readParts } from '../../reservations/parts.ts';
import { managerOption, reservationPairs, resourcesByName } from '../../reservations/show-reservation.ts';
import { readDuration, readLimit } from '../../reservations/spec-options.ts';

/** A spec for several resources at the same time. */
export interface GroupOptions {
  readonly for: string;
  readonly from?: string;
  readonly until?: string;
  readonly hold: string;
  readonly rounds: string;
  readonly manager?: string;
}

/** What begins now has begun when the last manager is asked. */
const leadTime = 2000;

export function define(command: Command, act: Act): void {
  command
    .usage('[options] RESOURCE=AMOUNT[@MANAGER] RESOURCE=AMOUNT[@MANAGER]...')
    .argument('<parts...>', 'resources and amounts: alpha=4, net=30%, beta=2@10.0.0.7:7000')
    .requiredOption('--for <duration>', 'length of the reservation: 90s, 1h30m or HH:MM:SS')
    .option('--from <time>', 'earliest start: 14:00, "tomorrow 14:00", 2026-03-01T14:00:00Z, +30m, now (default: now)')
    .option('--until <time>', 'latest end, in the same forms, or none (default: any)')
    .option('--hold <duration>', 'how long each resource is held until all of them can be confirmed', '1m')
    .option('--rounds <count>', 'how many start times to try', '16')
    .option(...managerOption)
    .action((parts: string[], options: GroupOptions) => act((context) => reserveGroup(context, parts, options)));
}

/** Reserves several resources, of several managers, for the same window, or none of them. */
export async function reserveGroup(
  context: CommandContext,
  texts: readonly string[],
  options: GroupOptions,
): Promise<ExitStatus> {
  const now = context.clock.now();
  const roundsMax = readInteger('--rounds', options.rounds, { min: 1, max: 1000 });
  const hold = readDuration(options.hold, '--hold');
  if (hold < 1000)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--hold is "${options.hold}"; expected 1s or more, or nobody could be asked meanwhile`,
    );
  const parts = await readParts(context, texts, options.manager);
  const from = readLimit(options.from, now) ?? now;
  if (from < now)
    throw new MutiraoError(
      'MUT_START_IN_PAST',
      `--from is ${showInstant(from)}; expected ${showInstant(now)} or later, or none for now`,
    );
  const earliestStart = Math.max(from, now + leadTime);
  const { held, window, rounds } = await holdGroup(context.clock, {
    parts,
    earliestStart,
    duration: readDuration(options.for),
    latestEnd: readLimit(options.until, now),
    hold,
    roundsMax,
  });
  const { reservations, unanswered } = await commitGroup(context, held);
  for (const { part } of unanswered)
    context.output.note(
      `All are reserved. The manager of ${part.text} does not answer; it will confirm its part later.`,
    );
  const units = await Promise.all(
    held.map(async ({ part }) => (await resourcesByName(part.manager)).get(part.resourceId)?.unit ?? ''),
  );
  printResult(context.output, {
    json: () => ({
      start_unix_ms: window.start,
      end_unix_ms: window.end,
      rounds,
      reservations: reservations.map((one, index) => ({
        manager: held[index]?.part.managerName ?? '',
        reservation: reservationJson(one, units[index] ?? ''),
      })),
    }),
    table: () => [
      `All ${reservations.length} are reserved from ${showInstant(window.start)} until ${showInstant(window.end)}.`,
      ...reservations.flatMap((one, index) => ['', ...reservationPairs(one, units[index] ?? '')]),
    ],
    quiet: () => reservations.map(({ reservationId }) => reservationId),
  });
  return 0;
}
