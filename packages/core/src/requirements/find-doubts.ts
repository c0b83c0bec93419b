import type { Fault, GetReason } from '../reasons/index.ts';
import { findNearestWord } from '../shared/index.ts';
import { parseNumber } from './evaluate.ts';
import { readAttribute, type Atom, type Expression, type Requirements } from './expression.ts';
import { printAtom } from './print-requirements.ts';

type Advice = GetReason<'requirement-attribute-unknown'>['advice'];

/** What people take for an attribute, and what says it here. */
const otherWays: ReadonlyMap<string, Advice> = new Map(
  Object.entries({
    processors: ['processors', 'processor', 'cpus', 'cpu', 'cores', 'ncpus', 'nproc', 'threads', 'slots'],
    'run-time': ['walltime', 'time', 'runtime', 'hours'],
    memory: ['memory', 'ram', 'memsize', 'totalmem', 'vmem'],
    'host-name': ['host', 'node', 'nodename', 'machine'],
    'processor-family': ['arch', 'architecture', 'cputype', 'isa'],
    site: ['cluster', 'provider', 'partition', 'queue'],
  } satisfies Partial<Record<Advice, readonly string[]>>).flatMap(([advice, names]) =>
    names.map((name) => [name, advice as Advice] as const),
  ),
);

/** The part of an expression that can hold on no machine, whatever it states; undefined if there is none. */
export function findImpossible({ expression }: Requirements): Fault | undefined {
  for (const atom of listAtoms(expression)) {
    if (
      atom.kind !== 'compare' ||
      atom.comparison === '==' ||
      atom.comparison === '!=' ||
      parseNumber(atom.wanted) !== undefined
    )
      continue;
    return {
      code: 'requirement-not-number',
      requirement: printAtom(atom),
      comparison: atom.comparison,
      wantedValue: atom.wanted,
      isMemory: atom.name === 'mem',
    };
  }
  return undefined;
}

/**
 * What of an expression holds nowhere by what is known, each once.
 *
 * @param known attributes that machines state, or have stated, in any case of letters.
 */
export function findDoubts({ expression }: Requirements, known: ReadonlySet<string>): Fault[] {
  const stated = new Set([...known].map((name) => name.toLowerCase()));
  const doubts = new Map<string, Fault>();
  for (const atom of listAtoms(expression)) {
    const attribute = readAttribute(atom);
    if (atom.kind === 'bare') doubts.set(`bare ${attribute}`, { code: 'requirement-without-value', attribute });
    else if (!stated.has(attribute)) doubts.set(attribute, doubtAttribute(attribute, stated));
  }
  return [...doubts.values()];
}

function doubtAttribute(attribute: string, stated: ReadonlySet<string>): Fault {
  const advice = otherWays.get(attribute) ?? 'none';
  const similarAttribute = advice === 'none' ? findNearestWord(attribute, stated) : undefined;
  return {
    code: 'requirement-attribute-unknown',
    attribute,
    advice,
    ...(similarAttribute === undefined ? {} : { similarAttribute }),
    statedAttributes: [...stated].sort(),
  };
}

function* listAtoms(expression: Expression | undefined): Iterable<Atom> {
  switch (expression?.kind) {
    case undefined:
      return;
    case 'not':
      yield* listAtoms(expression?.part);
      return;
    case 'all':
    case 'any':
      for (const part of expression?.parts ?? []) yield* listAtoms(part);
      return;
    default:
      if (expression !== undefined) yield expression as Atom;
  }
}
