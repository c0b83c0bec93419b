import type { PlacedTask, PlacementDecision } from './placement.ts';

/** Values that are told at most, the least. */
const comparedMax = 10;

/** Says in one line where a task goes and why. @param names of the resources, in the order of size. */
export function describeDecision(decision: PlacementDecision, names: readonly string[]): string {
  if (decision.kind === 'too-wide')
    return `no resource has ${decision.width} processors; the widest has ${decision.widest}`;
  return `${nameAt(names, decision.index)}: ${describeChoice(decision, names)}`;
}

/** Says in one line why a task goes where it does. @param names of the resources, in the order of size. */
export function describeChoice(decision: PlacedTask, names: readonly string[]): string {
  const { admissible, admissibility, strategy, values } = decision;
  if (values.length === 0) return `the only admissible with a = ${showAdmissibility(admissibility)}`;
  const least = values
    .map((value, at) => ({ value, at }))
    .sort((one, other) => one.value - other.value || one.at - other.at)
    .slice(0, comparedMax)
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  const more = values.length > comparedMax ? ` and ${values.length - comparedMax} more` : '';
  const compared =
    least
      .map((at) => `${nameAt(names, admissible.first + at)} ${Number((values[at] as number).toPrecision(6))}`)
      .join(', ') + more;
  return (
    `the least by ${strategy} of the admissible with a = ${showAdmissibility(admissibility)} ` +
    `(${compared})${describeLack(decision, (at) => nameAt(names, at))}`
  );
}

/** An a that follows the load is a fraction of processors, with more digits than anybody reads. */
export function showAdmissibility(admissibility: number): string {
  return String(Number(admissibility.toPrecision(4)));
}

function nameAt(names: readonly string[], at: number): string {
  return names[at] ?? String(at);
}

function describeLack({ lacking, strategy }: PlacedTask, nameOf: (at: number) => string): string {
  if (lacking.length === 0) return '';
  const who = lacking.map(({ index, why }) => `that of ${nameOf(index)} is ${why}`).join(', ');
  return `; by ${strategy} since not every queue is known well enough: ${who}`;
}
