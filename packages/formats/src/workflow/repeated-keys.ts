/** A name that an object has twice, and the offset where it stands again. */
export interface RepeatedKey {
  readonly key: string;
  readonly position: number;
}

/**
 * Finds a name that stands twice in one object of a JSON text; JSON.parse would take the last one and say nothing.
 *
 * Cost: linear. @param text sound JSON.
 */
export function findRepeatedKey(text: string): RepeatedKey | undefined {
  // Names of each open object; undefined for a list.
  const open: (Set<string> | undefined)[] = [];
  let isKeyNext = false;
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g)) {
    const names = open.at(-1);
    if (token.startsWith('"')) {
      if (isKeyNext && names !== undefined) {
        const key = JSON.parse(token) as string;
        if (names.has(key)) return { key, position: index };
        names.add(key);
      }
    } else takeBracket(token, open);
    isKeyNext = token === '{' || token === ',';
  }
  return undefined;
}

function takeBracket(token: string, open: (Set<string> | undefined)[]): void {
  if (token === '{') open.push(new Set());
  else if (token === '[') open.push(undefined);
  else if (token !== ',') open.pop();
}
