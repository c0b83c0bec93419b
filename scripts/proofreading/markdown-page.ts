// A Markdown page as the checks see it: its prose, the anchors of its headings, and its links.
import GithubSlugger from 'github-slugger';
import type { Nodes, Parents } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { ProseText } from './rules.ts';

export interface MarkdownLink {
  readonly target: string;
  readonly line: number;
}

export interface MarkdownPage {
  readonly file: string;
  readonly prose: readonly ProseText[];
  /** What may follow `#`: the anchors of headings, as GitHub makes them, and ids in HTML. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly MarkdownLink[];
  /** HTML tags other than anchors. A page that means them as text shows nothing, and breaks the site. */
  readonly tags: readonly MarkdownLink[];
}

const hasChildren = (node: Nodes): node is Parents => 'children' in node;

/** Text that grows by nodes, with the line of each character. */
class Lines {
  text = '';
  readonly lines: number[] = [];

  add(text: string, line: number): void {
    let current = line;
    for (const character of text.split('')) {
      this.lines.push(current);
      if (character === '\n') current += 1;
    }
    this.text += text.replaceAll('\n', ' ');
  }

  addNode(node: Nodes): void {
    const line = node.position?.start.line ?? 1;
    if (node.type === 'text') this.add(node.value, line);
    else if (node.type === 'inlineCode') this.add('`x`', line);
    else if (node.type === 'break') this.add('\n', line);
    else if (node.type === 'image') this.add(node.alt ?? '', line);
    else if (hasChildren(node)) for (const child of node.children) this.addNode(child);
  }
}

/** The words of a heading or link as a reader sees them, code included. */
function plainText(node: Nodes): string {
  if (node.type === 'text' || node.type === 'inlineCode') return node.value;
  return hasChildren(node) ? node.children.map(plainText).join('') : '';
}

class PageReader {
  readonly prose: ProseText[] = [];
  readonly anchors = new Set<string>();
  readonly links: MarkdownLink[] = [];
  readonly tags: MarkdownLink[] = [];
  readonly #slugger = new GithubSlugger();
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  visit(node: Nodes): void {
    const line = node.position?.start.line ?? 1;
    switch (node.type) {
      case 'html':
        for (const [, id = ''] of node.value.matchAll(/\b(?:id|name)="([^"]+)"/g)) this.anchors.add(id);
        if (/^<[a-z]/i.test(node.value) && !/\b(?:id|name)="/.test(node.value))
          this.tags.push({ target: node.value, line });
        break;
      case 'link':
      case 'image':
      case 'definition':
        this.links.push({ target: node.url, line });
        break;
      case 'heading':
        this.anchors.add(this.#slugger.slug(plainText(node)));
        this.#addProse(node);
        break;
      case 'paragraph':
      case 'tableCell':
        this.#addProse(node);
        break;
      default:
    }
    if (hasChildren(node)) for (const child of node.children) this.visit(child);
  }

  #addProse(node: Nodes): void {
    const lines = new Lines();
    lines.addNode(node);
    this.prose.push({
      file: this.#file,
      kind: 'documents',
      text: lines.text,
      lines: lines.lines,
      hasSentences: node.type !== 'tableCell',
    });
  }
}

export function readMarkdownPage(file: string, text: string): MarkdownPage {
  const reader = new PageReader(file);
  reader.visit(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  return { file, prose: reader.prose, anchors: reader.anchors, links: reader.links, tags: reader.tags };
}
