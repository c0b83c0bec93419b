import type { GetReason } from '../reasons/index.ts';
import { findNearestWord, type MachineId } from '../shared/index.ts';
import { evaluateExpression, findAttribute, parseNumber, type Attributes } from './evaluate.ts';
import { readAttribute, type Atom, type Expression, type Requirements } from './expression.ts';
import { printAtom } from './print-requirements.ts';

/**
 * Says why a machine does not meet requirements: one reason per atom that does not match, with the required value and
 * the machine's. An attribute that it does not state is named, with the most similar one that it does.
 *
 * Empty when the machine matches.
 */
export function explainMatch(
  machineId: MachineId,
  requirements: Requirements,
  attributes: Attributes,
): readonly Mismatch[] {
  if (requirements.expression === undefined) return [];
  const reasons = new Map<string, Mismatch>();
  collect({ machineId, attributes, reasons }, requirements.expression, true);
  return [...reasons.values()];
}

type Mismatch = GetReason<'requirement-bare-name' | 'requirement-not-stated' | 'requirement-not-met'>;

interface Explanation {
  readonly machineId: MachineId;
  readonly attributes: Attributes;
  /** By the requirement. */
  readonly reasons: Map<string, Mismatch>;
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
      addAtom(explanation, expression, wanted);
  }
}

function addAtom({ machineId, attributes, reasons }: Explanation, atom: Atom, wanted: boolean): void {
  const requirement = wanted ? printAtom(atom) : `not ( ${printAtom(atom)} )`;
  const about = { machineId, requirement };
  if (atom.kind === 'bare') {
    reasons.set(requirement, { code: 'requirement-bare-name', ...about, attribute: atom.name });
    return;
  }
  const attribute = readAttribute(atom);
  const value = findAttribute(attributes, attribute);
  if (value === undefined) {
    const similarAttribute = findNearestWord(attribute, Object.keys(attributes));
    const similar = similarAttribute === undefined ? {} : { similarAttribute };
    reasons.set(requirement, { code: 'requirement-not-stated', ...about, attribute, ...similar });
    return;
  }
  const wantedValue = atom.kind === 'compare' ? atom.wanted : '';
  const notNumeric = findNotNumeric(atom, value);
  reasons.set(requirement, { code: 'requirement-not-met', ...about, attribute, value, notNumeric, wantedValue });
}

/** Of a comparison that takes numbers, the value that is not one. */
function findNotNumeric(atom: Atom, stated: string): 'neither' | 'wanted' | 'stated' {
  if (atom.kind !== 'compare' || atom.comparison === '==' || atom.comparison === '!=') return 'neither';
  if (parseNumber(atom.wanted) === undefined) return 'wanted';
  return parseNumber(stated) === undefined ? 'stated' : 'neither';
}
