import { JdfReader } from '../jdf/reader.ts';
import { showFound } from '../format-error.ts';
import type { ListedMachine, ListedPeer, MachineList } from './machine-list.ts';
import { parseBlocks, type Block, type Entry } from './parse-blocks.ts';
import { takeTemplates } from './templates.ts';

/** Lines of one machine with those of the defaults that it does not have itself. */
type Entries = ReadonlyMap<string, Entry>;

/** Keys that say something to the UserAgent of MyGrid, and nothing here. */
const passedOver = ['port', 'uaport', 'debug', 'security', 'storagedir'];
const processorsMax = 4096;

/**
 * Reads a list of machines: workers of OurGrid (SDF), grid machines of MyGrid (GDF with "gum:"), or peers of OurGrid
 * (GDF). The content decides which.
 *
 * A machine's own line replaces that of the defaults. Cost: linear.
 *
 * @param file its name, for messages.
 * @throws {FormatError} MUT_MACHINES_SYNTAX, or MUT_MACHINES_DIALECT with the name of the actual format.
 */
export function parseMachineList(text: string, file: string): MachineList {
  const reader = new JdfReader(text, file, 'MUT_MACHINES_SYNTAX');
  const { format, defaults, items } = parseBlocks(reader);
  const machines: ListedMachine[] = [];
  const peers: ListedPeer[] = [];
  const taken = new Set<string>();
  for (const item of items) {
    const entries = new Map([...(defaults?.entries ?? []), ...item.entries]);
    if (format === 'gdf') {
      peers.push(readPeer(reader, item, entries));
      continue;
    }
    const machine = format === 'sdf' ? readWorker(reader, item, entries) : readGridMachine(reader, item, entries);
    if (taken.has(machine.name))
      throw reader.error(
        { found: `a second machine "${machine.name}"`, expected: 'another name for each machine' },
        item.offset,
      );
    taken.add(machine.name);
    machines.push(machine);
  }
  return { format, machines, peers, warnings: reader.warnings };
}

/** OurGrid: `username` and `servername`, which tasks find as attributes too. */
function readWorker(reader: JdfReader, item: Block, entries: Entries): ListedMachine {
  const user = getUser(reader, need(reader, { item, entries, key: 'username' }));
  const host = getHost(reader, need(reader, { item, entries, key: 'servername' }));
  return {
    ...readCommon(reader, item, entries),
    name: nameOf(reader, entries.get('name'), `${user}@${host}`),
    user,
    host,
  };
}

/** MyGrid: `name` is the host, with a user before an @ if need be. */
function readGridMachine(reader: JdfReader, item: Block, entries: Entries): ListedMachine {
  const entry = need(reader, { item, entries, key: 'name' });
  const at = entry.value.lastIndexOf('@');
  const user = at < 0 ? '' : getUser(reader, { ...entry, value: entry.value.slice(0, at) });
  const host = getHost(reader, { ...entry, value: entry.value.slice(at + 1) });
  return { ...readCommon(reader, item, entries), name: nameOf(reader, undefined, entry.value), user, host };
}

function readPeer(reader: JdfReader, item: Block, entries: Entries): ListedPeer {
  const user = need(reader, { item, entries, key: 'username' }).value;
  const server = need(reader, { item, entries, key: 'servername' }).value;
  return { ...reader.placeOf(item.offset), label: entries.get('label')?.value ?? '', user, server };
}

function readCommon(reader: JdfReader, item: Block, entries: Entries): Omit<ListedMachine, 'name' | 'user' | 'host'> {
  const gateway = entries.get('gateway');
  const type = entries.get('type')?.value.toLowerCase() ?? '';
  const templates = takeTemplates(reader, item, entries);
  if (type === 'gridscript' && templates === undefined) {
    throw reader.error(
      { found: 'a machine of type GRIDSCRIPT without templates', expected: '"remExec:", "copyTo:" and "copyFrom:"' },
      item.offset,
    );
  }
  return {
    ...reader.placeOf(item.offset),
    gateway: gateway === undefined ? '' : getGateway(reader, gateway),
    type,
    templates,
    folder: entries.get('playpenroot')?.value ?? '',
    processors: listProcessors(reader, entries.get('processors')),
    attributes: getAttributes(entries),
  };
}

function getAttributes(entries: Entries): Record<string, string> {
  const others = ['name', 'gateway', 'playpenroot', 'processors', 'remexec', 'copyto', 'copyfrom', ...passedOver];
  const attributes: Record<string, string> = {};
  for (const { key, value } of entries.values()) if (!others.includes(key)) attributes[key] = value;
  // `worker.X` is known to tasks as $X.
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('worker.')) attributes[key.slice(7)] ??= value;
  return attributes;
}

interface Need {
  readonly item: Block;
  readonly entries: Entries;
  readonly key: string;
}

function need(reader: JdfReader, { item, entries, key }: Need): Entry {
  const entry = entries.get(key);
  if (entry === undefined)
    throw reader.error(
      { found: `a "${item.heading}:" without "${key}:"`, expected: `"${key}:" in it or in the defaults` },
      item.offset,
    );
  return entry;
}

/** Names go to ssh as words of their own, so that none may look like an option. */
function getHost(reader: JdfReader, { value, valueOffset }: Entry): string {
  if (/^[A-Za-z0-9_][\w.-]{0,254}$|^\[?[0-9A-Fa-f:.]+(?:%\w+)?\]?$/.test(value)) return value;
  throw reader.error({ found: showFound(value), expected: 'the name or address of a host' }, valueOffset);
}

function getUser(reader: JdfReader, { value, valueOffset }: Entry): string {
  if (/^[A-Za-z0-9_][\w.+@-]{0,63}$/.test(value)) return value;
  throw reader.error({ found: showFound(value), expected: 'the name of a user' }, valueOffset);
}

/** A host, with a user before an @ if need be. */
function getGateway(reader: JdfReader, entry: Entry): string {
  const at = entry.value.lastIndexOf('@');
  if (at >= 0) getUser(reader, { ...entry, value: entry.value.slice(0, at) });
  getHost(reader, { ...entry, value: entry.value.slice(at + 1) });
  return entry.value;
}

/** A machine's name where the file gives it one, else where it is. */
function nameOf(reader: JdfReader, entry: Entry | undefined, place: string): string {
  if (entry === undefined) return place;
  if (/^[A-Za-z0-9_][\w.@-]{0,63}$/.test(entry.value)) return entry.value;
  throw reader.error(
    { found: showFound(entry.value), expected: 'a name of up to 64 letters, digits, ".", "_", "@" and "-"' },
    entry.valueOffset,
  );
}

function listProcessors(reader: JdfReader, entry: Entry | undefined): number {
  if (entry === undefined) return 0;
  const count = /^\d{1,5}$/.test(entry.value) ? Number(entry.value) : 0;
  if (count >= 1 && count <= processorsMax) return count;
  throw reader.error(
    { found: showFound(entry.value), expected: `processors from 1 to ${processorsMax}` },
    entry.valueOffset,
  );
}
