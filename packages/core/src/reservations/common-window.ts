import type { Duration, Instant } from '../shared/index.ts';

/** A stretch of time, the same for all of several resources. */
export interface CommonWindow {
  readonly start: Instant;
  readonly end: Instant;
}

/** The answer of one of them when a window was requested of it. */
export type WindowAnswer =
  | { readonly kind: 'placed' }
  /** It has room from then on, and not before. */
  | { readonly kind: 'later'; readonly start: Instant }
  | { readonly kind: 'never' };

/** What to do next. */
export type WindowChoice =
  /** All have it. */
  | { readonly kind: 'found'; readonly window: CommonWindow }
  | { readonly kind: 'again'; readonly window: CommonWindow }
  /** `by` names the one that has no room at all; undefined where there is room only beyond the latest end. */
  | { readonly kind: 'none'; readonly by: number | undefined };

/**
 * Chooses the next window that may do for all: it begins when the last of them has room.
 *
 * Each that has no room says from when on it has; there can be no common window before the latest of these. So the
 * windows that are asked for grow
 * later, none that would do is passed over, and the first one that all have is the earliest.
 */
export function chooseWindow(
  asked: CommonWindow,
  answers: readonly WindowAnswer[],
  latestEnd: Instant | undefined,
): WindowChoice {
  const duration: Duration = asked.end - asked.start;
  let start = asked.start;
  for (const [by, answer] of answers.entries()) {
    // One that has no room now and names no later start would be asked for ever.
    if (answer.kind === 'never' || (answer.kind === 'later' && answer.start <= asked.start))
      return { kind: 'none', by };
    if (answer.kind === 'later') start = Math.max(start, answer.start);
  }
  if (start === asked.start) return { kind: 'found', window: asked };
  const window = { start, end: start + duration };
  return latestEnd !== undefined && window.end > latestEnd
    ? { kind: 'none', by: undefined }
    : { kind: 'again', window };
}
