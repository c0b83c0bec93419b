import { isErrorCode, MutiraoError, registry, type ErrorCode, type StatusName } from '@mutirao/api/errors';
import { encodeReason, reasonDocument } from '@mutirao/api/reasons';
import { FormatError } from '@mutirao/formats';

import type { Problem } from '../schema/index.ts';

/** The HTTP status for each status of the error registry. */
const httpStatuses: Readonly<Record<StatusName, number>> = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  UNAUTHENTICATED: 401,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 409,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  ABORTED: 409,
  CANCELLED: 503,
  DATA_LOSS: 500,
  OUT_OF_RANGE: 416,
};

/** A failure whose advice is more exact than that of its code. */
export class AdvisedError extends MutiraoError {
  readonly #advice: string;

  constructor(code: ErrorCode, message: string, advice: string) {
    super(code, message);
    this.#advice = advice;
  }

  override get advice(): string {
    return this.#advice;
  }
}

/** The answer to a call that failed; an internal error shows only its code. */
export function getProblem(error: unknown): { readonly status: number; readonly problem: Problem } {
  if (error instanceof FormatError) return ofFormat(error);
  if (error instanceof MutiraoError) return withReason(answer(error.code, error.message, error.advice), error);
  const tooLarge = (error as { code?: unknown } | null)?.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
  if (tooLarge) return answer('MUT_CONTENT_TOO_LARGE', 'the request is larger than the session says');
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return answer('MUT_BAD_REQUEST', error instanceof Error ? error.message : 'the request cannot be read');
  return answer('MUT_INTERNAL', 'the gateway failed; its log has more');
}

/** Whether it is a bug in Mutirao. */
export function isBug(error: unknown): boolean {
  return getProblem(error).problem.code === 'MUT_INTERNAL';
}

type Answer = ReturnType<typeof getProblem>;

function withReason({ status, problem }: Answer, { reason }: MutiraoError): Answer {
  return reason === undefined
    ? { status, problem }
    : { status, problem: { ...problem, reason: reasonDocument(encodeReason(reason)) } };
}

function ofFormat({ code, message, further, problem: { line, column } }: FormatError): {
  readonly status: number;
  readonly problem: Problem;
} {
  const { status, problem } = answer(
    isErrorCode(code) ? code : 'MUT_BAD_REQUEST',
    further.length === 0 ? message : `${message}; and ${further.length} more`,
  );
  return { status, problem: { ...problem, ...(line > 0 ? { line, column } : {}) } };
}

function answer(
  code: ErrorCode,
  message: string,
  advice = registry[code].advice,
): { readonly status: number; readonly problem: Problem } {
  const { status, retryable } = registry[code];
  return {
    status: code === 'MUT_CONTENT_TOO_LARGE' ? 413 : httpStatuses[status],
    problem: { code, message, advice, retryable },
  };
}
