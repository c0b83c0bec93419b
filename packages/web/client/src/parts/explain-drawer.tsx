import { useEffect, useRef, type ReactNode } from 'react';
import type { Explanation } from '../../../src/schema/index.ts';
import { groupReasons } from '../model/reason-groups.ts';
import { getSubjectTitle, type Subject } from '../model/subject.ts';
import { sayCount } from '../model/words.ts';
import { useAnswer, usePage, type Answer } from '../page-context.tsx';
import { MachineCard } from './machine-card.tsx';
import { Answered } from './notices.tsx';
import { TaskCard } from './task-card.tsx';

/** Explains the state of a job, task or request, and shows its details. */
export function ExplainDrawer({
  subject,
  close,
}: {
  readonly subject: Subject;
  readonly close: () => void;
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [close]);
  return (
    <div className="drawer" ref={ref} tabIndex={-1} role="dialog" aria-label={getSubjectTitle(subject)}>
      <div className="drawer-head">
        <h2>{getSubjectTitle(subject)}</h2>
        <button type="button" className="quiet icon" onClick={close} aria-label="Close">
          ✕
        </button>
      </div>
      <Content subject={subject} />
    </div>
  );
}

function Content({ subject }: { readonly subject: Subject }): ReactNode {
  switch (subject.kind) {
    case 'job':
      return <JobContent jobId={subject.jobId} />;
    case 'task':
      return <TaskContent jobId={subject.jobId} taskIndex={subject.taskIndex} />;
    case 'request':
      return <RequestContent request={subject.request} />;
    case 'machine':
      return <MachineCard machineId={subject.machineId} />;
  }
}

function JobContent({ jobId }: { readonly jobId: number }): ReactNode {
  const { go } = usePage();
  const answer = useAnswer('explainJob', { params: { job_id: jobId } }, 5000);
  return (
    <>
      <Why answer={answer} />
      <p>
        <button type="button" onClick={() => go({ view: 'after', jobId })}>
          Open the job
        </button>
      </p>
    </>
  );
}

function TaskContent({ jobId, taskIndex }: { readonly jobId: number; readonly taskIndex: number }): ReactNode {
  const answer = useAnswer('explainTask', { params: { job_id: jobId, task_index: taskIndex } }, 5000);
  return (
    <>
      <Why answer={answer} />
      {answer.isLoading ? null : <TaskCard jobId={jobId} taskIndex={taskIndex} />}
    </>
  );
}

function RequestContent({ request }: { readonly request: string }): ReactNode {
  return <Why answer={useAnswer('explainRequest', { query: { request } }, 5000)} />;
}

function Why({ answer }: { readonly answer: Answer<Explanation> }): ReactNode {
  return (
    <Answered answer={answer} what="the explanation">
      {({ summary, waiting, details }) => (
        <div className="why">
          <p className="lead">{waiting === null ? summary.text : `${summary.text} ${waiting.text}`}</p>
          {details.length === 0 ? null : (
            <ul>
              {groupReasons(details).map(({ first, others }, index) => (
                <li key={index}>
                  {first.text}
                  {others.length === 0 ? null : (
                    <details>
                      <summary>and {sayCount(others.length)} more like this</summary>
                      {others.map(({ text }, other) => (
                        <p key={other}>{text}</p>
                      ))}
                    </details>
                  )}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Answered>
  );
}
