import { MutiraoError } from '@mutirao/api/errors';

/** What may be known of the command line that is meant. */
export interface Remedy {
  /** Makes it of the words that were given, all of them. */
  readonly rewrite?: (words: readonly string[]) => readonly string[];
  /** Further remarks for the user, a sentence each. */
  readonly notes?: readonly string[];
}

/** A command line that was read and cannot be meant, with the one that can. */
export class UsageError extends MutiraoError {
  readonly remedy: Remedy;

  /** @param message says the value found and the value expected. */
  constructor(message: string, remedy: Remedy) {
    super('MUT_BAD_REQUEST', message);
    this.remedy = remedy;
  }
}
