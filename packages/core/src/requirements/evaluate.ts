import { readAttribute, type Atom, type Comparison, type Expression, type Requirements } from './expression.ts';

/** What a machine states of itself; a name is compared in lower case. */
export type Attributes = Readonly<Record<string, string>>;

/** Whether a machine meets requirements; `undefined` means that it does not state an attribute that decides. */
export type MatchResult = 'match' | 'no match' | 'undefined';

/**
 * Compares a machine's attributes with requirements, in three-valued logic.
 *
 * Names and values are compared in lower case. `==` and `!=` compare text (`0512` is not `512`); the other comparisons
 * need a number on both sides and do not hold otherwise. An attribute that the machine does not state is undefined, and
 * so is its negation. Place tasks only if the result is `match`. Cost: the size of the expression.
 *
 * `IN_PATH x`, `IN_CLASSPATH x` and `VERSION x v` ask the attributes `path:x`, `classpath:x` (empty or `false` is a no)
 * and `version:x` (at least v, number by number); they are undefined if a machine does not state these.
 */
export function evaluate(requirements: Requirements, attributes: Attributes): MatchResult {
  if (requirements.expression === undefined) return 'match';
  const truth = evaluateExpression(requirements.expression, attributes);
  if (truth === undefined) return 'undefined';
  return truth ? 'match' : 'no match';
}

/** Says whether an expression holds; undefined where an attribute that decides is not stated. */
export function evaluateExpression(expression: Expression, attributes: Attributes): boolean | undefined {
  switch (expression.kind) {
    case 'not': {
      const part = evaluateExpression(expression.part, attributes);
      return part === undefined ? undefined : !part;
    }
    case 'all':
      return combine(expression.parts, attributes, false);
    case 'any':
      return combine(expression.parts, attributes, true);
    default:
      return evaluateAtom(expression, attributes);
  }
}

/** One part that is `decisive` decides; else one that is undefined makes the whole undefined. */
function combine(parts: readonly Expression[], attributes: Attributes, decisive: boolean): boolean | undefined {
  let result: boolean | undefined = !decisive;
  for (const part of parts) {
    const truth = evaluateExpression(part, attributes);
    if (truth === decisive) return decisive;
    if (truth === undefined) result = undefined;
  }
  return result;
}

function evaluateAtom(atom: Atom, attributes: Attributes): boolean | undefined {
  if (atom.kind === 'bare') return undefined;
  const stated = findAttribute(attributes, readAttribute(atom))?.toLowerCase();
  if (stated === undefined) return undefined;
  if (atom.kind === 'compare') return compareValues(stated, atom.comparison, atom.wanted);
  return atom.question === 'version' ? isVersionAtLeast(stated, atom.wanted) : stated !== '' && stated !== 'false';
}

/** The value that a machine states under a name, without regard to case. */
export function findAttribute(attributes: Attributes, name: string): string | undefined {
  if (Object.hasOwn(attributes, name)) return attributes[name];
  for (const [key, value] of Object.entries(attributes)) {
    if (key.toLowerCase() === name) return value;
  }
  return undefined;
}

function compareValues(stated: string, comparison: Comparison, wanted: string): boolean {
  if (comparison === '==') return stated === wanted;
  if (comparison === '!=') return stated !== wanted;
  const left = parseNumber(stated);
  const right = parseNumber(wanted);
  if (left === undefined || right === undefined) return false;
  switch (comparison) {
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '<=':
      return left <= right;
    case '>=':
      return left >= right;
  }
}

/** The number that a value stands for: digits with an optional sign, decimals and an exponent (`1e3`), nothing else. */
export function parseNumber(value: string): number | undefined {
  return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined;
}

/**
 * Compares dotted versions number by number; a missing part counts as 0, and a part that is not a number compares as
 * text.
 */
function isVersionAtLeast(stated: string, wanted: string): boolean {
  const have = stated.split('.');
  const want = wanted.split('.');
  for (let index = 0; index < Math.max(have.length, want.length); index++) {
    const left = have[index] ?? '0';
    const right = want[index] ?? '0';
    if (left === right) continue;
    const difference = Number(left) - Number(right);
    if (difference !== 0) return Number.isNaN(difference) ? left > right : difference > 0;
  }
  return true;
}
