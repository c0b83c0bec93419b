import { basename, dirname, join } from 'node:path';

import type { JobSpec } from '@mutirao/core/messages';
import { followLinks } from '@mutirao/runtime/files';

import { isKnownEarly } from '../staging/variables.ts';

/**
 * Where the outputs of a job may end up, as the beginnings of their paths up to what differs between tasks: enough to
 * decide quickly that two jobs cannot write to one place.
 *
 * Links at home are followed, case is ignored. Sorted; none is the beginning of another one.
 */
export type PlacePrefixes = readonly string[];

const known = new WeakMap<JobSpec, PlacePrefixes>();

/**
 * Of a job with resolved paths; kept, so that it is cheap again. Cost: the outputs of its groups, whatever the number
 * of tasks.
 *
 * @param folders those whose links were followed already, for many jobs at once.
 */
export function findPlacePrefixes(spec: JobSpec, folders: Map<string, string> = new Map()): PlacePrefixes {
  let prefixes = known.get(spec);
  if (prefixes === undefined) known.set(spec, (prefixes = findPrefixes(spec, folders)));
  return prefixes;
}

/** Whether the outputs of two jobs may meet. Cost: O(n log m) of the shorter list. */
export function mayMeet(one: PlacePrefixes, other: PlacePrefixes): boolean {
  const [few, many] = one.length < other.length ? [one, other] : [other, one];
  return few.some((prefix) => {
    const at = firstNotBelow(many, prefix);
    // Beginnings of a text are sorted before it, and what begins with it right behind.
    return many[at]?.startsWith(prefix) === true || (at > 0 && prefix.startsWith(many[at - 1] as string));
  });
}

function findPrefixes({ groups }: JobSpec, folders: Map<string, string>): string[] {
  const found = new Set<string>();
  for (const { outputs } of groups) {
    for (const { localPath } of outputs)
      if (localPath !== '' && isKnownEarly(localPath)) found.add(getPrefix(localPath, folders));
  }
  const sorted = [...found].sort();
  const kept: string[] = [];
  for (const prefix of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !prefix.startsWith(last)) kept.push(prefix);
  }
  return kept;
}

function getPrefix(template: string, folders: Map<string, string>): string {
  const literal = /^[^{$\\]*/.exec(template)?.[0] ?? '';
  const [folder, name] = literal.endsWith('/') ? [literal, ''] : [dirname(literal), basename(literal)];
  let real = folders.get(folder);
  if (real === undefined) folders.set(folder, (real = followLinks(folder)));
  return join(real, name === '' ? '/' : name).toLowerCase();
}

/** The position of the first prefix that is not sorted before a text. */
function firstNotBelow(prefixes: PlacePrefixes, text: string): number {
  let [low, high] = [0, prefixes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((prefixes[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
