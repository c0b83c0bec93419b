import { useEffect, useRef, useState } from 'react';
import { getProblem } from '../../gateway/gateway.ts';
import { answerNow, type Answered } from '../../model/latest-answer.ts';

const settlesMs = 250;
const retryMs = 2000;
const answeredWithinMs = 10_000;

/** What is answered to what was typed last. */
export interface AsTyped<T> {
  /**
   * To what was typed before, until the next one is there; undefined before the first, and where the last was refused.
   */
  readonly answer: T | undefined;
  /** Why there is no newer one. */
  readonly problem: string | undefined;
}

/** The same, and how to have the answer to what stands there now, whether or not it has come. */
export interface AskingAsTyped<T> extends AsTyped<T> {
  /** Whether the answer is to what was typed before. */
  readonly isLate: boolean;
  askNow(): Promise<T>;
}

/**
 * Asks about typed text once it has come to rest for a moment. A server that is away is asked again until it answers;
 * the old answer stays meanwhile.
 *
 * @param typed asked about when it changes; undefined asks nothing.
 */
export function useAsYouType<T>(typed: unknown, ask: (signal: AbortSignal) => Promise<T>): AskingAsTyped<T> {
  const [state, setState] = useState<AsTyped<T>>({ answer: undefined, problem: undefined });
  const last = useRef<Answered<T>>(undefined);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (typed === undefined) {
      setState({ answer: undefined, problem: undefined });
      return undefined;
    }
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = (): void => {
      latest.current(abort.signal).then(
        (answer) => {
          last.current = { to: typed, answer };
          setState({ answer, problem: undefined });
        },
        (error: unknown) => {
          if (abort.signal.aborted) return;
          const { message, retryable } = getProblem(error);
          setState((old) => ({ answer: retryable ? old.answer : undefined, problem: message }));
          if (retryable) timer = setTimeout(round, retryMs);
        },
      );
    };
    timer = setTimeout(round, settlesMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed]);
  return {
    ...state,
    isLate: last.current?.to !== typed,
    askNow: () => answerNow(typed, last.current, () => latest.current(AbortSignal.timeout(answeredWithinMs))),
  };
}
