import { findNearestWord } from '@mutirao/core/shared';
import { findFormat, type Format } from '../detect-format.ts';
import type { JdfReader } from '../jdf/reader.ts';
import { showFound } from '../format-error.ts';

/** The headings of the three kinds of lists: the defaults of a list, and its items. */
const headings = ['workerdefaults', 'worker', 'gumdefaults', 'mygump', 'gum', 'peer'] as const;
type Heading = (typeof headings)[number];

/** A `key : value` line. */
export interface Entry {
  /** In lower case. */
  readonly key: string;
  /** As it is written, quotes and all. */
  readonly raw: string;
  /** Without quotes around the whole, and `\"` and `\\` resolved. */
  readonly value: string;
  /** Offset of the key. */
  readonly offset: number;
  /** Offset of the value. */
  readonly valueOffset: number;
}

/** A heading with its lines; of a key that is written twice the last. */
export interface Block {
  readonly heading: Heading;
  readonly offset: number;
  readonly entries: Map<string, Entry>;
}

/** The blocks of a file: of one kind, defaults apart. */
export interface Blocks {
  readonly format: 'sdf' | 'gdf-g2' | 'gdf';
  readonly defaults: Block | undefined;
  readonly items: readonly Block[];
}

const formatOf = {
  workerdefaults: 'sdf',
  worker: 'sdf',
  gumdefaults: 'gdf-g2',
  mygump: 'gdf-g2',
  gum: 'gdf-g2',
  peer: 'gdf',
} as const;
const itemOf = { sdf: 'worker', 'gdf-g2': 'gum', gdf: 'peer' } as const;
/** Keys whose values are whole command lines, which lose no backslash. */
const commandKeys = ['remexec', 'copyto', 'copyfrom'];

/** The names of other formats that are found in place of a list of machines, for people. */
const namesOf: Partial<Readonly<Record<Format, string>>> = {
  jdf: 'a job file (JDF)',
  'jdf-g1': 'a job file of MyGrid 1 (INIT = ... ;)',
  'jdf-arrebol': "a job file of Arrebol's dialect",
  jdl: 'a JDL job (ClassAd)',
  'sdf-classad': 'a list of workers of OurGrid 4.2 (SDF as ClassAd)',
  'gdf-g1': 'a grid file of MyGrid 1 (GDF with "name = value;")',
  wfformat: 'a workflow (WfFormat)',
  json: 'JSON',
  dax: 'a workflow (DAX)',
  xml: 'XML',
  swf: 'a workload trace (SWF)',
};

const wanted =
  'a list of machines: workers (SDF) or peers (GDF) as OurGrid 3 to 4.1 reads them, or grid machines (GDF) of ' +
  'MyGrid 2 and 3';

/** Reads a file into its blocks. @throws {FormatError} MUT_MACHINES_DIALECT, MUT_MACHINES_SYNTAX */
export function parseBlocks(reader: JdfReader): Blocks {
  reader.skipBlank();
  const first = takeFirstHeading(reader);
  const format = formatOf[first.heading];
  let defaults: Block | undefined;
  const items: Block[] = [];
  for (let block: Block | undefined = first; block !== undefined; block = takeNextHeading(reader, format)) {
    const isItem = block.heading === itemOf[format];
    if (isItem) items.push(block);
    else if (items.length > 0)
      throw reader.error(
        { found: `"${block.heading}:" behind "${itemOf[format]}:"`, expected: 'the defaults first' },
        block.offset,
      );
    else if (defaults !== undefined)
      throw reader.error({ found: `a second "${block.heading}:"`, expected: 'one block of defaults' }, block.offset);
    else defaults = block;
    takeEntries(reader, block);
  }
  return { format, defaults, items };
}

/** Takes the heading that decides the format. Any other text is refused with the name of its format. */
function takeFirstHeading(reader: JdfReader): Block {
  const { format, offset } = findFormat(reader.text);
  const heading = takeHeading(reader);
  const isOther = heading === undefined || format === 'gdf-g1';
  const name = isOther ? namesOf[format] : undefined;
  if (name !== undefined) throw reader.error({ code: 'MUT_MACHINES_DIALECT', found: name, expected: wanted }, offset);
  if (heading === undefined) throw reader.error({ expected: '"worker:", "gum:" or "peer:" first', words: headings });
  return heading;
}

function takeNextHeading(reader: JdfReader, format: Blocks['format']): Block | undefined {
  if (reader.isAtEnd()) return undefined;
  const block = takeHeading(reader);
  if (block === undefined) throw reader.error({ expected: 'a line such as "os: linux", or the next heading' });
  if (formatOf[block.heading] !== format) {
    throw reader.error(
      { found: `"${block.heading}:" in a list of "${itemOf[format]}:"`, expected: 'one kind of list in a file' },
      block.offset,
    );
  }
  return block;
}

/** Reads `word :` and nothing behind it; passes nothing where no heading stands. */
function takeHeading(reader: JdfReader): Block | undefined {
  const offset = reader.position;
  const word = reader.peekWord().toLowerCase();
  const heading = headings.find((name) => name === word);
  if (heading === undefined) return undefined;
  reader.position += word.length;
  if (!reader.takeCharacter(':')) {
    reader.skipSpaces();
    if (reader.isAtEndOfLine()) throw reader.error({ expected: `":" after "${word}"` });
    reader.position = offset;
    return undefined;
  }
  reader.expectEndOfLine(`the end of the line after "${word}:"`);
  return { heading, offset, entries: new Map() };
}

function takeEntries(reader: JdfReader, block: Block): void {
  for (reader.skipBlank(); !reader.isAtEnd() && !isHeading(reader); reader.skipBlank()) {
    const entry = takeEntry(reader);
    if (block.entries.has(entry.key))
      reader.warn(entry.offset, `"${entry.key}" stands twice in one block; the last counts`);
    block.entries.set(entry.key, entry);
  }
}

function isHeading(reader: JdfReader): boolean {
  const word = reader.peekWord().toLowerCase();
  return headings.some((name) => name === word);
}

function takeEntry(reader: JdfReader): Entry {
  const offset = reader.position;
  const written = reader.peekWord();
  if (written === '') throw reader.error({ expected: 'a line such as "os: linux"' });
  reader.position += written.length;
  if (!reader.takeCharacter(':')) throw missingColon(reader, written, offset);
  reader.skipSpaces();
  const valueOffset = reader.position;
  if (reader.isAtEndOfLine()) throw reader.error({ expected: `a value behind "${written}:" on its line` });
  const raw = reader.takeRestOfLine();
  if (raw.includes('\0'))
    throw reader.error({ found: 'a NUL character', expected: 'text' }, valueOffset + raw.indexOf('\0'));
  reader.position = valueOffset;
  const unescaped = reader.takeLine();
  const key = written.toLowerCase();
  const isWhole = /^"[^"]*"$/.test(raw);
  const value = commandKeys.includes(key) && !isWhole ? raw : unescaped;
  if (value.trim() === '')
    throw reader.error({ found: showFound(raw), expected: `a value behind "${written}:"` }, valueOffset);
  return { key, raw, value, offset, valueOffset };
}

/** `name = value;` is the first dialect's, and a word alone is most likely a heading that is mistyped. */
function missingColon(reader: JdfReader, written: string, offset: number): Error {
  reader.skipSpaces();
  if (reader.text[reader.position] === '=') {
    return reader.error(
      { code: 'MUT_MACHINES_DIALECT', found: `"${written} =", as in ${namesOf['gdf-g1'] ?? ''}`, expected: wanted },
      offset,
    );
  }
  const heading = reader.isAtEndOfLine() ? findNearestWord(written, headings) : undefined;
  return heading === undefined
    ? reader.error({ expected: `":" after "${written}"` })
    : reader.error({ expected: 'a line such as "os: linux", or a heading', words: headings }, offset);
}
