import type { Atom, Expression, Requirements } from './expression.ts';
import { printExpression } from './print-requirements.ts';

/** The name by which JDF asks for several processors. */
export const gangWidthName = 'num_procs';

/** Processors that a gang may have. */
export const gangWidthMax = 65_536;

/** What an expression says of the number of processors, apart from what it says of machines. */
export type GangWidth =
  /** `count` is undefined where nothing is said; `rest` is what the machines must be, empty where that is all. */
  | { readonly kind: 'width'; readonly count: number | undefined; readonly rest: string }
  /** `found` and `expected` are parts of a sentence. */
  | { readonly kind: 'error'; readonly found: string; readonly expected: string };

/**
 * Takes `num_procs == N` out of an expression: alone or beside what is joined to it by `&&`, in brackets or not.
 *
 * It is asked of the job and not of a machine, so that it makes no sense under `||` or `not`, with another comparison,
 * without a number, or twice with
 * two numbers: all of that is an error. Cost: linear.
 */
export function takeGangWidth({ text, expression }: Requirements): GangWidth {
  if (expression === undefined || !names(expression)) return { kind: 'width', count: undefined, rest: text };
  const counts: number[] = [];
  const rest: Expression[] = [];
  for (const part of conjuncts(expression)) {
    if (!names(part)) {
      rest.push(part);
      continue;
    }
    const count = readWidth(part);
    if (typeof count === 'string')
      return { kind: 'error', found: JSON.stringify(printExpression(part)), expected: count };
    counts.push(count);
  }
  const [count, other] = new Set(counts);
  if (other !== undefined)
    return {
      kind: 'error',
      found: `${gangWidthName} of ${count} and of ${other}`,
      expected: 'one number of processors',
    };
  const [only, ...more] = rest;
  const remaining: Expression | undefined = more.length === 0 ? only : { kind: 'all', parts: rest };
  return { kind: 'width', count, rest: remaining === undefined ? '' : printExpression(remaining) };
}

function conjuncts(expression: Expression): Expression[] {
  return expression.kind === 'all' ? expression.parts.flatMap(conjuncts) : [expression];
}

/** Whether an expression speaks of the number of processors anywhere. */
function names(expression: Expression): boolean {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return expression.parts.some(names);
    case 'not':
      return names(expression.part);
    default:
      return expression.name.toLowerCase() === gangWidthName;
  }
}

/** The number that a part asks for, or what it should be. */
function readWidth(part: Expression): number | string {
  switch (part.kind) {
    case 'all':
    case 'any':
    case 'not':
      return `${gangWidthName} joined to the rest by "&&" alone: it is a property of the job, not of a machine`;
    default:
      return readAtom(part);
  }
}

function readAtom(atom: Atom): number | string {
  const wanted = `"${gangWidthName} == N" with N in 1..${gangWidthMax}`;
  if (atom.kind !== 'compare' || atom.comparison !== '==' || !/^[1-9]\d{0,5}$/.test(atom.wanted)) return wanted;
  const count = Number(atom.wanted);
  return count <= gangWidthMax ? count : wanted;
}
