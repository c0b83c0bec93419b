/** What was, what is, and what was undone. */
export interface History<T> {
  /** The oldest first. */
  readonly past: readonly T[];
  readonly present: T;
  /** The one that is redone next first. */
  readonly future: readonly T[];
  /** Of the last step; a step of the same gesture replaces it. Empty if none may be joined to it. */
  readonly gesture: string;
}

const stepsKept = 200;

export function beginHistory<T>(present: T): History<T> {
  return { past: [], present, future: [], gesture: '' };
}

/**
 * Takes a step; what was undone is forgotten. @param gesture steps of one gesture, letters typed into a field say, are
 * undone together; empty is a step of its own.
 */
export function takeStep<T>(history: History<T>, present: T, gesture = ''): History<T> {
  if (present === history.present) return history;
  const joins = gesture !== '' && gesture === history.gesture;
  return {
    past: joins ? history.past : [...history.past, history.present].slice(-stepsKept),
    present,
    future: [],
    gesture,
  };
}

export function undo<T>(history: History<T>): History<T> {
  const last = history.past.at(-1);
  if (last === undefined) return history;
  return { past: history.past.slice(0, -1), present: last, future: [history.present, ...history.future], gesture: '' };
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future, gesture: '' };
}
