import { SaxesParser } from 'saxes';
import { FormatError } from '../format-error.ts';
import type { TextPlace } from './workflow-document.ts';

/** An element of an XML text. */
export interface XmlElement extends TextPlace {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** Its children and the texts between them, in the order of the file. */
  readonly content: readonly (XmlElement | string)[];
}

interface OpenElement extends XmlElement {
  /** What prefixes stand for in it; the empty one is that of names without a prefix. */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  readonly content: (XmlElement | string)[];
}

const depthMax = 64;

/**
 * Reads the elements of an XML text. A prefix that stands for the namespace of the whole is not a part of a name, and
 * neither is one for no namespace at all; of any other namespace it stays.
 *
 * A document type is refused, and with it every entity that a text could declare: XML's own five and numbers are all
 * that there is.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX
 */
export function readXml(text: string, subject: string): XmlElement {
  const parser = new SaxesParser<{ position: true; xmlns: false }>({ position: true, xmlns: false });
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  let rootNamespace: string | undefined;
  const fail = (found: string, expected: string): never => {
    throw new FormatError({
      code: 'MUT_WORKFLOW_SYNTAX',
      subject,
      line: parser.line,
      column: parser.column + 1,
      found,
      expected,
    });
  };
  const addText = (piece: string): void => {
    open.at(-1)?.content.push(piece);
  };
  parser.on('error', (error) => fail(error.message.replace(/^\d+:\d+: |\.$/g, ''), 'well-formed XML'));
  parser.on('doctype', () => fail('a document type', 'XML without one: entities are not read'));
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= depthMax) fail(`elements ${depthMax + 1} deep`, `at most ${depthMax}`);
    const namespaces = declareNamespaces(open.at(-1)?.namespaces ?? {}, attributes);
    rootNamespace ??= findNamespace(name, namespaces) ?? '';
    const element: OpenElement = {
      name: getShortName(name, namespaces, rootNamespace),
      namespaces,
      attributes,
      children: [],
      content: [],
      line: parser.line,
      column: parser.column + 1,
    };
    open.at(-1)?.children.push(element);
    open.at(-1)?.content.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(text).close();
  return root ?? fail('the end', 'an element');
}

function declareNamespaces(
  above: Readonly<Record<string, string>>,
  attributes: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const declared = Object.entries(attributes).flatMap(([name, value]) =>
    name === 'xmlns' ? [['', value] as const] : name.startsWith('xmlns:') ? [[name.slice(6), value] as const] : [],
  );
  return declared.length === 0 ? above : { ...above, ...Object.fromEntries(declared) };
}

/** What the prefix of a name stands for; undefined for one that is not declared. */
function findNamespace(name: string, namespaces: Readonly<Record<string, string>>): string | undefined {
  const [prefix] = name.includes(':') ? name.split(':') : [''];
  return namespaces[prefix ?? ''] ?? (prefix === '' ? '' : undefined);
}

/** A name without its prefix, if that is for the namespace of the whole or for none. */
function getShortName(name: string, namespaces: Readonly<Record<string, string>>, root: string): string {
  const namespace = findNamespace(name, namespaces);
  if (namespace === root || namespace === '') return name.replace(/^[^:]*:/, '');
  return name.includes(':') ? name : `${namespace ?? ''}:${name}`;
}

/** The text of an element without the elements in it. */
export function findText({ content }: XmlElement): string {
  return content.filter((piece) => typeof piece === 'string').join('');
}

/** An attribute that must be there. @throws {FormatError} MUT_WORKFLOW_SYNTAX */
export function readAttribute(element: XmlElement, name: string, subject: string): string {
  const value = element.attributes[name];
  if (value !== undefined) return value;
  throw new FormatError({
    code: 'MUT_WORKFLOW_SYNTAX',
    subject,
    line: element.line,
    column: element.column,
    found: `<${element.name}> without ${name}`,
    expected: `the attribute ${name}`,
  });
}

/**
 * An attribute that is a number. @throws {FormatError} MUT_WORKFLOW_SYNTAX where it is missing; MUT_WORKFLOW_COST where
 * it is not a number.
 */
export function getNumber(element: XmlElement, name: string, subject: string, fallback?: string): number {
  const text = fallback === undefined ? readAttribute(element, name, subject) : (element.attributes[name] ?? fallback);
  const value = Number(text);
  // Not 0x10 and the like, which Number reads, too.
  if (/^\s*[+-]?[\d.]/.test(text) && !/^\s*0[box]/i.test(text) && Number.isFinite(value)) return value;
  throw new FormatError({
    code: 'MUT_WORKFLOW_COST',
    subject,
    line: element.line,
    column: element.column,
    found: `${name}="${text}"`,
    expected: 'a number',
  });
}

/** Writes what stands for a text in an element or an attribute. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\t', '&#9;')
    .replaceAll('\r', '&#13;');
}
