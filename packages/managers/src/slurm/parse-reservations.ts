import type { SiteReservation } from '@mutirao/core/messages';
import type { ProcessorCount } from '@mutirao/core/shared';
import { parseInstant } from './parse-time.ts';

/**
 * Reads what `scontrol --oneliner show reservation` wrote under `TZ=UTC`: those whose names are the prefix and a
 * number.
 *
 * @param threadsPerCore Slurm reserves cores.
 * @returns undefined when one of them cannot be read: a reservation that we overlook would be made twice.
 */
export function parseReservations(
  output: string,
  prefix: string,
  threadsPerCore: ProcessorCount,
): SiteReservation[] | undefined {
  const found: SiteReservation[] = [];
  for (const line of output.split('\n')) {
    const values = getValues(line);
    const name = values.get('ReservationName') ?? '';
    const number = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (!/^\d{1,15}$/.test(number)) continue;
    const [startsAt, endsAt] = [parseInstant(values.get('StartTime') ?? ''), parseInstant(values.get('EndTime') ?? '')];
    const cores = Number(values.get('CoreCnt'));
    if (startsAt === 0 || endsAt === 0 || !Number.isSafeInteger(cores)) return undefined;
    found.push({ reservationId: Number(number), count: cores * threadsPerCore, startsAt, endsAt });
  }
  return found;
}

/** The words `name=value` of a line; what follows of several with one name, as each node's cores, is passed over. */
function getValues(line: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const word of line.trim().split(/\s+/)) {
    const at = word.indexOf('=');
    const name = word.slice(0, at);
    if (at > 0 && !values.has(name)) values.set(name, word.slice(at + 1));
  }
  return values;
}

/**
 * Reads what `sinfo --Node` wrote of the threads of each core: the fewest, so that cores are always enough. 1 if they
 * are unreadable.
 */
export function parseThreadsPerCore(output: string): ProcessorCount {
  const threads = output
    .split('\n')
    .map(Number)
    .filter((count) => Number.isSafeInteger(count) && count > 0);
  return threads.length === 0 ? 1 : Math.min(...threads);
}
