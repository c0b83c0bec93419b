import type { AlternativeRequest } from '@mutirao/core/messages';
import {
  emptyRequest,
  isEmptyRequest,
  isResourceName,
  type ResourceRequest,
  wholeDevice,
} from '@mutirao/core/resources';
import { FormatError } from '../format-error.ts';
import { parseDuration, printDuration } from './duration.ts';
import { type ValueContext, valueError } from './number.ts';
import { parseGpus, parseNamedResource } from './resources.ts';
import { parseSize } from './size.ts';

/** As many processors as `--cpus` takes. */
const cpusMax = 65_536;

/**
 * Reads another request that a task can do with: `cpus=16,memory=8G,time=30m`, with `gpus=1:a100` and counted resources
 * such as `licence=1`. Processors that are not named are 1; nothing else is asked for unless it is named.
 *
 * @throws {FormatError} MUT_BAD_RESOURCE; MUT_BAD_SIZE and MUT_BAD_DURATION for a part.
 */
export function parseAlternative(text: string): AlternativeRequest {
  const context = { code: 'MUT_BAD_RESOURCE', kind: 'alternative', text };
  const parts = new Map<string, Part>();
  let offset = 0;
  for (const entry of text.split(',')) {
    const part = readEntry(context, entry, offset);
    if (parts.has(part.name)) throw valueError(context, part.offset, `each part once, and ${part.name} stands before`);
    parts.set(part.name, part);
    offset += entry.length + 1;
  }
  return collectParts(context, parts);
}

function readEntry(context: ValueContext, entry: string, entryOffset: number): Part {
  const [, word = '', text = ''] = /^([^=]*)(?:=(.*))?$/s.exec(entry) ?? [];
  const name = word.trim().toLowerCase();
  const value = text.trim();
  const offset = entryOffset + entry.search(/\S|$/);
  if (name === '') throw valueError(context, entryOffset, 'parts such as cpus=16,memory=8G,gpus=1,time=30m');
  const meant = otherNames[name];
  if (meant !== undefined) throw valueError(context, offset, `${meant}, as ${meant}=${value}`);
  const valueOffset = entryOffset + entry.length - text.trimStart().length;
  return { name, value, entry: entry.trim(), offset, valueOffset };
}

/** Names that other systems use; as counted resources, no machine would have them. */
const otherNames: Readonly<Record<string, string>> = {
  cpu: 'cpus',
  core: 'cpus',
  cores: 'cpus',
  ncpus: 'cpus',
  processor: 'cpus',
  mem: 'memory',
  ram: 'memory',
  gpu: 'gpus',
  walltime: 'time',
};

interface Part {
  /** In lower case. */
  readonly name: string;
  /** Empty where there is none. */
  readonly value: string;
  readonly entry: string;
  /** Where it begins in the whole. */
  readonly offset: number;
  /** Where its value begins in the whole. */
  readonly valueOffset: number;
}

function collectParts(context: ValueContext, parts: ReadonlyMap<string, Part>): AlternativeRequest {
  let processors = 1;
  let time: number | undefined;
  const named: Record<string, number> = {};
  let request: ResourceRequest = { ...emptyRequest, named };
  for (const [name, part] of parts) {
    const read = <T>(parse: (value: string) => T): T => readPart(context, part, parse);
    if (name === 'cpus' || name === 'processors') processors = parseCpus(context, part);
    else if (name === 'memory') request = { ...request, memory: read(parseSize) };
    else if (name === 'gpus') request = { ...request, ...read(parseGpus) };
    else if (name === 'time') time = read(parseDuration);
    else if (!isResourceName(name))
      throw valueError(context, part.offset, 'cpus, memory, gpus, time, or a counted resource such as licence=1');
    else {
      const counted = shift(context, part.offset, () => parseNamedResource(part.entry));
      named[counted.name] = counted.amount;
    }
  }
  return {
    processors,
    ...(isEmptyRequest(request) ? {} : { resources: request }),
    ...(time === undefined ? {} : { expectedTime: time }),
  };
}

function parseCpus(context: ValueContext, part: Part): number {
  return readPart(context, part, (value) => {
    const count = /^\d{1,6}$/.test(value) ? Number(value) : 0;
    const own = { code: context.code, kind: 'number of processors', text: value };
    if (count < 1 || count > cpusMax) throw valueError(own, 0, `a number in 1..${cpusMax}`);
    return count;
  });
}

function readPart<T>(
  context: ValueContext,
  { value, offset, valueOffset, entry }: Part,
  parse: (value: string) => T,
): T {
  if (value === '') throw valueError(context, offset, `a value behind "${entry}", as in cpus=16`);
  return shift(context, valueOffset, () => parse(value));
}

/** Says of a part that is wrong where it stands in the whole. */
function shift<T>({ text, kind }: ValueContext, offset: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const subject = `${kind} ${JSON.stringify(text)}`;
    throw new FormatError({ ...error.problem, subject, column: offset + error.problem.column });
  }
}

/** Writes an alternative as `parseAlternative` reads it. */
export function printAlternative({ processors, resources = emptyRequest, expectedTime }: AlternativeRequest): string {
  const { memory, gpus, gpuKind, named } = resources;
  return [
    `cpus=${processors}`,
    ...(memory > 0 ? [`memory=${memory}B`] : []),
    ...(gpus > 0 ? [`gpus=${gpus / wholeDevice}${gpuKind === undefined ? '' : `:${gpuKind}`}`] : []),
    ...Object.entries(named).map(([name, amount]) => `${name}=${amount}`),
    ...(expectedTime === undefined ? [] : [`time=${printDuration(expectedTime)}`]),
  ].join(',');
}
