import { findNearestWord } from '../shared/index.ts';
import { parseNumber } from './evaluate.ts';
import { readAttribute, type Atom, type Expression, type Requirements } from './expression.ts';
import { printAtom } from './print-requirements.ts';

/** What people take for an attribute, and what says it here. */
const otherWays: ReadonlyMap<string, string> = new Map([
  ...['processors', 'processor', 'cpus', 'cpu', 'cores', 'ncpus', 'nproc', 'threads', 'slots'].map(
    (name) => [name, 'a task gets several processors by --processors N'] as const,
  ),
  ...['walltime', 'time', 'runtime', 'hours'].map(
    (name) => [name, 'how long a task may run is said by --limit-time'] as const,
  ),
  ...['memory', 'ram', 'memsize', 'totalmem', 'vmem'].map(
    (name) => [name, 'the memory of a machine, in MiB, is "mem"'] as const,
  ),
  ...['host', 'node', 'nodename', 'machine'].map((name) => [name, 'the name of a machine is "hostname"'] as const),
  ...['arch', 'architecture', 'cputype', 'isa'].map(
    (name) => [name, 'the kind of processor is "processorfamily"'] as const,
  ),
  ...['cluster', 'provider', 'partition', 'queue'].map((name) => [name, 'where a machine is, is "site"'] as const),
]);

/**
 * What an expression asks that can hold on no machine, whatever that states; undefined where there is nothing of the
 * kind.
 */
export function findImpossible({ expression }: Requirements): string | undefined {
  for (const atom of listAtoms(expression)) {
    if (
      atom.kind !== 'compare' ||
      atom.comparison === '==' ||
      atom.comparison === '!=' ||
      parseNumber(atom.wanted) !== undefined
    )
      continue;
    return (
      `${printAtom(atom)}: "${atom.comparison}" compares numbers, and "${atom.wanted}" is none; expected a ` +
      `number${atom.name === 'mem' ? ' of MiB, or one with a unit, as in 2GiB' : ''}`
    );
  }
  return undefined;
}

/**
 * What of an expression holds nowhere by what is known: sentences.
 *
 * @param known attributes that machines state, or have stated, in any case of letters.
 */
export function findDoubts({ expression }: Requirements, known: ReadonlySet<string>): string[] {
  const stated = new Set([...known].map((name) => name.toLowerCase()));
  const doubts = new Set<string>();
  for (const atom of listAtoms(expression)) {
    const name = readAttribute(atom);
    if (atom.kind === 'bare') doubts.add(`"${name}" by itself never holds; write "${name} == VALUE"`);
    else if (!stated.has(name)) doubts.add(`no machine that is known states "${name}"${suggest(name, stated)}`);
  }
  return [...doubts];
}

function suggest(name: string, stated: ReadonlySet<string>): string {
  const otherWay = otherWays.get(name);
  if (otherWay !== undefined) return `: ${otherWay}`;
  const nearest = findNearestWord(name, stated);
  return nearest === undefined
    ? `; they state ${[...stated].sort().join(', ')}`
    : ` (they state "${nearest}": did you mean that?)`;
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
