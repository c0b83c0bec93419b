/** As the broker's default: the share of machines that may bring wrong results. */
const faultyShare = 0.2;

/** The credibility of a machine after this number of confirmations: written a second time, to check the broker. */
export function believeMachine(passes: number): number {
  return passes === 0 ? 1 - faultyShare : 1 - faultyShare / ((1 - faultyShare) * Math.E * passes);
}

/**
 * The credibility of a result with these votes, by counting out every world in which the votes for the right result
 * agree and all others are wrong: one for each result, and one in which all are wrong.
 */
export function believeResult(
  votes: readonly { readonly identity: string; readonly digest: string }[],
  taken: string,
  getCredibility: (identity: string) => number,
): number {
  const getWeight = (right: string | undefined): number =>
    votes.reduce(
      (weight, { identity, digest }) =>
        weight * (digest === right ? getCredibility(identity) : 1 - getCredibility(identity)),
      1,
    );
  const results: readonly (string | undefined)[] = [...new Set(votes.map(({ digest }) => digest)), undefined];
  return getWeight(taken) / results.reduce((sum, right) => sum + getWeight(right), 0);
}
