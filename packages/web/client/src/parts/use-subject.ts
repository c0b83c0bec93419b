import { useCallback, useEffect, useState } from 'react';
import { getSubjectHash, readSubject, type Subject } from '../model/subject.ts';

/** How many drawers lie between an entry of the history and the view below them. */
function getDepth(): number {
  const state = window.history.state as { readonly drawers?: unknown } | null;
  return typeof state?.drawers === 'number' ? state.drawers : 0;
}

/** The subject of the drawer. The address names it, so that it can be linked to and Back returns to the one before. */
export function useSubject(): {
  readonly subject: Subject | undefined;
  readonly explain: (subject: Subject) => void;
  readonly close: () => void;
  /** After another place has been pushed, which has no drawer. */
  readonly forget: () => void;
} {
  const [subject, setSubject] = useState<Subject | undefined>(() => readSubject(window.location.hash));
  useEffect(() => {
    const back = (): void => setSubject(readSubject(window.location.hash));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  const explain = useCallback((next: Subject) => {
    const { pathname, search } = window.location;
    window.history.pushState({ drawers: getDepth() + 1 }, '', pathname + search + getSubjectHash(next));
    setSubject(next);
  }, []);
  const close = useCallback(() => {
    const depth = getDepth();
    setSubject(undefined);
    if (depth > 0) window.history.go(-depth);
    else window.history.replaceState(null, '', window.location.pathname + window.location.search);
  }, []);
  const forget = useCallback(() => setSubject(undefined), []);
  return { subject, explain, close, forget };
}
