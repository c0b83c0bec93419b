import { MutiraoError } from '@mutirao/api/errors';
import type { QueuedRequest } from '@mutirao/core/messages';

const keysMax = 1000;

/**
 * Keys of orders that a process has asked for, so that a repeated one is looked for, and one that was taken twice is
 * noticed.
 */
export class TriedKeys {
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  remember(key: string): void {
    const [oldest] = this.#keys;
    if (this.#keys.size >= keysMax && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
  }

  /**
   * Parts jobs in the order of arrival from later ones of a key that was asked for here: the order was taken twice,
   * since its first answer came too late.
   */
  withoutTwins<J extends { readonly request: Pick<QueuedRequest, 'clientRequestId' | 'status'> }>(
    jobs: readonly J[],
  ): { readonly kept: J[]; readonly twins: J[] } {
    const seen = new Set<string>();
    const kept: J[] = [];
    const twins: J[] = [];
    for (const job of jobs) {
      const { clientRequestId: key, status } = job.request;
      const isAlive = this.has(key) && status !== 'ended';
      if (isAlive && seen.has(key)) twins.push(job);
      else kept.push(job);
      if (isAlive) seen.add(key);
    }
    return {
      kept: kept.filter(({ request }) => request.status !== 'ended' || !seen.has(request.clientRequestId)),
      twins,
    };
  }
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for a key that could not be part of a job's name. */
export function requireKey(key: string): void {
  if (!/^[\w.-]{1,100}$/.test(key))
    throw new MutiraoError('MUT_BAD_REQUEST', `key is "${key}"; expected up to 100 letters, digits, "_", "." or "-"`);
}
