import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { JobRow } from '../../../../src/schema/index.ts';
import { sayCount } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';

/** Has the browser say when a job ends, also while another tab is in front. */
export function EndNotice({ job }: { readonly job: JobRow }): ReactNode {
  const { say } = usePage();
  const [isWanted, setWanted] = useState(false);
  const before = useRef(job.status);
  const { status, job_id: jobId, label, tasks } = job;
  useEffect(() => {
    const hasEnded = before.current === 'running' && status !== 'running';
    before.current = status;
    if (!hasEnded || !isWanted) return;
    const failed = tasks.failed === 0 ? '' : `, ${sayCount(tasks.failed)} failed`;
    void new Notification(`Job ${jobId} ${label} has ${status === 'cancelled' ? 'been cancelled' : status}`, {
      body: `${sayCount(tasks.finished)} tasks finished${failed}.`,
      tag: `job-${jobId}`,
    });
  }, [status, isWanted, jobId, label, tasks.failed, tasks.finished]);
  if (status !== 'running' || !('Notification' in window)) return null;
  const ask = async (): Promise<void> => {
    const isAllowed = (await Notification.requestPermission()) === 'granted';
    setWanted(isAllowed);
    say(
      isAllowed
        ? `The browser says when job ${jobId} has ended, as long as this page is open.`
        : 'The browser does not let this page show notifications.',
      !isAllowed,
    );
  };
  return (
    <button
      type="button"
      aria-pressed={isWanted}
      onClick={() => {
        if (isWanted) setWanted(false);
        else void ask();
      }}
    >
      Notify me
    </button>
  );
}
