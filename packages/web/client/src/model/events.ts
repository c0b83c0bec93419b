import type { GridEvent } from '../../../src/schema/index.ts';
import type { Subject } from './subject.ts';
import { sayMany } from './words.ts';

/** An event in the parts of a sentence: `3 tasks of job 42` `finished` `on alpha-n1`, and what else is known of it. */
export interface SaidEvent {
  readonly subject: string;
  /** Undefined where there is nothing to be asked about it. */
  readonly topic: Subject | undefined;
  readonly fact: string;
  /** Where it happened; empty where that is its subject, or nowhere. */
  readonly machineId: string;
  readonly more: string;
}

/** Says what happened to what. */
export function sayEvent(event: GridEvent): SaidEvent {
  const [noun = '', ...rest] = event.type.split('.');
  const topic = findTopic(noun, event);
  const subject =
    topic === undefined ? (noun === 'provider' && event.provider_id) || noun : sayTopic(topic, event.task_count);
  return {
    subject,
    topic,
    fact: rest.join(' ').replaceAll(/[-_]/g, ' '),
    machineId: topic?.kind === 'machine' ? '' : event.machine_id,
    more: [event.request_id || event.provider_id, event.why]
      .filter((part) => part !== '' && part !== subject)
      .join(' · '),
  };
}

function findTopic(
  noun: string,
  {
    job_id: jobId,
    task_indexes: [taskIndex],
    task_count: count,
    machine_id: machineId,
    request_id: request,
  }: GridEvent,
): Subject | undefined {
  if (noun === 'machine' && machineId !== '') return { kind: 'machine', machineId };
  if (noun === 'request' && request !== '') return { kind: 'request', request };
  if (jobId === null) return undefined;
  return count === 1 && taskIndex !== undefined ? { kind: 'task', jobId, taskIndex } : { kind: 'job', jobId };
}

function sayTopic(topic: Subject, count: number): string {
  switch (topic.kind) {
    case 'machine':
      return topic.machineId;
    case 'request':
      return topic.request;
    case 'task':
      return `task ${topic.taskIndex} of job ${topic.jobId}`;
    case 'job':
      return count === 0 ? `job ${topic.jobId}` : `${sayMany(count, 'task')} of job ${topic.jobId}`;
  }
}

/** Whether something went wrong. */
export function isTrouble({ type }: GridEvent): boolean {
  return /\.(?:failed|lost|outvoted|quarantined|doubted|rejected|vanished|unreserved|cancelled)$/.test(type);
}

/**
 * The newest events first, of each task the newest alone: that it was started and verified goes without saying once it
 * has finished.
 */
export function foldEvents(events: readonly GridEvent[], most: number): GridEvent[] {
  const known = new Set<string>();
  const folded: GridEvent[] = [];
  for (let at = events.length - 1; at >= 0 && folded.length < most; at -= 1) {
    const event = events[at];
    if (event === undefined || !isNews(event, known)) continue;
    folded.push(event);
  }
  return folded;
}

/** Whether a later event does not say more of all its tasks; these are known from now on. */
function isNews({ type, job_id: jobId, task_indexes: indexes, task_count: count }: GridEvent, known: Set<string>) {
  if (!type.startsWith('tasks.') || indexes.length < count || count === 0) return true;
  const fresh = indexes.filter((index) => !known.has(`${jobId}/${index}`));
  for (const index of fresh) known.add(`${jobId}/${index}`);
  return fresh.length > 0;
}
