/** Where two values first differ. */
export interface Difference {
  /** `commands[3].demand.pendingTasks`. */
  readonly path: string;
  readonly expected: unknown;
  readonly found: unknown;
}

/**
 * Finds the first place where two plain values differ, depth first, in the order of the expected one's fields;
 * undefined when
 * there is none. A property that is undefined is the same as one that is not there. Cost: the size of the values.
 */
export function findDifference(expected: unknown, found: unknown, path: string): Difference | undefined {
  if (Object.is(expected, found)) return undefined;
  const both = [expected, found];
  if (both.every((value) => Array.isArray(value) || value instanceof Uint8Array))
    return isSameKind(expected, found)
      ? inLists(expected as Elements, found as Elements, path)
      : { path, expected, found };
  if (both.every((value) => value instanceof Map || value instanceof Set))
    return findDifference([...(expected as Iterable<unknown>)], [...(found as Iterable<unknown>)], path);
  if (both.every(isPlain)) return inFields(expected as Fields, found as Fields, path);
  return { path, expected, found };
}

type Elements = ArrayLike<unknown>;
type Fields = Readonly<Record<string, unknown>>;

function isSameKind(one: unknown, other: unknown): boolean {
  return Array.isArray(one) === Array.isArray(other);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

function inLists(expected: Elements, found: Elements, path: string): Difference | undefined {
  for (let index = 0; index < Math.max(expected.length, found.length); index++) {
    const difference = findDifference(expected[index], found[index], `${path}[${index}]`);
    if (difference !== undefined) return difference;
  }
  return expected.length === found.length
    ? undefined
    : { path: `${path}.length`, expected: expected.length, found: found.length };
}

function inFields(expected: Fields, found: Fields, path: string): Difference | undefined {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const difference = findDifference(expected[name], found[name], `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
