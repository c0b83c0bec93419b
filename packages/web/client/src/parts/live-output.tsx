import { useEffect, useRef, useState, type ReactNode } from 'react';
import { getProblem } from '../gateway/gateway.ts';
import { emptyTail, takeTail, type Tail } from '../model/tail.ts';
import { saySentence } from '../model/words.ts';
import { usePage } from '../page-context.tsx';
import { OutputText } from './output-text.tsx';

/** Time between two updates of the output, in milliseconds, however fast a task prints. */
const shownEveryMs = 100;

/** The output of a running task. */
export function LiveOutput({ jobId, taskIndex }: { readonly jobId: number; readonly taskIndex: number }): ReactNode {
  const { tail, problem } = useTail(jobId, taskIndex);
  const { out, errors, machineId, isCut, isUnreadable } = tail;
  if (problem !== '') return <p className="hint">{saySentence(problem)}</p>;
  if (isUnreadable) return <p className="hint">The output is shown here when the run has ended.</p>;
  if (out === '' && errors === '')
    return (
      <p className="hint" role="status">
        <i className="spinner" aria-hidden="true" />
        Nothing printed yet. New output appears here as it comes.
      </p>
    );
  const note = `live from ${machineId}${isCut ? '; earlier output is not shown' : ''}`;
  return (
    <>
      {out === '' ? null : (
        <>
          <h3>
            Standard output <span className="faint">({note})</span>
          </h3>
          <OutputText text={out} label="Standard output" />
        </>
      )}
      {errors === '' ? null : (
        <>
          <h3>
            Standard error <span className="faint">({note})</span>
          </h3>
          <OutputText text={errors} label="Standard error" />
        </>
      )}
    </>
  );
}

function useTail(jobId: number, taskIndex: number): { readonly tail: Tail; readonly problem: string } {
  const { gateway } = usePage();
  const [tail, setTail] = useState(emptyTail);
  const [problem, setProblem] = useState('');
  const latest = useRef(emptyTail);
  useEffect(() => {
    const abort = new AbortController();
    latest.current = emptyTail;
    const timer = setInterval(() => setTail(latest.current), shownEveryMs);
    gateway
      .tail(
        jobId,
        taskIndex,
        (message) => {
          latest.current = takeTail(latest.current, message);
        },
        abort.signal,
      )
      .then(
        () => setTail(latest.current),
        (error: unknown) => {
          if (!abort.signal.aborted) setProblem(getProblem(error).message);
        },
      )
      .finally(() => clearInterval(timer));
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [gateway, jobId, taskIndex]);
  return { tail, problem };
}
