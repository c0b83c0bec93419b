import { findNearestWord } from '@mutirao/core/shared';
import type { FormatError } from '../format-error.ts';
import { takeRequirements } from './conditions.ts';
import { refuseArrebolTask, refuseOtherDialects } from './dialect.ts';
import { emptyDefinitions, type Definitions, type JdfDocument } from './document.ts';
import type { JdfReader } from './reader.ts';
import { takeTransfers } from './transfers.ts';

const sections = ['job', 'label', 'requirements', 'init', 'remote', 'final', 'check', 'annotations', 'task'] as const;
type Section = (typeof sections)[number];

/** Where the reading of a file is. */
interface Progress {
  readonly document: JdfDocument;
  /** The job's, until the first task. */
  definitions: Definitions;
  previous: Section;
}

/**
 * Reads a job file's sections, in any order within the job and within each task.
 *
 * @param directory where relative local paths begin, absolute.
 * @throws {FormatError}
 */
export function parseDocument(reader: JdfReader, directory: string): JdfDocument {
  refuseOtherDialects(reader);
  reader.skipBlank();
  const job = emptyDefinitions(reader.position);
  if (reader.peekWord().toLowerCase() !== 'job') throw reader.error({ expected: '"job:" first', words: ['job'] });
  reader.position += 3;
  if (!reader.takeCharacter(':')) throw reader.error({ expected: '":" after "job"' });
  const progress: Progress = { document: { label: undefined, job, tasks: [] }, definitions: job, previous: 'job' };
  for (reader.skipBlank(); !reader.isAtEnd(); reader.skipBlank()) {
    const start = reader.position;
    const section = takeHeading(reader, progress);
    takeSection(reader, progress, { section, start, directory });
    progress.previous = section;
  }
  return progress.document;
}

/** Reads `word :`. */
function takeHeading(reader: JdfReader, progress: Progress): Section {
  const start = reader.position;
  const word = reader.peekWord();
  reader.position += word.length;
  const hasColon = reader.takeCharacter(':');
  const section = sections.find((name) => name === word.toLowerCase());
  if (section !== undefined && hasColon) return section;
  if (section !== undefined) {
    reader.skipSpaces();
    throw reader.error({ expected: `":" after "${word}"` });
  }
  reader.position = start;
  const isCommand = word !== '' && !hasColon && findNearestWord(word, sections) === undefined;
  if (progress.previous === 'task' && isCommand) refuseArrebolTask(reader);
  throw unknownHeading(reader, progress.previous);
}

const oneLine: readonly Section[] = ['remote', 'check', 'label', 'requirements'];

function unknownHeading(reader: JdfReader, previous: Section): FormatError {
  const words: string[] = sections.filter((name) => name !== 'job');
  if (previous === 'init') words.push('put', 'store', 'if');
  if (previous === 'final') words.push('get', 'if');
  const reason = oneLine.includes(previous) ? ` (${previous}: is one line)` : '';
  return reader.error({ expected: `a section such as "remote:", "final:" or "task:"${reason}`, words });
}

interface Heading {
  readonly section: Section;
  /** Offset of its word. */
  readonly start: number;
  readonly directory: string;
}

function takeSection(reader: JdfReader, progress: Progress, heading: Heading): void {
  const { document, definitions } = progress;
  const { section, start, directory } = heading;
  switch (section) {
    case 'job': throw reader.error({ found: 'a second "job:"', expected: 'one job in a file' }, start);
    case 'label': return takeLabel(reader, document, start);
    case 'annotations': return skipAnnotations(reader, start);
    case 'task':
      progress.definitions = emptyDefinitions(start);
      document.tasks.push(progress.definitions);
      return;
    case 'requirements':
      refuseTwice(reader, heading, definitions.requirements);
      definitions.requirements = takeRequirements(reader);
      return;
    case 'init':
    case 'final':
      refuseTwice(reader, heading, definitions[section]);
      definitions[section] = takeTransfers(reader, { section, directory });
      return;
    case 'remote':
    case 'check':
      refuseTwice(reader, heading, definitions[section]);
      definitions[section] = takeCommand(reader, section);
  }
}

function refuseTwice(reader: JdfReader, { section, start }: Heading, already: unknown): void {
  if (already !== undefined) throw reader.error({ found: `a second "${section}:"`, expected: `one "${section}:" in each task` }, start);
}

function takeCommand(reader: JdfReader, section: 'remote' | 'check'): string {
  reader.skipSpaces();
  if (reader.isAtEndOfLine()) throw reader.error({ expected: `a command on the line of "${section}:"` });
  const start = reader.position;
  const command = reader.takeLine();
  if (command.trim() === '') throw reader.error({ found: 'an empty command', expected: `a command on the line of "${section}:"` }, start);
  return command;
}

function takeLabel(reader: JdfReader, document: JdfDocument, start: number): void {
  if (document.tasks.length > 0) throw reader.error({ expected: 'the label before the first task' }, start);
  if (document.label !== undefined) throw reader.error({ found: 'a second "label:"', expected: 'one label' }, start);
  document.label = reader.takeLine();
}

/** Passes the line, and those below it up to the next section. */
function skipAnnotations(reader: JdfReader, start: number): void {
  reader.warn(start, 'annotations are ignored');
  reader.takeRestOfLine();
  for (reader.skipBlank(); !reader.isAtEnd(); reader.skipBlank()) {
    const before = reader.position;
    const word = reader.peekWord();
    reader.position += word.length;
    const isHeading = sections.some((name) => name === word.toLowerCase()) && reader.takeCharacter(':');
    reader.position = before;
    if (isHeading) return;
    reader.takeRestOfLine();
  }
}
