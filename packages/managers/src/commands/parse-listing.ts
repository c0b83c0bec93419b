import type { QueuedRequest } from '@mutirao/core/messages';
import { describeError, type Instant } from '@mutirao/core/shared';
import { unlimitedWalltime } from '../unlimited-walltime.ts';
import type { ListedState, QueueField, QueueTemplate } from './manager-file.ts';
import { parseMoment, parseSpan } from './parse-span.ts';

/** Requests in the order in which they were listed, or what makes a listing unfit for use. */
export type TemplateListing =
  | { readonly kind: 'requests'; readonly requests: readonly QueuedRequest[] }
  | { readonly kind: 'garbage'; readonly why: string };

type Entry = ReadonlyMap<QueueField, string>;

/**
 * Reads what a queue's command wrote. One entry that makes no sense spoils it all: a request that we overlook would
 * count as gone.
 */
export function parseListing(output: string, { format, states }: QueueTemplate): TemplateListing {
  const entries = format.kind === 'lines' ? readLines(output, format) : readJson(output, format);
  if (typeof entries === 'string') return { kind: 'garbage', why: entries };
  const requests: QueuedRequest[] = [];
  for (const entry of entries) {
    const request = findRequest(entry, states);
    if (typeof request === 'string')
      return { kind: 'garbage', why: `${request} in ${JSON.stringify(Object.fromEntries(entry)).slice(0, 200)}` };
    requests.push(request);
  }
  return { kind: 'requests', requests };
}

function readLines(output: string, { pattern, skip }: QueueTemplate['format'] & { kind: 'lines' }): Entry[] | string {
  const entries: Entry[] = [];
  for (const line of output.split('\n')) {
    if (line.trim() === '' || skip?.test(line) === true) continue;
    const groups = pattern.exec(line)?.groups;
    if (groups === undefined) return `a line that "pattern" does not match: ${line.slice(0, 200)}`;
    entries.push(
      new Map(
        Object.entries(groups).filter(([, text]) => (text as string | undefined) !== undefined),
      ) as unknown as Entry,
    );
  }
  return entries;
}

function readJson(
  output: string,
  { items, mayLackItems, fields }: QueueTemplate['format'] & { kind: 'json' },
): Entry[] | string {
  let all: unknown;
  try {
    all = JSON.parse(output);
  } catch (error) {
    return `no JSON: ${describeError(error)}`;
  }
  const found = items === '' ? all : at(all, items);
  if (found === undefined && mayLackItems && typeof all === 'object' && all !== null) return [];
  if (typeof found !== 'object' || found === null) return `no array or object at "${items}"`;
  return Object.entries(found).map(
    ([name, item]) =>
      new Map(
        [...fields].flatMap(([field, place]) => {
          const value = place === '@name' ? name : at(item, place);
          return typeof value === 'string' || typeof value === 'number' ? [[field, String(value)] as const] : [];
        }),
      ),
  );
}

/** What is at a place such as `Resource_List.walltime`. */
function at(value: unknown, place: string): unknown {
  return place
    .split('.')
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined,
      value,
    );
}

/** The request, or what is wrong with the entry. */
function findRequest(entry: Entry, states: QueueTemplate['states']): QueuedRequest | string {
  const text = (field: QueueField): string => entry.get(field)?.trim() ?? '';
  const state = states.get(text('state'));
  if (state === undefined) return `state "${text('state')}", which "states" does not have,`;
  const walltime = text('walltime') === '' ? unlimitedWalltime : parseSpan(text('walltime'));
  if (walltime === undefined) return `walltime "${text('walltime')}"`;
  if (!/^\d{1,9}$/.test(text('width')) || Number(text('width')) === 0) return `width "${text('width')}"`;
  if (text('id') === '') return 'no id';
  const endedAt = parseMoment(text('ended'));
  return {
    managerRequestId: text('id'),
    userId: text('user'),
    width: Number(text('width')),
    walltime,
    clientRequestId: text('key'),
    submittedAt: parseMoment(text('submitted')),
    endedAt: state === 'ended' ? endedAt : 0,
    endReason: state === 'ended' ? text('reason') : '',
    ...waitOf(state, parseMoment(text('starts'))),
  };
}

function waitOf(state: ListedState, startsAt: Instant): Pick<QueuedRequest, 'status' | 'startsAt' | 'isHeldBack'> {
  if (state !== 'held') return { status: state, startsAt };
  return { status: 'queued', startsAt, ...(startsAt === 0 ? { isHeldBack: true } : {}) };
}
