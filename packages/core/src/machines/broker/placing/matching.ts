import type { MachineFacts } from '../../../messages/index.ts';
import { type Attributes, evaluate, parseRequirements } from '../../../requirements/index.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { TaskQueue } from '../state.ts';

/** Whether a machine may run the queue's tasks. Answers are kept, so asking again is cheap. */
export function matchesQueue(queue: TaskQueue, facts: MachineFacts): boolean {
  if (!belongsTo(queue.job, facts.reservation)) return false;
  const known = queue.matches.get(facts);
  if (known !== undefined) return known;
  const isMatch = isWideEnough(queue, facts) && evaluate(queue.requirements, facts.attributes) === 'match';
  queue.matches.set(facts, isMatch);
  return isMatch;
}

/** A member of a gang is where it finds a processor, if its machine knows of gangs. */
function isWideEnough({ isGang, processors }: TaskQueue, facts: MachineFacts): boolean {
  return isGang ? facts.takesGangs === true : facts.processors >= processors;
}

/** Whether an expression that was checked before holds for a machine; an empty one does. */
export function matchesExpression(expression: string, attributes: Attributes): boolean {
  if (expression === '') return true;
  const requirements = parseRequirements(expression);
  return requirements.kind === 'requirements' && evaluate(requirements, attributes) === 'match';
}
