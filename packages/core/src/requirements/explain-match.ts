import { findNearestWord } from '../shared/index.ts';
import { evaluateExpression, findAttribute, parseNumber, type Attributes } from './evaluate.ts';
import { readAttribute, type Atom, type Expression, type Requirements } from './expression.ts';
import { printAtom } from './print-requirements.ts';

/**
 * Says why a machine does not meet requirements: one sentence per atom that stands in the way, with what was wanted and
 * what the machine has. An attribute that it does not state is named, with the nearest one that it does.
 *
 * Empty when the machine matches.
 */
export function explainMatch(requirements: Requirements, attributes: Attributes): string[] {
  if (requirements.expression === undefined) return [];
  const sentences = new Set<string>();
  collect({ attributes, sentences }, requirements.expression, true);
  return [...sentences];
}

interface Explanation {
  readonly attributes: Attributes;
  readonly sentences: Set<string>;
}

/** Walks to the atoms that keep `expression` from being `wanted`. */
function collect(explanation: Explanation, expression: Expression, wanted: boolean): void {
  if (evaluateExpression(expression, explanation.attributes) === wanted) return;
  switch (expression.kind) {
    case 'not':
      collect(explanation, expression.part, !wanted);
      break;
    case 'all':
    case 'any':
      for (const part of expression.parts) collect(explanation, part, wanted);
      break;
    default:
      explanation.sentences.add(explainAtom(expression, explanation.attributes, wanted));
  }
}

function explainAtom(atom: Atom, attributes: Attributes, wanted: boolean): string {
  const want = wanted ? printAtom(atom) : `not ( ${printAtom(atom)} )`;
  if (atom.kind === 'bare') return `wanted ${want}: a name by itself never matches; write "${atom.name} == VALUE"`;
  const name = readAttribute(atom);
  const stated = findAttribute(attributes, name);
  if (stated === undefined) return `wanted ${want}: the machine does not state ${name}${suggest(name, attributes)}`;
  return `wanted ${want}: the machine has ${name} = ${stated}${explainNumbers(atom, stated)}`;
}

function suggest(name: string, attributes: Attributes): string {
  const nearest = findNearestWord(name, Object.keys(attributes));
  return nearest === undefined ? '' : ` (it states ${nearest}: did you mean that?)`;
}

function explainNumbers(atom: Atom, stated: string): string {
  if (atom.kind !== 'compare' || atom.comparison === '==' || atom.comparison === '!=') return '';
  if (parseNumber(atom.wanted) === undefined)
    return `, and ${atom.wanted} is not a number, so that ${atom.comparison} never holds`;
  return parseNumber(stated) === undefined ? ', which is not a number' : '';
}
