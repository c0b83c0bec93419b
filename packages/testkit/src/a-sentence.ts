import type { Reason } from '@mutirao/api/common';

/** A reason as the wire has it, of which only the sentence matters. */
export function aSentence(text: string): Reason {
  return { code: '', parameters: {}, text };
}
