import { TaskStatus, type JobSummary } from '@mutirao/api/broker';

import type { BrokerClient } from '@mutirao/runtime/clients';

/** How shells and interpreters report a file or a program that is not there, with its name. */
const reports: readonly RegExp[] = [
  /can't open file '([^']+)'/,
  /cannot open `?'?([^\s':]+)'?: No such file/,
  /([^\s:'"]+)'?: No such file or directory/,
  /No such file or directory: '([^']+)'/,
  /([^\s:]+): (?:command )?not found/,
  /cannot open file '([^']+)'/,
  /can't cd to ([^\s:]+)/,
  /Can't open perl script "([^"]+)"/,
  /Cannot find module '([^']+)'/,
];

/** The file that a task missed by its standard error; undefined where it says nothing of the kind. */
export function findMissingFile(standardError: string): string | undefined {
  for (const line of standardError.trimEnd().split('\n').reverse().slice(0, 20)) {
    for (const report of reports) {
      const name = report.exec(line)?.[1];
      if (name !== undefined) return name;
    }
  }
  return undefined;
}

/**
 * Explains to a user whose task failed for want of a file that tasks start in an empty folder. Looks at the first
 * failed task only.
 *
 * @returns a sentence, or undefined where the failure has another cause or the broker does not say.
 */
export async function explainMissingFile(broker: BrokerClient, job: JobSummary): Promise<string | undefined> {
  if (job.failedCount === 0) return undefined;
  try {
    const { tasks } = await broker.listTasks({
      jobId: job.jobId,
      taskIndexes: [],
      fromTaskIndex: 0,
      pageSize: 1,
      status: TaskStatus.FAILED,
    });
    const [task] = tasks;
    if (task === undefined) return undefined;
    const { standardError } = await broker.getTaskOutput({ jobId: job.jobId, taskIndex: task.taskIndex });
    const name = findMissingFile(Buffer.from(standardError).toString('utf8'));
    if (name === undefined) return undefined;
    const own = name.startsWith('/') ? name.slice(name.lastIndexOf('/') + 1) : name.replace(/^\.\//, '');
    return (
      `Task ${task.taskIndex} did not find ${name.startsWith('/') ? own : name}. Unless their job says ` +
      `--in-place, tasks start in an empty folder: bring files of yours with --put ${own}, or name programs that ` +
      'the machine has.'
    );
  } catch {
    return undefined; // How the job ended is known; this only adds help.
  }
}
