import type { TaskGroup } from '@mutirao/core/messages';
import { emptyRequest, isEmptyRequest, type ResourceRequest } from '@mutirao/core/resources';
import type { ProcessorCount } from '@mutirao/core/shared';
import { FormatError } from '../format-error.ts';
import { type GpuRequest, parseGpus, parseNamedResource } from '../values/resources.ts';
import { parseSize } from '../values/size.ts';
import { parseWhole, valueError } from '../values/number.ts';
import type { JdfReader } from './reader.ts';

/** What a job or a task asks for; a section that is left out says nothing, and `none` asks for nothing. */
export interface RequestSections {
  cpus: ProcessorCount;
  memory: ResourceRequest['memory'];
  gpus: GpuRequest;
  resource: ResourceRequest['named'];
}

/** As many as `--cpus` takes. */
const cpusMax = 65_536;

const readers: { readonly [Name in keyof RequestSections]: (text: string) => RequestSections[Name] } = {
  cpus: (text) => (text === 'none' ? 1 : parseCpus(text)),
  memory: (text) => (text === 'none' ? 0 : parseSize(text)),
  gpus: (text) => (text === 'none' ? { gpus: 0 } : parseGpus(text)),
  resource: (text) => (text === 'none' ? {} : parseAmounts(text)),
};

/**
 * Reads the line of a section into the definitions. A section that is refused leaves nothing, and is reported where its
 * value stands.
 */
export function takeRequest(
  reader: JdfReader,
  section: keyof RequestSections,
  definitions: Partial<RequestSections>,
): void {
  reader.skipSpaces();
  const start = reader.position;
  const text = reader.takeRestOfLine().replace(/(^|\s+)#.*$/, '');
  const value = reader.attempt(() => {
    if (text === '') throw reader.error({ expected: `a value on the line of "${section}:", or none` }, start);
    return locate(reader, start, () => readers[section](text));
  });
  Object.assign(definitions, value === undefined ? {} : { [section]: value });
}

/** Reads a value of the command line, and reports where in the file it is wrong. */
function locate<T>(reader: JdfReader, start: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const { code, found, expected, nearest, column } = error.problem;
    const place = reader.placeOf(start + column - 1);
    throw new FormatError({ code, subject: reader.file, ...place, found, expected, nearest });
  }
}

function parseCpus(text: string): ProcessorCount {
  const context = { code: 'MUT_BAD_RESOURCE', kind: 'number of processors', text };
  const cpus = parseWhole(context, 0, text);
  if (cpus < 1 || cpus > cpusMax) throw valueError(context, 0, `a number of processors in 1..${cpusMax}`);
  return cpus;
}

/** `NAME=AMOUNT` of counted resources, with spaces between them. */
function parseAmounts(text: string): ResourceRequest['named'] {
  const amounts = new Map<string, number>();
  for (const match of text.matchAll(/\S+/g)) {
    const { name, amount } = shift(match.index, () => parseNamedResource(match[0]));
    if (amounts.has(name)) {
      const context = { code: 'MUT_BAD_RESOURCE', kind: 'resource', text };
      throw valueError(context, match.index, `each resource once, and ${name} stands before`);
    }
    amounts.set(name, amount);
  }
  return Object.fromEntries(amounts);
}

/** Moves what is wrong with a part of a text to its place in the whole. */
function shift<T>(offset: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError({ ...error.problem, column: error.problem.column + offset });
  }
}

/** What the tasks of a group hold, by its sections; empty where none is given. */
export function collectRequest({
  cpus,
  memory,
  gpus,
  resource,
}: Partial<RequestSections>): Pick<TaskGroup, 'processors' | 'resources'> {
  const request: ResourceRequest = { ...emptyRequest, memory: memory ?? 0, ...gpus, named: resource ?? {} };
  return {
    ...(cpus === undefined ? {} : { processors: cpus }),
    ...(isEmptyRequest(request) ? {} : { resources: request }),
  };
}
