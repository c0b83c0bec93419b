import type { PlacedTask, PlacementDecision } from './placement.ts';

/** Says in one line where a task goes and why. @param names of the resources, in the order of size. */
export function describeDecision(decision: PlacementDecision, names: readonly string[]): string {
  if (decision.kind === 'too-wide') return `no resource has ${decision.width} processors; the widest has ${decision.widest}`;
  const { admissible, admissibility, strategy, values, index } = decision;
  const nameOf = (at: number): string => names[at] ?? String(at);
  if (values.length === 0) return `${nameOf(index)}: the only admissible with a = ${admissibility}`;
  const compared = values.map((value, at) => `${nameOf(admissible.first + at)} ${Number(value.toPrecision(6))}`).join(', ');
  return `${nameOf(index)}: the least by ${strategy} of the admissible with a = ${admissibility} (${compared})${describeLack(decision, nameOf)}`;
}

function describeLack({ lacking, strategy }: PlacedTask, nameOf: (at: number) => string): string {
  if (lacking.length === 0) return '';
  const who = lacking.map(({ index, why }) => `that of ${nameOf(index)} is ${why}`).join(', ');
  return `; by ${strategy} since not every queue is known well enough: ${who}`;
}
