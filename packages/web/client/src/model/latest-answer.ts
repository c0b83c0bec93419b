/** The answer to a question, where it is known which one it answers. */
export interface Answered<T> {
  readonly to: unknown;
  readonly answer: T;
}

/** The answer to what is asked now: the one that is there where it is that, else a new one. */
export function answerNow<T>(asked: unknown, last: Answered<T> | undefined, ask: () => Promise<T>): Promise<T> {
  return last !== undefined && last.to === asked ? Promise.resolve(last.answer) : ask();
}
