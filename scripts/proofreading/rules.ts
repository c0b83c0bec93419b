// The rules of LANGUAGE that a program can check: long sentences, turns of phrase, and terms that the glossary forbids.
import { readFileSync } from 'node:fs';

/** Where a text comes from: a Markdown page, a comment, the title of a test, or a string that a user may read. */
export type TextKind = 'documents' | 'docstrings' | 'comments' | 'titles' | 'messages';

/** A stretch of prose in one file. */
export interface ProseText {
  readonly file: string;
  readonly kind: TextKind;
  /** One paragraph, heading, table cell, comment or message; code in it is a single word in backquotes. */
  readonly text: string;
  /** The line of each character of `text`, counted from 1. */
  readonly lines: readonly number[];
  /** Whether the length of its sentences counts: not in tables, and only in documents. */
  readonly hasSentences: boolean;
}

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

interface PhraseRule {
  readonly name: string;
  readonly pattern: string;
  /** The kinds of text that it holds for; all of them by default. */
  readonly in?: readonly TextKind[];
  readonly instead: string;
}

export interface Rules {
  readonly sentenceWordsMax: number;
  /** For docs/ and README.md together: words that people wrote, tables and code included, and words of a sentence. */
  readonly writtenWordsMax: number;
  readonly averageSentenceMax: number;
  /** Patterns of git for the files to read, and the beginnings of paths that are not read. */
  readonly documents: readonly string[];
  readonly unread: readonly string[];
  /** Pages that a script writes: their words are checked where they come from. */
  readonly generated: readonly string[];
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  readonly unreadSources: readonly string[];
  readonly phrases: readonly PhraseRule[];
}

export function readRules(): Rules {
  return JSON.parse(readFileSync(new URL('rules.json', import.meta.url), 'utf8')) as Rules;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The number of words: what stands between blanks and has a letter, a digit or code in it. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length;
}

/** The sentences of a text, with the blanks that follow them. */
export function splitSentences(text: string): Intl.SegmentData[] {
  return [...segmenter.segment(text)];
}

function findLongSentences(prose: ProseText, wordsMax: number): Finding[] {
  const findings: Finding[] = [];
  for (const { segment, index } of splitSentences(prose.text)) {
    const count = countWords(segment);
    if (count <= wordsMax) continue;
    findings.push({
      file: prose.file,
      line: prose.lines[index] ?? 1,
      rule: 'long sentence',
      message: `${count} words in a sentence, at most ${wordsMax}: "${segment.trim().slice(0, 60)} …"`,
    });
  }
  return findings;
}

function findPattern(prose: ProseText, pattern: RegExp, rule: string, instead: string): Finding[] {
  return [...prose.text.matchAll(pattern)].map((match) => ({
    file: prose.file,
    line: prose.lines[match.index] ?? 1,
    rule,
    message: `"${match[0].trim().slice(0, 60)}" in "${wordsAround(prose.text, match)}": write ${instead}`,
  }));
}

/** The match with up to 24 characters on either side, in whole words. */
function wordsAround(text: string, { 0: found, index }: RegExpExecArray): string {
  const before = text.slice(Math.max(0, index - 24), index).replace(/^\S*(?=\s)/, '');
  const after = text.slice(index + found.length, index + found.length + 24).replace(/(?<=\s)\S*$/, '');
  return (before + found + after).replaceAll(/\s+/g, ' ').trim();
}

/** The cells of each row of each table of a Markdown text, the line under the header left out. */
function readTables(markdown: string): string[][][] {
  return [...markdown.matchAll(/(?:^\|.*(?:\n|$))+/gm)].map(([table]) =>
    table
      .trim()
      .split('\n')
      .filter((line) => !/^[\s|:-]+$/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );
}

/** Terms that the glossary forbids, each with the one to say: in its tables, the column "Do not say". */
export function readForbiddenTerms(glossary: string): Map<string, string> {
  const forbidden = new Map<string, string>();
  for (const [header = [], ...rows] of readTables(glossary)) {
    const column = header.findIndex((cell) => /^do not say$/i.test(cell));
    for (const cells of rows) addTerms(forbidden, cells[column] ?? '', cells[0] ?? '');
  }
  return forbidden;
}

function addTerms(forbidden: Map<string, string>, cell: string, term: string): void {
  const words = cell.replaceAll(/\([^)]*\)/g, '').split(',');
  for (const word of words.map((text) => text.replaceAll(/["`*]/g, '').trim()))
    if (word !== '') forbidden.set(word, term);
}

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Makes the check of one text, with the rules compiled once. */
export function proofreader(rules: Rules, forbidden: ReadonlyMap<string, string>): (prose: ProseText) => Finding[] {
  const phrases = rules.phrases.map((rule) => ({ ...rule, regex: new RegExp(rule.pattern, 'gim') }));
  const terms = [...forbidden].map(([word, term]) => ({
    word,
    term,
    regex: new RegExp(`\\b${escape(word)}s?\\b`, 'gi'),
  }));
  return (prose) => [
    ...(prose.hasSentences ? findLongSentences(prose, rules.sentenceWordsMax) : []),
    ...phrases
      .filter((rule) => rule.in === undefined || rule.in.includes(prose.kind))
      .flatMap((rule) => findPattern(prose, rule.regex, rule.name, rule.instead)),
    // The glossary itself names the words that it forbids.
    ...(prose.file === 'GLOSSARY.md'
      ? []
      : terms.flatMap(({ word, term, regex }) => findPattern(prose, regex, `term ${word}`, term))),
  ];
}
