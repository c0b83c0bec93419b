import { MutiraoError } from '@mutirao/api/errors';

/** What became of a list of things that a user named. */
export interface EachDone<Result> {
  readonly done: readonly Result[];
  /** The first failure, with the messages of all; undefined where everything went well. */
  readonly failure: MutiraoError | undefined;
}

/**
 * Does the same with each of several things, also after one of them failed, so that one wrong name does not leave the
 * others undone.
 *
 * @throws what `act` throws where nothing more can be expected to work, such as a server that is out of reach.
 */
export async function actOnAll<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<EachDone<Result>> {
  const done: Result[] = [];
  const failures: MutiraoError[] = [];
  for (const item of items) {
    try {
      done.push(await act(item));
    } catch (error) {
      if (!(error instanceof MutiraoError) || error.retryable) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  const failure =
    first === undefined || failures.length === 1
      ? first
      : new MutiraoError(first.code, failures.map(({ message }) => message).join('; '), { cause: first });
  return { done, failure };
}
