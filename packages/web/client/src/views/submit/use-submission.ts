import { useState, type SubmitEvent } from 'react';
import { getProblem } from '../../gateway/gateway.ts';

/** What a form shows while it is submitted, and after it was refused. */
export interface Submission {
  /** Why it was refused; empty while it was not. */
  readonly refusal: string;
  readonly refuse: (reason: string) => void;
  readonly isSending: boolean;
  readonly submit: (event: SubmitEvent) => void;
}

/** Submits a form with `send`, once at a time, and keeps the reason of a refusal. */
export function useSubmission(send: () => Promise<void>): Submission {
  const [refusal, refuse] = useState('');
  const [isSending, setIsSending] = useState(false);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    refuse('');
    setIsSending(true);
    send()
      .catch((error: unknown) => {
        const { message, advice } = getProblem(error);
        refuse(`${message} ${advice}`);
      })
      .finally(() => setIsSending(false));
  };
  return { refusal, refuse, isSending, submit };
}
