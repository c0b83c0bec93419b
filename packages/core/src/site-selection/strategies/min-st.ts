import type { Strategy } from '../strategy.ts';

/**
 * The earliest end of the new task, less its submission: also its earliest start, since it takes as long everywhere.
 * @source gonzalez2010, Eq. 12.
 */
export const minSt: Strategy<4> = {
  name: 'min-st',
  level: 4,
  evaluate: ({ endsAt }, { task }) => endsAt - task.submittedAt,
};
