import type { TaskRecord } from '@mutirao/api/broker';
import { pageBytesMax } from '@mutirao/api/paged-answers';
import { Reason } from '@mutirao/api/common';
import type { TaskIndex } from '@mutirao/core/shared';

/** The records of the first tasks that a message has room for, one at least. */
export function fillPage(indexes: readonly TaskIndex[], encode: (index: TaskIndex) => TaskRecord): TaskRecord[] {
  const tasks: TaskRecord[] = [];
  let bytes = 0;
  for (const index of indexes) {
    const task = encode(index);
    bytes += getBytes(task);
    if (tasks.length > 0 && bytes > pageBytesMax) break;
    tasks.push(task);
  }
  return tasks;
}

/** At least what a task takes on the wire: its texts, and more than its numbers. */
function getBytes({ value, replicas, waitsFor }: TaskRecord): number {
  const ofReplicas = replicas.reduce(
    (sum, { machineId, requestId, reason, detail }) =>
      sum +
      250 +
      Buffer.byteLength(machineId) +
      Buffer.byteLength(requestId) +
      Buffer.byteLength(reason) +
      getReasonBytes(detail),
    0,
  );
  return 64 + Buffer.byteLength(value) + 6 * waitsFor.length + ofReplicas;
}

function getReasonBytes(detail: Reason | undefined): number {
  return detail === undefined ? 0 : Reason.encode(detail).finish().length;
}
