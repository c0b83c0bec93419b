const nightSeed = process.env['MUTIRAO_NIGHT_SEED'];
const nightFactor = 20;

/**
 * How a property is run: with its own fixed seed in the tests; with a fresh one, and many more times, in scripts/night.
 */
export function runs(seed: number, numRuns: number): { seed: number; numRuns: number } {
  if (nightSeed === undefined) return { seed, numRuns };
  return { seed: (seed ^ Number(nightSeed)) | 0, numRuns: numRuns * nightFactor };
}
