import type { ProcessorCount } from '../../../shared/index.ts';
import type { TaskQueue } from '../state.ts';

type Sized = Pick<TaskQueue, 'isGang' | 'processors'>;

/**
 * Processors that one machine must have for a task, by which demand groups tasks. A gang counts as one task of one
 * processor for each of its processors.
 */
export function requireWidth({ isGang, processors }: Sized): ProcessorCount {
  return isGang ? 1 : processors;
}

/** As how many tasks of its width one task counts. */
export function requireUnits({ isGang, processors }: Sized): number {
  return isGang ? processors : 1;
}
