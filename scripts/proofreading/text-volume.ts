// How much text the documents have, and how long its sentences are.
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { countWords, splitSentences } from './rules.ts';

export interface TextVolume {
  /** Words of paragraphs, lists and headings; code in them counts as one word. */
  readonly prose: number;
  /** Words of tables and of blocks of code. */
  readonly tables: number;
  readonly code: number;
  /** Words that a script writes: of the whole page, or of the parts between its marks. */
  readonly generated: number;
  /** The words of each sentence that a person wrote; headings and tables have none. */
  readonly sentences: readonly number[];
}

export interface VolumeLimits {
  /** Words that people wrote, tables and code included. */
  readonly writtenWordsMax: number;
  readonly averageSentenceMax: number;
}

/** Parts that scripts/fill-part.ts fills, and examples that a test writes. */
const generatedPart = /<!-- begin [^]*?-->[^]*?<!-- end [^>]*-->|<!-- example \w+ -->\n```[^`]*```/g;

const parse = (markdown: string): Nodes =>
  fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

function readText(node: Nodes): string {
  if (node.type === 'inlineCode') return '`x`';
  if (node.type === 'text') return node.value.replaceAll('\n', ' ');
  return 'children' in node ? node.children.map(readText).join('') : ' ';
}

class Meter {
  prose = 0;
  tables = 0;
  code = 0;
  readonly sentences: number[] = [];

  visit(node: Nodes): void {
    if (node.type === 'code') this.code += countWords(node.value);
    else if (node.type === 'tableCell') this.tables += countWords(readText(node));
    else if (node.type === 'heading') this.prose += countWords(readText(node));
    else if (node.type === 'paragraph') this.#addSentences(readText(node));
    else if ('children' in node) for (const child of node.children) this.visit(child);
  }

  #addSentences(text: string): void {
    const counts = splitSentences(text)
      .map(({ segment }) => countWords(segment))
      .filter((words) => words > 0);
    this.sentences.push(...counts);
    this.prose += counts.reduce((total, words) => total + words, 0);
  }
}

/** Measures a page; one that is generated as a whole has no other words. */
export function measureText(markdown: string, isGenerated = false): TextVolume {
  const meter = new Meter();
  meter.visit(parse(markdown.replaceAll(generatedPart, '')));
  const { prose, tables, code, sentences } = meter;
  if (isGenerated) {
    return { prose: 0, tables: 0, code: 0, generated: prose + tables + code + countParts(markdown), sentences: [] };
  }
  return { prose, tables, code, generated: countParts(markdown), sentences };
}

function countParts(markdown: string): number {
  const meter = new Meter();
  for (const [part] of markdown.matchAll(generatedPart)) meter.visit(parse(part));
  return meter.prose + meter.tables + meter.code;
}

/** Adds up the volumes of pages. */
export function addVolumes(volumes: readonly TextVolume[]): TextVolume {
  const add = (get: (volume: TextVolume) => number): number => volumes.reduce((total, each) => total + get(each), 0);
  return {
    prose: add(({ prose }) => prose),
    tables: add(({ tables }) => tables),
    code: add(({ code }) => code),
    generated: add(({ generated }) => generated),
    sentences: volumes.flatMap(({ sentences }) => sentences),
  };
}

export const countWritten = ({ prose, tables, code }: TextVolume): number => prose + tables + code;

const getAverage = ({ sentences }: TextVolume): number =>
  sentences.reduce((total, words) => total + words, 0) / Math.max(1, sentences.length);

/** What exceeds the limits, as lines for a reader; the length of single sentences is checked elsewhere. */
export function checkVolume(total: TextVolume, limits: VolumeLimits): string[] {
  const written = countWritten(total);
  const average = getAverage(total);
  return [
    ...(written > limits.writtenWordsMax
      ? [
          `docs/ and README.md have ${written} words that people wrote, at most ${limits.writtenWordsMax}: ` +
            'shorten pages ("scripts/prose --count" lists them), or move tables into data files.',
        ]
      : []),
    ...(average > limits.averageSentenceMax
      ? [
          `Sentences have ${average.toFixed(1)} words on average, at most ${limits.averageSentenceMax}: split long ones.`,
        ]
      : []),
  ];
}

/** One line for each page, the longest first, and the total. */
export function describeVolumes(volumes: ReadonlyMap<string, TextVolume>): string[] {
  const line = (name: string, volume: TextVolume): string =>
    [countWritten(volume), volume.prose, volume.tables, volume.code, volume.generated]
      .map((count) => String(count).padStart(9))
      .join('') +
    getAverage(volume).toFixed(1).padStart(9) +
    String(Math.max(0, ...volume.sentences)).padStart(9) +
    `  ${name}`;
  return [
    '  written    prose   tables     code generated average  longest  page',
    ...[...volumes].sort(([, a], [, b]) => countWritten(b) - countWritten(a)).map(([name, each]) => line(name, each)),
    line('total', addVolumes([...volumes.values()])),
  ];
}
