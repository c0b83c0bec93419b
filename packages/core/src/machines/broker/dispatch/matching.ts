import { getCapacity, type MachineFacts, type OutputSpec, type TaskGroup } from '../../../messages/index.ts';
import { type Attributes, evaluate, parseRequirements } from '../../../requirements/index.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import { FreeResources } from '../../../resources/index.ts';
import type { BrokerMachine, TaskQueue } from '../state.ts';

/** Whether a machine may run the queue's tasks: it would do, and they are not dispatched elsewhere. */
export function matchesQueue(
  queue: TaskQueue,
  { provider, facts }: Pick<BrokerMachine, 'provider' | 'facts'>,
): boolean {
  return mayUse(queue, provider) && wouldDo(queue, facts);
}

/**
 * Whether a machine is one that the queue's tasks could run on, wherever they are dispatched. Answers are kept, so
 * asking again is cheap.
 */
export function wouldDo(queue: TaskQueue, facts: MachineFacts): boolean {
  if (!belongsTo(queue.job, facts.reservation)) return false;
  const known = queue.matches.get(facts);
  if (known !== undefined) return known;
  const isMatch =
    isWideEnough(queue, facts) &&
    hasEnough(queue, facts) &&
    isOpenTo(queue, facts) &&
    evaluate(queue.requirements, facts.attributes) === 'match';
  queue.matches.set(facts, isMatch);
  return isMatch;
}

/** A member of a gang is where it finds a processor, if its machine knows of gangs. */
function isWideEnough({ isGang, processors }: TaskQueue, facts: MachineFacts): boolean {
  return isGang ? facts.takesGangs === true : facts.processors >= processors;
}

/** Whether a machine has what one task, or one member of a gang, asks for in addition, while nothing is in use. */
export function hasEnough({ resources }: Pick<TaskQueue, 'resources'>, facts: MachineFacts): boolean {
  return resources === undefined || new FreeResources(getCapacity(facts)).fits(resources);
}

/** Whether a machine runs tasks of the queue's user. */
export function isOpenTo({ job }: TaskQueue, { onlyUser }: Pick<MachineFacts, 'onlyUser'>): boolean {
  return onlyUser === undefined || onlyUser === job.userId;
}

/** The outputs of a group's tasks on a machine, in the order of `ReplicaStart.outputs`. */
export function outputsOn({ outputs }: Pick<TaskGroup, 'outputs'>, attributes: Attributes): OutputSpec[] {
  return outputs.filter(({ condition }) => matchesExpression(condition, attributes));
}

/** Whether an expression that was checked before holds for a machine; an empty one does. */
export function matchesExpression(expression: string, attributes: Attributes): boolean {
  if (expression === '') return true;
  const requirements = parseRequirements(expression);
  return requirements.kind === 'requirements' && evaluate(requirements, attributes) === 'match';
}
