import { useEffect, useState } from 'react';
import { getTaskQuery, readTaskSpec, type TaskSpec } from '../../model/task-list.ts';

/** Which tasks are listed, which the address keeps. */
export function useTaskSpec(): [TaskSpec, (spec: TaskSpec) => void] {
  const [spec, setSpec] = useState(() => readTaskSpec(window.location.search));
  useEffect(() => {
    // Browsers refuse an address that changes with each letter.
    const timer = setTimeout(() => {
      const { pathname, hash } = window.location;
      window.history.replaceState(window.history.state, '', pathname + getTaskQuery(spec) + hash);
    }, 200);
    return () => clearTimeout(timer);
  }, [spec]);
  useEffect(() => {
    const back = (): void => setSpec(readTaskSpec(window.location.search));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  return [spec, setSpec];
}
