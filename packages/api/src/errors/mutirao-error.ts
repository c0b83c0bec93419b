import { registry, type ErrorCode } from './registry.ts';

/** An operating error: expected in a running system, told to whom it concerns by a stable code. */
export class MutiraoError extends Error {
  override readonly name = 'MutiraoError';
  readonly code: ErrorCode;

  /** @param message says the value found and the value wanted. */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** What the reader can do about it, from the registry. */
  get advice(): string {
    return registry[this.code].advice;
  }
}
