import { findNearestWord } from '@mutirao/core/shared';
import type { FormatError } from '../format-error.ts';
import type { JdfReader } from './reader.ts';

const sections = [
  'job',
  'label',
  'requirements',
  'site-selection',
  'init',
  'remote',
  'final',
  'check',
  'annotations',
  'cpus',
  'memory',
  'gpus',
  'resource',
  'task',
] as const;
/** A part of a job file that begins with its name and a colon. */
export type Section = (typeof sections)[number];

const verbsOf: Partial<Record<Section, readonly string[]>> = { init: ['put', 'store', 'if'], final: ['get', 'if'] };
const oneLine: readonly Section[] = [
  'remote',
  'check',
  'label',
  'requirements',
  'site-selection',
  'cpus',
  'memory',
  'gpus',
  'resource',
];

/** The section of that name, in any case of letters. */
export function findSection(word: string): Section | undefined {
  return sections.find((name) => name === word.toLowerCase());
}

/**
 * The section that a word is most likely a slip of, unless it is a slip of something else that may stand behind the
 * section before.
 */
export function guessSection(word: string, previous: Section): Section | undefined {
  if (word === '') return undefined;
  return findSection(findNearestWord(word, wordsAfter(previous)) ?? '');
}

/**
 * Whether a heading seems to begin here, if perhaps a misspelt one with its colon: what is misunderstood ends there at
 * the latest.
 */
export function isAtHeading(reader: JdfReader, previous: Section): boolean {
  const word = reader.peekWord();
  if (findSection(word) !== undefined) return true;
  const start = reader.position;
  reader.position += word.length;
  const hasColon = reader.takeCharacter(':');
  reader.position = start;
  return hasColon && guessSection(word, previous) !== undefined;
}

/** The error for what stands where a section should begin. */
export function unknownHeading(reader: JdfReader, previous: Section): FormatError {
  const reason = oneLine.includes(previous) ? ` (${previous}: is one line)` : '';
  return reader.error({
    expected: `a section such as "remote:", "final:" or "task:"${reason}`,
    words: wordsAfter(previous),
  });
}

function wordsAfter(previous: Section): string[] {
  return [...sections.filter((name) => name !== 'job'), ...(verbsOf[previous] ?? [])];
}
