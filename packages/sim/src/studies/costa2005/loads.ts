import type { TraceResults } from './compare.ts';

/**
 * The offered load of a trace with the whole time axis of its log multiplied by its factor; that of the log for the
 * factor 1.
 *
 * @param traces hold the same log with the factor 1, else undefined is returned.
 * @source costa2005, Eq. 4.2. Departs from the source: no; which times of a log are multiplied is not said there.
 */
export function plainLoad({ trace }: TraceResults, traces: readonly TraceResults[]): number | undefined {
  const asLogged = traces.find((other) => other.trace.file === trace.file && other.trace.loadFactor === 1)?.parts[0];
  return asLogged === undefined ? undefined : asLogged.result.facts.offeredLoad / trace.loadFactor;
}
