import { findSiteSelectionStrategy, siteSelectionStrategies, readSiteSelection } from '@mutirao/core/site-selection';
import { showFound } from '../format-error.ts';
import { takeRequirements } from './conditions.ts';
import { arrebolTask, refuseOtherDialects } from './dialect.ts';
import { emptyDefinitions, type Definitions, type JdfDocument } from './document.ts';
import { findSection, guessSection, isAtHeading, unknownHeading, type Section } from './headings.ts';
import type { JdfReader } from './reader.ts';
import { takeRequest } from './requests.ts';
import { isAtMove, takeTransfers, type BlockKind } from './transfers.ts';

/** Where the reading of a file is. */
interface Progress {
  /** Where relative local paths begin, absolute. */
  readonly directory: string;
  /** Another one, which nobody gets, behind a second "job:". */
  document: JdfDocument;
  /** The job's, until the first task. */
  definitions: Definitions;
  hasJob: boolean;
  previous: Section;
  /** Whether something in the section before was not understood, so that more of it may follow. */
  isBroken: boolean;
}

/**
 * Reads a job file's sections, in any order within the job and within each task. What is wrong is reported, and the
 * reading goes on where something that is known begins.
 *
 * @param directory where relative local paths begin, absolute.
 * @returns what could be read; undefined where there is no job at all.
 * @throws {FormatError} MUT_JDF_DIALECT for a file in another format.
 */
export function parseDocument(reader: JdfReader, directory: string): JdfDocument | undefined {
  refuseOtherDialects(reader);
  reader.skipBlank();
  const document = emptyDocument(reader.position);
  const progress: Progress = {
    directory,
    document,
    definitions: document.job,
    hasJob: takeJob(reader),
    previous: 'job',
    isBroken: false,
  };
  for (reader.skipBlank(); !reader.isAtEnd(); reader.skipBlank()) takeNext(reader, progress);
  return progress.hasJob || document.tasks.length > 0 ? document : undefined;
}

function emptyDocument(offset: number): JdfDocument {
  return { label: undefined, 'site-selection': undefined, job: emptyDefinitions(offset), tasks: [] };
}

/** Reads `job :`; where something else stands, all that follows is read as if it had stood there. */
function takeJob(reader: JdfReader): boolean {
  const word = reader.peekWord();
  const isJob = findSection(word) === 'job';
  if (!isJob) {
    const fault = reader.error({ expected: '"job:" first', words: ['job'] });
    reader.report(fault);
    if (fault.problem.nearest === undefined) return false;
  }
  reader.position += word.length;
  if (!reader.takeCharacter(':') && isJob) reader.report(reader.error({ expected: '":" after "job"' }));
  return true;
}

function takeNext(reader: JdfReader, progress: Progress): void {
  const { previous } = progress;
  if (progress.isBroken && isBlock(previous) && isAtMove(reader, previous)) {
    takeTransfers(reader, { section: previous, directory: progress.directory, isRest: true });
    return;
  }
  const heading = takeHeading(reader, progress);
  progress.isBroken = heading === undefined;
  if (heading === undefined) return skipMisunderstood(reader, progress);
  takeSection(reader, progress, heading);
  progress.previous = heading.section;
}

function isBlock(section: Section): section is BlockKind['section'] {
  return section === 'init' || section === 'final';
}

interface Heading {
  readonly section: Section;
  /** Offset of its word. */
  readonly start: number;
  /** Whether its word is another one, which is reported already. */
  readonly isGuess: boolean;
}

/** Reads `word :`, also where the word is misspelt or the colon is missing; undefined where nothing like it stands. */
function takeHeading(reader: JdfReader, { previous }: Progress): Heading | undefined {
  const start = reader.position;
  const word = reader.peekWord();
  reader.position += word.length;
  const hasColon = reader.takeCharacter(':');
  const section = findSection(word);
  if (section !== undefined) {
    if (!hasColon) {
      reader.skipSpaces();
      reader.report(reader.error({ expected: `":" after "${word}"` }));
    }
    return { section, start, isGuess: false };
  }
  const end = reader.position;
  reader.position = start;
  const guess = guessSection(word, previous);
  reader.report(
    previous === 'task' && word !== '' && !hasColon && guess === undefined
      ? arrebolTask(reader)
      : unknownHeading(reader, previous),
  );
  if (guess === undefined) return undefined;
  reader.position = end;
  return { section: guess, start, isGuess: true };
}

/** Skips text that is not understood, up to the next known beginning. */
function skipMisunderstood(reader: JdfReader, { previous, definitions }: Progress): void {
  // One of these lines may have been meant for it.
  definitions.unread.add('remote');
  do {
    reader.takeRestOfLine();
    reader.skipBlank();
  } while (!reader.isAtEnd() && !isAtHeading(reader, previous) && !(isBlock(previous) && isAtMove(reader, previous)));
}

function takeSection(reader: JdfReader, progress: Progress, heading: Heading): void {
  const { document, definitions } = progress;
  const { section, start } = heading;
  switch (section) {
    case 'job':
      return beginJob(reader, progress, start);
    case 'label':
    case 'site-selection':
      return takeJobLine(reader, document, { section, start });
    case 'annotations':
      return skipAnnotations(reader, start);
    case 'task':
      progress.definitions = emptyDefinitions(start);
      document.tasks.push(progress.definitions);
      return;
    case 'requirements':
      reportTwice(reader, heading, definitions.requirements);
      definitions.requirements = reader.attempt(() => takeRequirements(reader)) ?? unread(definitions, section);
      return;
    case 'init':
    case 'final':
      reportTwice(reader, heading, definitions[section]);
      definitions[section] = takeTransfers(reader, { section, directory: progress.directory, isRest: false });
      return;
    case 'cpus':
    case 'memory':
    case 'gpus':
    case 'resource':
      reportTwice(reader, heading, definitions[section]);
      takeRequest(reader, section, definitions);
      return;
    case 'remote':
    case 'check':
      reportTwice(reader, heading, definitions[section]);
      definitions[section] = reader.attempt(() => takeCommand(reader, section)) ?? '';
  }
}

/** A job that stands behind something else, which is reported already, or behind another job. */
function beginJob(reader: JdfReader, progress: Progress, start: number): void {
  if (progress.hasJob) {
    reader.report(reader.error({ found: 'a second "job:"', expected: 'one job in a file' }, start));
    progress.document = emptyDocument(start);
    progress.definitions = progress.document.job;
  }
  progress.hasJob = true;
}

function unread({ unread }: Definitions, section: 'requirements'): string {
  unread.add(section);
  return '';
}

function reportTwice(reader: JdfReader, { section, start, isGuess }: Heading, already: unknown): void {
  if (already === undefined || isGuess) return;
  reader.report(reader.error({ found: `a second "${section}:"`, expected: `one "${section}:" in each task` }, start));
}

function takeCommand(reader: JdfReader, section: 'remote' | 'check'): string {
  reader.skipSpaces();
  if (reader.isAtEndOfLine()) throw reader.error({ expected: `a command on the line of "${section}:"` });
  const start = reader.position;
  const command = reader.takeLine();
  if (command.trim() === '')
    throw reader.error({ found: 'an empty command', expected: `a command on the line of "${section}:"` }, start);
  return command;
}

/** Reads what is said of the job as a whole, on one line. */
function takeJobLine(
  reader: JdfReader,
  document: JdfDocument,
  { section, start }: { readonly section: 'label' | 'site-selection'; readonly start: number },
): void {
  if (document.tasks.length > 0)
    reader.report(reader.error({ expected: `the ${section.replace('-', ' ')} before the first task` }, start));
  else if (document[section] !== undefined)
    reader.report(
      reader.error({ found: `a second "${section}:"`, expected: `one ${section.replace('-', ' ')}` }, start),
    );
  document[section] ??=
    section === 'label' ? reader.takeLine() : (reader.attempt(() => takeSiteSelection(reader)) ?? '');
  reader.takeRestOfLine();
}

/** Reads `STRATEGY[:A]` or `none`, up to a comment. */
function takeSiteSelection(reader: JdfReader): string {
  reader.skipSpaces();
  const start = reader.position;
  const text = reader.takeRestOfLine().replace(/(^|\s+)#.*$/, '');
  const read = readSiteSelection(text);
  if (read === 'none' || !('fault' in read)) return text;
  const [name = ''] = text.split(':', 1);
  if (findSiteSelectionStrategy(name) !== undefined) {
    throw reader.error(
      { found: showFound(text.slice(name.length + 1)), expected: `a number in 0..1 or "adaptive" behind "${name}:"` },
      start + name.length + 1,
    );
  }
  throw reader.error(
    {
      expected: '"none" or a strategy such as "min-ct" or "min-ct:0.5"',
      words: ['none', ...siteSelectionStrategies.map((strategy) => strategy.name)],
    },
    start,
  );
}

/** Passes the line, and those below it up to the next section. */
function skipAnnotations(reader: JdfReader, start: number): void {
  reader.warn(start, 'annotations are ignored');
  reader.takeRestOfLine();
  for (reader.skipBlank(); !reader.isAtEnd(); reader.skipBlank()) {
    const before = reader.position;
    const word = reader.peekWord();
    reader.position += word.length;
    const isHeading = findSection(word) !== undefined && reader.takeCharacter(':');
    reader.position = before;
    if (isHeading) return;
    reader.takeRestOfLine();
  }
}
