import type { Reason } from './reasons.ts';

/** A reason as a journal has it: early ones hold a sentence. */
export function readSavedReason(saved: Reason | string): Reason {
  return typeof saved === 'string' ? { code: 'unknown-reason', reasonCode: '', words: saved } : saved;
}

/** Reasons as a journal has them. */
export function readSavedReasons(saved: readonly (Reason | string)[]): readonly Reason[] {
  return saved.some((reason) => typeof reason === 'string') ? saved.map(readSavedReason) : (saved as readonly Reason[]);
}
