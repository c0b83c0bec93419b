import type { Atom, Expression } from './expression.ts';

/** Writes an expression so that `parseRequirements` reads the same one back. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'all':
      return expression.parts.map(printPart).join(' && ');
    case 'any':
      return expression.parts.map(printPart).join(' || ');
    case 'not':
      return `! ( ${printExpression(expression.part)} )`;
    default:
      return printAtom(expression);
  }
}

/** Writes one atom: `mem >= 512`. */
export function printAtom(atom: Atom): string {
  switch (atom.kind) {
    case 'bare':
      return atom.name;
    case 'compare':
      return `${atom.name} ${atom.comparison} ${printValue(atom.wanted)}`;
    case 'ask': {
      const words = [atom.question, printValue(atom.name)];
      return (atom.question === 'version' ? [...words, printValue(atom.wanted)] : words).join(' ');
    }
  }
}

function printPart(part: Expression): string {
  return part.kind === 'all' || part.kind === 'any' ? `( ${printExpression(part)} )` : printExpression(part);
}

function printValue(value: string): string {
  return /^[^\s;{}():=<>&|!"]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}
