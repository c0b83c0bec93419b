/** A preload for a broker: a disk at home that takes 1.5 s for each output. */
export const slowHome = new URL('./slow-home.ts', import.meta.url);

/**
 * A preload for a provider: what it writes on a stream goes out 10 ms apart, and an output that it keeps for a broker
 * takes 1 s longer.
 */
export const slowProvider = new URL('./slow-provider.ts', import.meta.url);
