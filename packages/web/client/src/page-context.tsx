import { createContext, useCallback, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import type { RouteName, RouteReply } from '../../src/schema/index.ts';
import { getProblem, type Asked, type Gateway } from './gateway/gateway.ts';
import type { LiveStore } from './gateway/live-store.ts';
import type { LiveState } from './model/live-state.ts';
import type { Place } from './model/place.ts';
import type { Subject } from './model/subject.ts';

/** What all parts of the page use. */
export interface Page {
  readonly gateway: Gateway;
  readonly live: LiveStore;
  readonly place: Place;
  readonly go: (place: Place) => void;
  /** Opens the drawer that explains. */
  readonly explain: (subject: Subject) => void;
  /** Says something at the foot of the page for some seconds. */
  readonly say: (text: string, isProblem?: boolean) => void;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error('a part of the page outside of it');
  return page;
}

/** A part of the live state; renders again only where that part is another one. */
export function useLive<T>(select: (state: LiveState) => T): T {
  const { live } = usePage();
  return useSyncExternalStore(live.subscribe, () => select(live.get()));
}

/** What a call has brought so far. */
export interface Answer<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly isLoading: boolean;
  readonly again: () => void;
}

/**
 * Calls the gateway for a part of the page, again when what is asked changes, and every so often where `everyMs` says
 * so; the old answer stays until the new one is there.
 *
 * @param asked undefined asks nothing.
 */
export function useAnswer<N extends RouteName>(
  name: N,
  asked: Asked<N> | undefined,
  everyMs = 0,
): Answer<RouteReply<N>> {
  const { gateway } = usePage();
  const key = asked === undefined ? '' : name + JSON.stringify([asked.params, asked.query, asked.body]);
  const [round, setRound] = useState(0);
  const [answer, setAnswer] = useState<{
    readonly key: string;
    readonly value: RouteReply<N> | undefined;
    readonly error: string | undefined;
  }>();
  useEffect(() => {
    if (asked === undefined) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    gateway
      .call(name, { ...asked, signal: abort.signal })
      .then(
        (value) => setAnswer({ key, value, error: undefined }),
        (error: unknown) => {
          if (!abort.signal.aborted)
            setAnswer((old) => ({
              key,
              value: old?.key === key ? old.value : undefined,
              error: getProblem(error).message,
            }));
        },
      )
      .finally(() => {
        // From the answer on: an answer that takes longer than that would else be broken off each time, and never come.
        if (everyMs > 0 && !abort.signal.aborted)
          timer = setTimeout(() => whenVisible(abort.signal, () => setRound((old) => old + 1)), everyMs);
      });
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
    // What is asked is compared by what it says, not by the object that says it.
  }, [key, round, everyMs, gateway]);
  const again = useCallback(() => setRound((old) => old + 1), []);
  const isCurrent = answer !== undefined && answer.key === key;
  return {
    value: isCurrent ? answer.value : undefined,
    error: isCurrent ? answer.error : undefined,
    isLoading: asked !== undefined && !isCurrent,
    again,
  };
}

/** Puts a value where `useDraft` finds it when the form is opened. */
export function writeDraft(name: string, value: unknown): void {
  sessionStorage.setItem(`mutirao.draft.${name}`, JSON.stringify(value));
}

/** A value that is kept for this tab: what somebody typed survives a reload and a gateway that goes away. */
export function useDraft<T>(name: string, initial: T): [T, (value: T | ((old: T) => T)) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      const kept = sessionStorage.getItem(`mutirao.draft.${name}`);
      return kept === null ? initial : (JSON.parse(kept) as T);
    } catch {
      return initial;
    }
  });
  useEffect(() => {
    try {
      sessionStorage.setItem(`mutirao.draft.${name}`, JSON.stringify(value));
    } catch {
      // More than a tab may keep: then it lives as long as the page.
    }
  }, [name, value]);
  return [value, setValue];
}

/** Runs something now, or as soon as the tab is seen again: a hidden one asks nothing. */
function whenVisible(signal: AbortSignal, run: () => void): void {
  const look = (): void => {
    if (document.hidden) return;
    document.removeEventListener('visibilitychange', look);
    run();
  };
  document.addEventListener('visibilitychange', look, { signal });
  if (!signal.aborted) look();
}
