import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import type { GetCalendarResponse, Resource } from '@mutirao/api/reservation';
import { InvariantError } from '@mutirao/core/shared';
import type { ReservationClient } from '@mutirao/runtime/clients';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { calendarJson } from '../../json/reservation-documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showInstant } from '../../output/units.ts';
import { drawCalendar } from '../../reservations/draw-calendar.ts';
import { managerOption, openManager, showAmount, showUnits } from '../../reservations/show-reservation.ts';
import { readLimit } from '../../reservations/spec-options.ts';

interface CalendarOptions {
  readonly manager?: string;
  readonly from?: string;
  readonly until?: string;
  readonly slots: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('[resources...]', 'names of resources (default: all)')
    .option(...managerOption)
    .option('--from <time>', 'start of the window (default: now)')
    .option('--until <time>', "end of the window (default: one day later, or the last reservation's end within a year)")
    .option('--slots <count>', 'rows of the list below the drawing', '12')
    .action((resources: string[], options: CalendarOptions) =>
      act((context) => showCalendars(context, resources, options)),
    );
}

/** Draws how much of resources is reserved. */
export async function showCalendars(
  context: CommandContext,
  names: readonly string[],
  options: CalendarOptions,
): Promise<ExitStatus> {
  const now = context.clock.now();
  const slotsMax = Number(options.slots);
  if (!Number.isInteger(slotsMax) || slotsMax < 0)
    throw new MutiraoError('MUT_BAD_REQUEST', `--slots is "${options.slots}"; expected an integer of 0 or more`);
  const manager = await openManager(context, options.manager);
  const wanted =
    names.length > 0 ? names : (await manager.listResources()).resources.map(({ resourceId }) => resourceId);
  const calendars: { calendar: GetCalendarResponse; resource: Resource }[] = [];
  for (const resourceId of wanted) {
    const calendar = await fetchCalendar(manager, resourceId, {
      from: readLimit(options.from, now),
      until: readLimit(options.until, now),
      now,
    });
    if (calendar.resource === undefined) throw new InvariantError('the manager gave no answer');
    calendars.push({ calendar, resource: calendar.resource });
  }
  printResult(context.output, {
    json: () => calendars.map(({ calendar, resource }) => calendarJson(calendar, resource)),
    table: () =>
      calendars.length === 0
        ? ['No resources.']
        : calendars.flatMap((one, index) => [
            ...(index === 0 ? [] : ['']),
            ...calendarLines(one, { slotsMax, columns: context.output.columns }),
          ]),
    quiet: () => wanted,
  });
  return 0;
}

const day = 24 * 3_600_000;
/** How far ahead reservations are looked for. */
const aheadMax = 366 * day;

interface Range {
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly now: number;
}

/** The calendar of what was asked for; without an end, as far as anything is reserved, and a day at least. */
async function fetchCalendar(
  manager: ReservationClient,
  resourceId: string,
  { from = 0, until, now }: Range,
): Promise<GetCalendarResponse> {
  if (until !== undefined) return manager.getCalendar({ resourceId, fromUnixMs: from, untilUnixMs: until });
  const begin = from === 0 ? now : from;
  const whole = await manager.getCalendar({ resourceId, fromUnixMs: from, untilUnixMs: begin + aheadMax });
  const lastEnd = whole.slots.reduce((end, slot) => (slot.used > 0 ? Math.max(end, slot.endUnixMs) : end), 0);
  return manager.getCalendar({ resourceId, fromUnixMs: from, untilUnixMs: Math.max(begin + day, lastEnd) });
}

interface Layout {
  readonly slotsMax: number;
  readonly columns: number;
}

function calendarLines(
  { calendar, resource }: { readonly calendar: GetCalendarResponse; readonly resource: Resource },
  { slotsMax, columns }: Layout,
): string[] {
  const { slots, fromUnixMs: from, untilUnixMs: until, truncated } = calendar;
  const { total, unit, rules } = resource;
  const cap = Math.max(1, Math.floor((total * (rules?.capPercent ?? 100)) / 100));
  const reported = slots
    .slice(0, slotsMax)
    .map(({ startUnixMs, endUnixMs, used }) => [
      showInstant(startUnixMs),
      showInstant(endUnixMs),
      showDuration(endUnixMs - startUnixMs),
      showAmount(used, unit),
      showAmount(Math.max(0, cap - used), unit),
    ]);
  const left = slots.length - reported.length;
  return [
    `${findHead(resource, cap)}, ${showInstant(from)} to ${showInstant(until)}`,
    ...drawCalendar({ slots, from, until, total, cap, columns }),
    ...(reported.length === 0
      ? []
      : renderTable(
          [
            { title: 'FROM' },
            { title: 'TO' },
            { title: 'DURATION', right: true },
            { title: 'RESERVED', right: true },
            { title: 'FREE', right: true },
          ],
          reported,
        )),
    ...(slotsMax > 0 && left > 0
      ? [`... and ${left} more${truncated ? ', and those beyond them' : ''}; --slots shows them`]
      : []),
  ];
}

function findHead({ resourceId, total, unit, failed, failedUnits }: Resource, cap: number): string {
  const units = failedUnits.length === 0 ? '' : ` (units ${showUnits(failedUnits)})`;
  const parts = [
    `${showAmount(total, unit)}${unit === '' ? ' units' : ''}`,
    cap < total ? `${showAmount(cap, unit)} offered` : '',
    failed === 0 ? '' : `${showAmount(failed, unit)} failed${units}`,
  ];
  return `${resourceId}: ${parts.filter((part) => part !== '').join(', ')}`;
}
