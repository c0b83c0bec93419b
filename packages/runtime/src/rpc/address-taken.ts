import { MutiraoError } from '@mutirao/api/errors';

/** The error of a process whose address another one listens on. */
export function addressTaken(address: string, cause: unknown): MutiraoError {
  return new MutiraoError('MUT_ADDRESS_TAKEN', `cannot listen on ${address}: another process listens there`, { cause });
}
