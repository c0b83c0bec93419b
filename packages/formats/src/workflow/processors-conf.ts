import type { PlatformProcessor } from '@mutirao/core/workflow';
import { FormatError, showFound } from '../format-error.ts';

/**
 * Reads moreira2009's list of processors: a line each, `<no> <host> <ip> <Mflop/s>`; blank lines and what follows `#`
 * are left out.
 *
 * @throws {FormatError} MUT_PLATFORM_SYNTAX
 */
export function parseProcessorsConf(text: string, subject: string): PlatformProcessor[] {
  const processors: PlatformProcessor[] = [];
  const numbers = new Set<string>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim();
    if (line === '') continue;
    const { number, processor } = readLine(line, { subject, line: index + 1 });
    if (numbers.has(number))
      throw faultAt(
        { subject, line: index + 1 },
        `the number ${number} again`,
        'a number of its own for each processor',
      );
    numbers.add(number);
    processors.push(processor);
  }
  if (processors.length === 0) throw faultAt({ subject, line: 1 }, 'no processor', 'a line for each');
  return processors;
}

interface LinePlace {
  readonly subject: string;
  readonly line: number;
}

function readLine(line: string, place: LinePlace): { readonly number: string; readonly processor: PlatformProcessor } {
  const [number = '', host = '', , speedText = '', ...rest] = line.split(/\s+/);
  if (speedText === '' || rest.length > 0)
    throw faultAt(place, showFound(line), 'four words: number, host, address, Mflop/s');
  const speed = Number(speedText);
  if (!Number.isFinite(speed) || speed <= 0) throw faultAt(place, showFound(speedText), 'a speed above 0 in Mflop/s');
  return { number, processor: { name: `${number} ${host}`, speed } };
}

function faultAt({ subject, line }: LinePlace, found: string, expected: string): FormatError {
  return new FormatError({ code: 'MUT_PLATFORM_SYNTAX', subject, line, column: 1, found, expected });
}
