import type { MutiraoError } from '@mutirao/api/errors';
import { encodeReason, reasonDocument } from '@mutirao/api/reasons';

import type { JsonOf, shapes } from './shapes.ts';

/** An error as JSON. */
export function errorJson({
  code,
  message,
  advice,
  retryable,
  field,
  reason,
}: MutiraoError): JsonOf<typeof shapes.error> {
  return {
    code,
    message,
    advice,
    retryable,
    field: field ?? '',
    reason: reason === undefined ? null : reasonDocument(encodeReason(reason)),
  };
}
