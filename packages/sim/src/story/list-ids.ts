import { walkIds } from './walk-ids.ts';

/**
 * Every id that an input, a change or a command of any machine touches, once.
 *
 * Replicas are `r17`, jobs `j5`, tasks `t3` and, where the job is said too, `j5.t3`; machines, providers and brokers go
 * by their
 * names, requests by `q3` and `alpha/q3`, a cluster's own requests by `c7`, reports by `s2`, questions by `ask4`,
 * contents by the
 * first 12 digits of their hash. Cost: the size of the message.
 */
export function listIds(message: unknown): string[] {
  return [...walkIds(message).ids];
}
