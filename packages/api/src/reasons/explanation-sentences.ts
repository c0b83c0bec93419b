import { plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { rounded, span } from './numbers.ts';

/** What a broker answers when it is asked why. */
export const explanationSentences = {
  'request-status': ({ requestName, processors, walltimeMs, status, sinceMs, reservationId }) => {
    const inside = reservationId === undefined ? '' : ` inside reservation ${reservationId}`;
    const since = sinceMs === undefined ? '' : ` for ${span(sinceMs)}`;
    return `Request ${requestName} (${plural(processors, 'processor')} for ${span(walltimeMs)}${inside}): ${status}${since}.`;
  },
  'request-heuristic': ({ heuristic }) => `The heuristic ${heuristic} chose its size.`,
  'request-machines': ({ machineIds }) => `Its machines: ${machineIds.join(', ')}.`,
  'request-kept-for-tasks': ({ jobId, tasks }) =>
    `Idle processors are kept: ${plural(tasks, 'task')} of job ${jobId} will be ready soon, because what ` +
    `${tasks === 1 ? 'it waits' : 'they wait'} for has almost finished.`,
  'request-candidate': ({ isChosen, processors, walltimeMs, startMs, tasksPerHour }) => {
    const when = startMs > 0 ? `starting in ${span(startMs)}` : `starting ${span(-startMs)} ago`;
    return (
      `Candidate${isChosen ? ' (chosen)' : ''}: ${plural(processors, 'processor')} for ${span(walltimeMs)}, ${when}, ` +
      `${rounded(tasksPerHour)} tasks/h.`
    );
  },
  'job-progress': ({ jobId, tasks, finishedTasks, runningTasks, waiting }) =>
    `job ${jobId}: ${finishedTasks} of ${plural(tasks, 'task')} finished, ${runningTasks} running` +
    `${waiting === undefined ? '.' : `: ${waiting}`}`,
  'reservation-time-over': () => 'The reservation has reached its end.',
  'unknown-reason': ({ reasonCode, words }) => (words === '' ? `Reason ${reasonCode}.` : words),
} satisfies Partial<Catalogue>;
