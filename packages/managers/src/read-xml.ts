import { SaxesParser } from 'saxes';

/** An element of what a command wrote as XML. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text in it outside elements, without the spaces around it. */
  readonly text: string;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: OpenElement[];
  text: string;
}

const depthMax = 64;
const controlCharacter = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

/** Reads an XML text; undefined for anything else. Entities that it declares itself are not read. */
export function readXml(text: string): XmlElement | undefined {
  const parser = new SaxesParser<{ xmlns: false }>({ xmlns: false });
  const open: OpenElement[] = [];
  let root: OpenElement | undefined;
  let isSound = true;
  const spoil = (): void => {
    isSound = false;
  };
  const addText = (piece: string): void => {
    const last = open.at(-1);
    if (last !== undefined) last.text += piece;
  };
  parser.on('error', spoil);
  parser.on('doctype', spoil);
  parser.on('opentag', ({ name, attributes }) => {
    const element: OpenElement = { name, attributes, children: [], text: '' };
    if (open.length >= depthMax) spoil();
    else open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed !== undefined) closed.text = closed.text.trim();
  });
  // XML has no place for control characters, which somebody may have put into the name of a job.
  parser.write(text.replaceAll(controlCharacter, ' ')).close();
  return isSound ? root : undefined;
}

/** All elements of that name, however deep, in the order of the text. */
export function listElements(root: XmlElement, name: string): XmlElement[] {
  return root.children.flatMap((child) => (child.name === name ? [child] : listElements(child, name)));
}

/** The text of the first child of that name; empty where there is none. */
export function childText({ children }: XmlElement, name: string): string {
  return children.find((child) => child.name === name)?.text ?? '';
}
