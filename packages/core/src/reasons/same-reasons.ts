import { reasonTable, type Reason } from './reasons.ts';

/** Whether two lists give the same reasons with the same parameters. Cost: O(parameters). */
export function areSameReasons(one: readonly Reason[], other: readonly Reason[]): boolean {
  return one === other || (one.length === other.length && one.every((reason, index) => isSame(reason, other[index])));
}

/** The first reasons of a list, each once. No more are taken from the list than that. Cost: O(reasons * most). */
export function distinctReasons<One extends Reason>(reasons: Iterable<One>, most: number): One[] {
  const distinct: One[] = [];
  for (const reason of reasons) {
    if (!distinct.some((other) => isSame(other, reason))) distinct.push(reason);
    if (distinct.length >= most) break;
  }
  return distinct;
}

function isSame(one: Reason, other: Reason | undefined): boolean {
  if (one === other) return true;
  if (one.code !== other?.code) return false;
  const names = Object.keys(reasonTable[one.code]) as (keyof Reason)[];
  return names.every((name) => isSameValue(one[name], other[name]));
}

function isSameValue(one: unknown, other: unknown): boolean {
  if (isReason(one) && isReason(other)) return isSame(one, other);
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** Whether a parameter is a reason itself. */
function isReason(value: unknown): value is Reason {
  return typeof value === 'object' && value !== null && 'code' in value;
}
