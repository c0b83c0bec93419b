import type { ReactNode } from 'react';
import { saySentence } from '../model/words.ts';
import { findTrouble } from '../model/live-state.ts';
import { useLive, type Answer } from '../page-context.tsx';

/** That something is being read. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="hint" role="status">
      <i className="spinner" aria-hidden="true" />
      Reading {what} …
    </p>
  );
}

/** That there is nothing, and what would bring something. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

/**
 * The answer of a call, a note that it is loading, or the error. An old answer stays in sight with the error of a newer
 * call.
 */
export function Answered<T>({
  answer,
  what,
  children,
}: {
  readonly answer: Answer<T>;
  readonly what: string;
  readonly children: (value: T) => ReactNode;
}): ReactNode {
  const { value, error, again } = answer;
  // The banner of the page says that already, and the page reconnects by itself.
  const isLost = useLive((state) => findTrouble(state)?.isLost === true);
  const failure =
    error === undefined || (isLost && value !== undefined) ? null : (
      <p className="refusal" role="alert">
        {saySentence(error)}{' '}
        <button type="button" className="link" onClick={again}>
          Try again
        </button>
      </p>
    );
  if (value === undefined) return failure ?? <Loading what={what} />;
  return (
    <>
      {failure}
      {children(value)}
    </>
  );
}

/** A titled part of a view. */
export function Panel({
  title,
  aside,
  className = '',
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  const id = `panel-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return (
    <section className={`panel ${className}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside === undefined ? null : <div className="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}
