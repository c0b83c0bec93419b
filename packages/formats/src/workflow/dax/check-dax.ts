import { FormatError } from '../../format-error.ts';
import { PartChecker } from '../format-parts.ts';
import type { XmlElement } from '../read-xml.ts';
import { daxParts, daxVersions } from './dax-parts.ts';

/** Elements that may hold text. */
const holdsText: ReadonlySet<string> = new Set(['argument', 'profile', 'metadata', 'invoke']);

/**
 * Checks every element, attribute and text of a DAX, and refuses unknown ones by name. Returns warnings about parts
 * that are not used.
 *
 * @throws {FormatError} MUT_WORKFLOW_UNKNOWN, MUT_WORKFLOW_UNSUPPORTED, MUT_WORKFLOW_VERSION
 */
export function checkDax(root: XmlElement, subject: string): string[] {
  checkVersion(root, subject);
  const checker = new PartChecker(daxParts, subject);
  checkElement(root, '', { checker, subject });
  return [...checker.warnings(), ...describeCounts(root)];
}

function checkVersion(root: XmlElement, subject: string): void {
  const version = root.attributes['version'];
  if (version === undefined) return;
  const [major = 0, minor = 0] = version.split('.').map((digits) => Number.parseInt(digits, 10));
  const number = major * 1000 + minor;
  const numberOfVersion = (text: string): number => Number(text.split('.')[0]) * 1000 + Number(text.split('.')[1]);
  if (number >= numberOfVersion(daxVersions.oldest) && number <= numberOfVersion(daxVersions.newest)) return;
  throw new FormatError({
    code: 'MUT_WORKFLOW_VERSION',
    subject,
    line: root.line,
    column: root.column,
    found: `version="${version}" of <adag>`,
    expected: `a DAX of version ${daxVersions.oldest} to ${daxVersions.newest}`,
  });
}

interface Check {
  readonly checker: PartChecker;
  readonly subject: string;
}

function checkElement(element: XmlElement, above: string, check: Check): void {
  const path = above === '' ? element.name : `${above}/${element.name}`;
  const shown = showElement(element);
  check.checker.check(path, shown, () => element);
  for (const [attribute, value] of Object.entries(element.attributes)) {
    if (!/^(?:xmlns|xsi)(?::|$)/.test(attribute))
      check.checker.check(`${path}@${attribute}`, `${attribute}="${value}" of ${shown}`, () => element);
  }
  for (const piece of element.content) {
    if (typeof piece !== 'string') checkElement(piece, path, check);
    else if (piece.trim() !== '' && !holdsText.has(element.name)) {
      throw new FormatError({
        code: 'MUT_WORKFLOW_UNKNOWN',
        subject: check.subject,
        line: element.line,
        column: element.column,
        found: `the text ${JSON.stringify(piece.trim().slice(0, 40))} in <${element.name}>`,
        expected: 'elements only',
      });
    }
  }
}

/** An element with the attribute that identifies it. */
function showElement({ name, attributes }: XmlElement): string {
  const key = ['id', 'name', 'file'].find((candidate) => attributes[candidate] !== undefined);
  return key === undefined ? `<${name}>` : `<${name} ${key}="${attributes[key] ?? ''}">`;
}

function describeCounts(root: XmlElement): string[] {
  const { index = '0', count = '1' } = root.attributes;
  const differing = (
    [
      ['jobCount', 'job'],
      ['childCount', 'child'],
    ] as const
  ).flatMap(([attribute, name]) => {
    const said = root.attributes[attribute];
    const there = root.children.filter((child) => child.name === name).length;
    return said === undefined || Number(said) === there ? [] : [`${attribute} is ${said}, and the file has ${there}`];
  });
  return Number(count) > 1 ? [`the file is part ${Number(index) + 1} of ${count}`, ...differing] : differing;
}
