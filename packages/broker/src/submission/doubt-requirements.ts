import type { BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { distinctReasons, type Fault } from '@mutirao/core/reasons';
import { findDoubts, parseRequirements } from '@mutirao/core/requirements';

/** What every agent states of its machine. */
const usualAttributes = [
  'os',
  'mem',
  'hostname',
  'processorfamily',
  'site',
  'sharedhome',
  'isolation',
  'manager_job',
] as const;
/** Doubts of one job. */
const doubtsMax = 10;

/**
 * What of a job's requirements holds on no machine that is here, or that providers had before. Cost:
 * O(machines + groups).
 */
export function doubtRequirements(
  { groups }: JobSpec,
  { machines, providers }: Pick<BrokerState, 'machines' | 'providers'>,
): Fault[] {
  const expressions = new Set(groups.map(({ requirements }) => requirements).filter((text) => text !== ''));
  if (expressions.size === 0) return [];
  const ofMachines = [...machines.values()].flatMap(({ facts }) => Object.keys(facts.attributes));
  const ofProviders = [...providers.values()].flatMap(({ pattern }) => [
    ...Object.keys(pattern?.attributes ?? {}),
    ...(pattern?.varying ?? []),
  ]);
  const known = new Set<string>([...usualAttributes, ...ofMachines, ...ofProviders]);
  return distinctReasons(listDoubts(expressions, known), doubtsMax);
}

function* listDoubts(expressions: Iterable<string>, known: ReadonlySet<string>): Iterable<Fault> {
  for (const text of expressions) {
    const parsed = parseRequirements(text);
    if (parsed.kind === 'requirements') yield* findDoubts(parsed, known);
  }
}
