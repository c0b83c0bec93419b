import type { WidthKnown } from '../knowledge.ts';
import type { Strategy } from '../strategy.ts';

/**
 * The least standard deviation of the parallel loads of the admissible resources, with the task on the one in question.
 * Cost: O(admissible) a value.
 *
 * @source gonzalez2010, Eq. 5.
 */
export const minLbal: Strategy<2> = {
  name: 'min-lbal',
  level: 2,
  evaluate(resource, { task, admissible }) {
    const loadOf = (each: WidthKnown): number =>
      (each === resource ? each.widthSum : each.widthSum - task.width) / each.processors;
    let sum = 0;
    for (const each of admissible) sum += loadOf(each);
    const mean = sum / admissible.length;
    let squares = 0;
    for (const each of admissible) squares += (loadOf(each) - mean) ** 2;
    return Math.sqrt(squares / admissible.length);
  },
};
