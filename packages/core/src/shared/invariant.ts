/**
 * A bug in Mutirao: something that the code takes for granted did not hold. It is never caught; the process ends and
 * starts again.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Ends the process's work unless `condition` holds.
 *
 * @param message made only when it is needed where it is a function: checks of a whole state have thousands of them.
 * @throws {InvariantError} with `message`.
 */
export function invariant(condition: unknown, message: string | (() => string)): asserts condition {
  if (condition !== false && condition !== undefined && condition !== null) return;
  throw new InvariantError(typeof message === 'string' ? message : message());
}

/** Marks a branch that the types rule out. @throws {InvariantError} always. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}
