import { PartChecker } from '../format-parts.ts';
import type { LocatedValue } from '../located-value.ts';
import { wfParts } from './wf-parts.ts';

/**
 * Checks every field of a WfFormat file, and refuses unknown ones by name. Returns warnings about fields that are not
 * used.
 *
 * @throws {FormatError} MUT_WORKFLOW_UNKNOWN
 */
export function checkWfFormat(root: LocatedValue, subject: string): string[] {
  const checker = new PartChecker(wfParts, subject);
  checkValue(root.value, { path: '', keys: [] }, (path, keys) => {
    const name = String(keys.at(-1));
    checker.check(path, `the field ${name}${keys.length > 1 ? ` of ${showKeys(keys.slice(0, -1))}` : ''}`, () =>
      locate(root, keys).place(),
    );
  });
  return checker.warnings();
}

interface Spot {
  readonly path: string;
  readonly keys: readonly (string | number)[];
}

/** Calls `check` for each field of each object. A list of texts or numbers has no fields. */
function checkValue(
  value: unknown,
  { path, keys }: Spot,
  check: (path: string, keys: readonly (string | number)[]) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (typeof value[0] !== 'object') return;
    for (const [index, element] of value.entries())
      checkValue(element, { path: `${path}[]`, keys: [...keys, index] }, check);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const below = { path: path === '' ? key : `${path}.${key}`, keys: [...keys, key] };
    check(below.path, below.keys);
    checkValue(inner, below, check);
  }
}

function locate(root: LocatedValue, keys: readonly (string | number)[]): LocatedValue {
  return keys.reduce((value, key) => value.at(key), root);
}

function showKeys(keys: readonly (string | number)[]): string {
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
}
