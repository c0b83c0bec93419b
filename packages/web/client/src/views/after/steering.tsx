import { useState, type ReactNode } from 'react';
import type { JobRow } from '../../../../src/schema/index.ts';
import { getProblem } from '../../gateway/gateway.ts';
import { getDraft } from '../../model/bag-draft.ts';
import { sayMany } from '../../model/words.ts';
import { usePage, writeDraft } from '../../page-context.tsx';

/** Makes a call that steers a job, and reports its result. */
function useAct(): (what: Promise<string>) => void {
  const { say } = usePage();
  return (what) => {
    what.then(
      (text) => say(text),
      (error: unknown) => say(getProblem(error).message, true),
    );
  };
}

/** Holds and releases the tasks of a job that runs, and closes one that is open for more. */
export function SteerButtons({ job }: { readonly job: JobRow }): ReactNode {
  const { gateway } = usePage();
  const act = useAct();
  const { job_id: jobId, held_count: held, is_open: isOpen, tasks } = job;
  const params = { job_id: jobId };
  const canBeHeld = tasks.ready + tasks.waiting - held > 0;
  return (
    <>
      {canBeHeld ? (
        <button
          type="button"
          title="Running tasks continue; all others wait until you release them"
          onClick={() =>
            act(
              gateway.call('holdTasks', { params }).then(({ held_count: count }) => `${sayMany(count, 'task')} held.`),
            )
          }
        >
          Hold
        </button>
      ) : null}
      {held > 0 ? (
        <button
          type="button"
          onClick={() =>
            act(
              gateway
                .call('releaseTasks', { params })
                .then(({ released_count: count }) => `${sayMany(count, 'task')} released.`),
            )
          }
        >
          Release {sayMany(held, 'task')}
        </button>
      ) : null}
      {isOpen ? (
        <button
          type="button"
          title="The job accepts no more tasks, and ends when all its tasks have ended"
          onClick={() =>
            act(
              gateway
                .call('closeJob', { params })
                .then(({ task_count: count }) => `Job ${jobId} is closed with ${sayMany(count, 'task')}.`),
            )
          }
        >
          Close
        </button>
      ) : null}
    </>
  );
}

/** Opens the form with the request of the job. */
export function AgainButton({ jobId }: { readonly jobId: number }): ReactNode {
  const { gateway, go, say } = usePage();
  const open = async (): Promise<void> => {
    const { bag, left_out: left } = await gateway.call('getBagDraft', { params: { job_id: jobId } });
    writeDraft('bag', getDraft(bag));
    go({ view: 'submit' });
    if (left.length > 0) say(`Not copied from job ${jobId}: ${left.join(', ')}.`, true);
  };
  return (
    <button
      type="button"
      title="Opens the form with the command, values and files of this job"
      onClick={() => {
        open().catch((error: unknown) => say(getProblem(error).message, true));
      }}
    >
      Submit again …
    </button>
  );
}

/** Changes which job is served first, and how many of its tasks run at once. */
export function SteerForm({ job }: { readonly job: JobRow }): ReactNode {
  const { gateway } = usePage();
  const act = useAct();
  const [priority, setPriority] = useState(String(job.priority));
  const [most, setMost] = useState(job.running_max === null ? '' : String(job.running_max));
  const isRight = /^-?\d{1,4}$/.test(priority) && Math.abs(Number(priority)) <= 1000 && /^\d{0,6}$/.test(most);
  const apply = (): void =>
    act(
      gateway
        .call('updateJob', {
          params: { job_id: job.job_id },
          body: { priority: Number(priority), running_max: Number(most) },
        })
        .then(() => `Job ${job.job_id} has priority ${Number(priority)} and ${sayLimit(Number(most))}.`),
    );
  return (
    <form
      className="row steer"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight) apply();
      }}
    >
      <label>
        <span>Priority</span>
        <input
          type="number"
          min={-1000}
          max={1000}
          value={priority}
          title="Higher priorities are served first; a point counts as an hour of waiting"
          onChange={(event) => setPriority(event.target.value)}
        />
      </label>
      <label>
        <span>Tasks at once</span>
        <input
          type="number"
          min={0}
          max={999_999}
          placeholder="no limit"
          value={most}
          onChange={(event) => setMost(event.target.value)}
        />
      </label>
      <button type="submit" disabled={!isRight}>
        Apply
      </button>
    </form>
  );
}

function sayLimit(most: number): string {
  return most === 0 ? 'no limit of tasks at once' : `runs at most ${sayMany(most, 'task')} at once`;
}
