import { TaskStatus, type TaskRecord } from '@mutirao/api/broker';
import type { BrokerClient } from '@mutirao/runtime/clients';

const pageMax = 1000;
const taskEnds = new Set(['tasks.finished', 'tasks.failed', 'tasks.cancelled']);
const jobEnds = new Set(['job.finished', 'job.failed', 'job.cancelled']);

/** Yields the tasks of a job as they end, each once, until the job has ended. */
export async function* listEndedTasks(
  broker: BrokerClient,
  jobId: number,
  signal: AbortSignal,
): AsyncGenerator<readonly TaskRecord[]> {
  const reported = new Set<number>();
  for await (const { events } of broker.watchJob({ jobId, afterSequence: 0 }, signal)) {
    const indexes = new Set(events.filter(({ type }) => taskEnds.has(type)).flatMap(({ taskIndexes }) => taskIndexes));
    const open = [...indexes].filter((index) => !reported.has(index));
    for (let from = 0; from < open.length; from += pageMax) {
      const ended = await fetchEnded(broker, jobId, open.slice(from, from + pageMax));
      for (const { taskIndex } of ended) reported.add(taskIndex);
      yield ended;
    }
    if (events.some(({ type }) => jobEnds.has(type))) return;
  }
}

async function fetchEnded(broker: BrokerClient, jobId: number, taskIndexes: number[]): Promise<readonly TaskRecord[]> {
  const ended: TaskRecord[] = [];
  let fromTaskIndex: number | undefined = 0;
  while (fromTaskIndex !== undefined) {
    const page: { tasks: TaskRecord[]; nextTaskIndex?: number | undefined } = await broker.listTasks({
      jobId,
      taskIndexes,
      status: TaskStatus.UNSPECIFIED,
      pageSize: pageMax,
      fromTaskIndex,
    });
    ended.push(...page.tasks.filter(({ status }) => hasEnded(status)));
    fromTaskIndex = page.nextTaskIndex;
  }
  return ended;
}

function hasEnded(status: TaskStatus): boolean {
  return status === TaskStatus.FINISHED || status === TaskStatus.FAILED || status === TaskStatus.CANCELLED;
}
