// The tables of a Markdown page as CSV files.
import GithubSlugger from 'github-slugger';
import type { Nodes, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

export interface ExtractedTable {
  /** The anchor of the heading above it, and of a short paragraph between the two; numbered where that is not unique. */
  readonly name: string;
  readonly csv: string;
}

/** A paragraph up to this length above a table says what the table is about, as in "Load 0.7." */
const labelLengthMax = 60;

/** Names stay readable: a heading without what it has in parentheses, cut between words. */
const headingLengthMax = 44;

function plainText(node: Nodes): string {
  if ('value' in node) return node.value;
  if (node.type === 'image') return /\.\w+$/.test(node.alt ?? '') ? '' : (node.alt ?? '');
  return 'children' in node ? node.children.map(plainText).join('') : '';
}

function getName(heading: string, label: string): string {
  const words = heading.replaceAll(/\([^)]*\)/g, '').slice(0, headingLengthMax + 1);
  const cut = words.length > headingLengthMax ? words.replace(/\s\S*$/, '') : words;
  return `${cut} ${label}`
    .replaceAll(/[.,:()%]/g, ' ')
    .trim()
    .replaceAll(/\s+/g, ' ');
}

const quote = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

const toCsv = (table: Table): string =>
  table.children.map((row) => `${row.children.map((cell) => quote(plainText(cell))).join(',')}\n`).join('');

/** All tables at the top level of a page, in its order. */
export function extractTables(markdown: string): ExtractedTable[] {
  const slugger = new GithubSlugger();
  const tables: ExtractedTable[] = [];
  let [heading, label] = ['table', ''];
  for (const node of fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }).children) {
    const text = plainText(node);
    if (node.type === 'heading') [heading, label] = [text, ''];
    else if (node.type === 'table') {
      tables.push({ name: slugger.slug(getName(heading, label)), csv: toCsv(node) });
      label = '';
    } else label = node.type === 'paragraph' && text.length <= labelLengthMax ? text : '';
  }
  return tables;
}
