import type { GetReason } from '../reasons/index.ts';
import type { Atom, Expression, Requirements } from './expression.ts';
import { printExpression } from './print-requirements.ts';

/** The name by which JDF asks for several processors. */
export const gangWidthName = 'num_procs';

/** Processors that a gang may have. */
export const gangWidthMax = 65_536;

type WidthFault = GetReason<'gang-width-misplaced' | 'gang-width-invalid' | 'gang-widths-differ'>;

/** The processor count of an expression, apart from its requirements on machines. */
export type GangWidth =
  /** `count` is undefined if the expression does not name it; `rest` holds the other requirements, empty for none. */
  | { readonly kind: 'width'; readonly count: number | undefined; readonly rest: string }
  | { readonly kind: 'error'; readonly fault: WidthFault };

/**
 * Takes `num_procs == N` out of an expression: alone or joined to other conditions by `&&`, in brackets or not.
 *
 * It is a property of the job and not of a machine, so that it makes no sense under `||` or `not`, with another
 * comparison, without a number, or twice with two numbers: all of that is an error. Cost: linear.
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
    if (typeof count !== 'number') return { kind: 'error', fault: count };
    counts.push(count);
  }
  const [count, other] = new Set(counts);
  if (count !== undefined && other !== undefined)
    return { kind: 'error', fault: { code: 'gang-widths-differ', processors: count, otherProcessors: other } };
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

/** The number that a part asks for, or what is wrong with it. */
function readWidth(part: Expression): number | WidthFault {
  switch (part.kind) {
    case 'all':
    case 'any':
    case 'not':
      return { code: 'gang-width-misplaced', requirement: printExpression(part) };
    default:
      return readAtom(part);
  }
}

function readAtom(atom: Atom): number | WidthFault {
  const fault: WidthFault = {
    code: 'gang-width-invalid',
    requirement: printExpression(atom),
    processorsMax: gangWidthMax,
  };
  if (atom.kind !== 'compare' || atom.comparison !== '==' || !/^[1-9]\d{0,5}$/.test(atom.wanted)) return fault;
  const count = Number(atom.wanted);
  return count <= gangWidthMax ? count : fault;
}
