import type { BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { findDoubts, parseRequirements } from '@mutirao/core/requirements';

/** What every agent states of its machine. */
const usualAttributes = ['os', 'mem', 'hostname', 'processorfamily', 'site', 'sharedhome'] as const;
/** Sentences of one job. */
const doubtsMax = 10;

/** What of a job's requirements holds on no machine that is here, or that providers had before: sentences. Cost: O(machines + groups). */
export function doubtRequirements({ groups }: JobSpec, { machines, providers }: Pick<BrokerState, 'machines' | 'providers'>): string[] {
  const expressions = new Set(groups.map(({ requirements }) => requirements).filter((text) => text !== ''));
  if (expressions.size === 0) return [];
  const known = new Set<string>(usualAttributes);
  for (const { facts } of machines.values()) for (const name of Object.keys(facts.attributes)) known.add(name);
  for (const { pattern } of providers.values()) for (const name of [...Object.keys(pattern?.attributes ?? {}), ...pattern?.varying ?? []]) known.add(name);
  const doubts = new Set<string>();
  for (const text of expressions) {
    const parsed = parseRequirements(text);
    if (parsed.kind === 'requirements') for (const doubt of findDoubts(parsed, known)) doubts.add(doubt);
  }
  return [...doubts].slice(0, doubtsMax);
}
