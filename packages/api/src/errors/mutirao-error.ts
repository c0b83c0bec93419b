import type { Reason, Refusal } from '@mutirao/core/reasons';

import { sayReason } from '../reasons/say-reason.ts';
import { isErrorCode, registry, type ErrorCode } from './registry.ts';

/** Optional parts of an error, in addition to its message. */
export interface MutiraoErrorOptions extends ErrorOptions {
  /** The field of the request that is wrong, as a path: `job.groups[0].command`. */
  readonly field?: string;
  /** Why, as a code with parameters; the message is its sentence. */
  readonly reason?: Reason;
}

/** An operating error: expected in a running system, and reported to those affected by a stable code. */
export class MutiraoError extends Error {
  override readonly name = 'MutiraoError';
  readonly code: ErrorCode;
  /** The field of the request that is wrong; undefined where no single one is. */
  readonly field: string | undefined;
  /** Why, for programs; undefined where only the message says it. */
  readonly reason: Reason | undefined;

  /** @param message says the value found and the value wanted. */
  constructor(code: ErrorCode, message: string, options?: MutiraoErrorOptions) {
    super(message, options);
    this.code = code;
    this.field = options?.field;
    this.reason = options?.reason;
  }

  /** What the reader can do about it, from the registry. */
  get advice(): string {
    return registry[this.code].advice;
  }

  /** Whether the same call may go through later. */
  get retryable(): boolean {
    return registry[this.code].retryable;
  }
}

/** The error of something that is refused. @param before what stands before its sentence, such as the option that is meant */
export function errorOfRefusal({ code, fault }: Refusal, before = ''): MutiraoError {
  const known = isErrorCode(code) ? code : 'MUT_INTERNAL';
  return new MutiraoError(known, `${before}${sayReason(fault)}`, { reason: fault });
}

/**
 * The error of a code that came as text, from a machine's reply or from a peer. A code that is not in the registry
 * gives MUT_INTERNAL.
 */
export function errorOfCode(code: string, message: string): MutiraoError {
  return isErrorCode(code)
    ? new MutiraoError(code, message)
    : new MutiraoError('MUT_INTERNAL', `${message} (unknown code ${code})`);
}
