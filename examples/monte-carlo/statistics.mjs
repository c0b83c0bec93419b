// The confidence interval of a mean, from independent samples of it.

/** Student's t for 95 % on both sides, for 1 to 30 degrees of freedom. */
const quantiles = [
  12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281, 2.201, 2.1788, 2.1604, 2.1448, 2.1314,
  2.1199, 2.1098, 2.1009, 2.093, 2.086, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
];

/** Student's t for a two-sided interval of 95 %; beyond the table by the expansion around the normal quantile. */
export function studentQuantile(degrees) {
  if (!Number.isInteger(degrees) || degrees < 1)
    throw new Error(`${degrees} degrees of freedom; expected an integer from 1 on`);
  const tabled = quantiles[degrees - 1];
  if (tabled !== undefined) return tabled;
  const z = 1.959963985;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}

/** Mean and half the width of its 95 % interval, from the means of batches of one size. */
export function estimate(means) {
  if (means.length < 2) throw new Error(`${means.length} results; expected two or more for an interval`);
  const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
  const variance = means.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (means.length - 1);
  return { mean, halfWidth: studentQuantile(means.length - 1) * Math.sqrt(variance / means.length) };
}

/** The estimate of a bag's results. Throws when they are of different kinds, or a seed comes twice. */
export function combine(results) {
  const [first] = results;
  const seeds = new Set(results.map(({ seed }) => seed));
  if (seeds.size !== results.length) throw new Error('two results have the same seed: they are no independent samples');
  if (results.some(({ name, count }) => name !== first.name || count !== first.count))
    throw new Error('the results are of different runs');
  return {
    name: first?.name,
    sampleCount: results.length * (first?.count ?? 0),
    ...estimate(results.map(({ sum, count }) => sum / count)),
  };
}
