import type { HostClaims } from './host-claims.ts';
import type { HostFiles } from './host-files.ts';
import { parseIdList } from './parse-limits.ts';

/** How tasks are kept to the processors that they hold. */
export interface Pinning {
  /** Path of `taskset`. */
  readonly program: string;
  /** The number of each processor that the agent offers, by slot. */
  readonly processorIds: readonly number[];
}

/** What finding out about pinning needs. */
export interface PinningOptions {
  /** Processors that this process may run on. */
  readonly processorIds: readonly number[];
  /** How many it offers. */
  readonly offered: number;
  /** Path of `taskset`; undefined where it is not installed. */
  readonly program: string | undefined;
}

/**
 * Claims a processor for each slot. Undefined where there are fewer than slots, because more is offered than there is
 * or another agent has them, and where `taskset` does not work: then the system places tasks.
 */
export async function findPinning(
  host: HostFiles,
  claims: HostClaims,
  { processorIds, offered, program }: PinningOptions,
): Promise<Pinning | undefined> {
  const [first] = processorIds;
  if (program === undefined || first === undefined || processorIds.length < offered) return undefined;
  // Whether this taskset knows the option, and whether the system allows it, shows only when it is tried.
  if ((await host.run(program, ['-c', String(first), '/bin/true'])) === undefined) return undefined;
  const claimed: number[] = [];
  for (const id of spread(host, processorIds)) {
    if (claimed.length === offered) break;
    if (await claims.claim(`processor-${id}`)) claimed.push(id);
  }
  if (claimed.length === offered) return { program, processorIds: claimed };
  claims.close();
  return undefined;
}

/** Orders processors so that the first ones are of different cores. */
export function spread(host: HostFiles, processorIds: readonly number[]): number[] {
  const rank = (id: number): number => {
    const folder = `/sys/devices/system/cpu/cpu${id}/topology`;
    const siblings = parseIdList(host.read(`${folder}/thread_siblings_list`) ?? '') ?? [id];
    return siblings.filter((sibling) => processorIds.includes(sibling)).indexOf(id);
  };
  return [...processorIds]
    .map((id) => ({ id, rank: rank(id) }))
    .sort((a, b) => a.rank - b.rank || a.id - b.id)
    .map(({ id }) => id);
}

/** The processors of slots as `taskset -c` takes them. */
export function listProcessors({ processorIds }: Pinning, slots: readonly number[]): string {
  return slots
    .map((slot) => processorIds[slot] ?? 0)
    .sort((a, b) => a - b)
    .join(',');
}
