import type { MachineFacts } from '../../../messages/index.ts';
import { readAttribute, evaluate, type Expression, type Requirements } from '../../../requirements/index.ts';
import { mayUse } from '../placement/placed-tasks.ts';
import type { BrokerProvider, MachinePattern, TaskQueue } from '../state.ts';

/** The pattern of machines among which is one more. */
export function addToPattern(
  pattern: MachinePattern | undefined,
  { processors, attributes }: MachineFacts,
): MachinePattern {
  if (pattern === undefined) return { processors, attributes, varying: [] };
  const alike = Object.entries(pattern.attributes).filter(([name, value]) => attributes[name] === value);
  const varying = new Set(pattern.varying);
  const known = Object.fromEntries(alike);
  for (const name of [...Object.keys(pattern.attributes), ...Object.keys(attributes)])
    if (!(name in known)) varying.add(name);
  if (varying.size === pattern.varying.length && processors <= pattern.processors) return pattern;
  return { processors: Math.max(processors, pattern.processors), attributes: known, varying: [...varying] };
}

/**
 * Whether a machine that the provider may obtain could run the queue's tasks, as far as its earlier ones tell, and they
 * are not placed elsewhere.
 *
 * Before any was seen, its name as the attribute `site` is all that is known, and what is not known is hoped for. Later
 * only attributes in
 * which its machines differ are hoped for: what none of them ever stated the next one will not state either.
 */
export function mayMatch(
  queue: Pick<TaskQueue, 'processors' | 'isGang' | 'requirements' | 'place'>,
  provider: BrokerProvider,
): boolean {
  return mayUse(queue, provider) && mayObtain(queue, provider);
}

/** The same, wherever the tasks are placed. */
export function mayObtain(
  { processors, isGang, requirements }: Pick<TaskQueue, 'processors' | 'isGang' | 'requirements'>,
  { providerId, pattern }: BrokerProvider,
): boolean {
  if (pattern === undefined) return evaluate(requirements, { site: providerId }) !== 'no match';
  if (!isGang && processors > pattern.processors) return false;
  const result = evaluate(requirements, pattern.attributes);
  return result === 'match' || (result === 'undefined' && namesAny(requirements, pattern.varying));
}

function namesAny({ expression }: Requirements, names: readonly string[]): boolean {
  if (expression === undefined || names.length === 0) return false;
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return asksFor(expression, (name) => wanted.has(name));
}

function asksFor(expression: Expression, isOne: (name: string) => boolean): boolean {
  switch (expression.kind) {
    case 'not':
      return asksFor(expression.part, isOne);
    case 'all':
    case 'any':
      return expression.parts.some((part) => asksFor(part, isOne));
    default:
      return isOne(readAttribute(expression));
  }
}
