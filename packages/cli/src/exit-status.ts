import { registry, type ErrorEntry, type MutiraoError } from '@mutirao/api/errors';

/**
 * What the command ends with: 0 all went well, 1 tasks failed, 2 usage or bad input, 3 out of reach, 4 cancelled, 70 a
 * bug in Mutirao.
 */
export type ExitStatus = 0 | 1 | 2 | 3 | 4 | 70;

/** The exit status for an operating error. */
export function getExitStatus(error: MutiraoError): ExitStatus {
  switch (registry[error.code].status as ErrorEntry['status']) {
    case 'CANCELLED':
      return 4;
    case 'INTERNAL':
    case 'UNIMPLEMENTED':
      return 70;
    case 'INVALID_ARGUMENT':
    case 'NOT_FOUND':
    case 'ALREADY_EXISTS':
    case 'PERMISSION_DENIED':
    case 'FAILED_PRECONDITION':
      return 2;
    default:
      return 3;
  }
}
