import { describeChoice, type PlacedTask } from '../../../placement/index.ts';

/** Names that are told at most. */
const namedMax = 5;

/** Says why a task is placed where it is, and what it is kept off. @param names of the candidates, by size. */
export function describePlacing(decision: PlacedTask, names: readonly string[]): string {
  const wider = names.slice(decision.admissible.last + 1);
  const more = wider.length > namedMax ? ` and ${wider.length - namedMax} more` : '';
  const keptOff =
    wider.length === 0
      ? ''
      : `; kept off ${wider.slice(0, namedMax).join(', ')}${more}, which ${wider.length === 1 ? 'is' : 'are'} ` +
        'left to wider tasks';
  return describeChoice(decision, names) + keptOff;
}
