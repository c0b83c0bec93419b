import { useCallback, useEffect, useState } from 'react';

/** The clock, ticking every so often while somebody looks. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** The text for the place under the pointer or the cursor of a picture. */
export interface Tip {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** A tip that is only set again when it says something else. */
export function useTip(): readonly [Tip | undefined, (tip: Tip | undefined) => void] {
  const [tip, setTip] = useState<Tip>();
  const change = useCallback(
    (next: Tip | undefined) =>
      setTip((old) => (old?.text === next?.text && old?.x === next?.x && old?.y === next?.y ? old : next)),
    [],
  );
  return [tip, change];
}
