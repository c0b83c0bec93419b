import { conservativeBackfilling, replayRequests, type TracedRequest } from '@mutirao/core/queue';
import { studyTraces, type StudyLog, type StudySettings } from './scenarios.ts';
import { eventOrders, simulateAgain, type EventOrder } from './second-simulator.ts';

/** A part of the study that replays one log in two simulators and counts the requests that start at other times. */
export interface StartsChunk {
  /** Of letters, digits and `-`. */
  readonly id: string;
  readonly trace: StudyLog;
  readonly compression: 'start-now' | 'reinsert';
  /** Only the first `requestsMax` requests of the log are replayed; left out, all are. */
  readonly requestsMax?: number;
}

/** What came of it. */
export interface StartsResult {
  readonly seed: string;
  /** Requests that were replayed. */
  readonly requestCount: number;
  /** Requests that start at another time in the second simulator, by the order of events that it keeps. */
  readonly differing: Readonly<Record<EventOrder, number>>;
}

/** The chunk and its result. */
export interface StartsPart {
  readonly chunk: StartsChunk;
  readonly result: StartsResult;
}

const lanl: StudyLog = { id: 'lanl', title: 'LANL CM5', file: 'swf/LANL-CM5-1994-4.1-cln.swf.gz', processors: 1024 };

/** What the two simulators are compared on. @source costa2005, section 4.8. */
export function listStarts({ isQuick }: StudySettings): StartsChunk[] {
  const find = (id: string): StudyLog[] => studyTraces.filter((trace) => trace.id === id);
  const logs = [...find('sp2'), ...find('ctc'), lanl, ...find('bluehorizon')];
  return logs.flatMap((trace) =>
    (['start-now', 'reinsert'] as const).map((compression) => ({
      id: `${trace.id}-starts-${compression}`,
      trace,
      compression,
      ...(isQuick ? { requestsMax: 20_000 } : {}),
    })),
  );
}

/** The cost of the comparison relative to chunks of grid jobs, in the time of one task. */
export function costOfStarts({ trace, compression, requestsMax }: StartsChunk): number {
  const whole = trace.id === 'lanl' || trace.id === 'bluehorizon' ? 30_000_000 : 3_000_000;
  return (requestsMax === undefined ? whole : whole / 8) * (compression === 'reinsert' ? 1 : 0.4);
}

/** Compares the starts of a log's requests. @param requests sorted by submission; each fits the machine. */
export function compareStarts(
  { trace: { processors }, compression, requestsMax = Infinity }: StartsChunk,
  requests: readonly TracedRequest[],
): Omit<StartsResult, 'seed'> {
  const taken = requests.slice(0, requestsMax);
  const ours = replayRequests(conservativeBackfilling(compression), processors, taken);
  const differing = eventOrders.map((order) => {
    const starts = simulateAgain(taken, { processors, compression, order });
    return [order, ours.filter(({ startedAt }, index) => startedAt !== starts[index]).length];
  });
  return { requestCount: taken.length, differing: Object.fromEntries(differing) as StartsResult['differing'] };
}

/** Writes a result as JSON lines: what it is, then a line for each order of events. */
export function encodeStarts({ id }: StartsChunk, { seed, requestCount, differing }: StartsResult): string {
  const head = { study: 'costa2005', version: 1, chunk: id, seed, request_count: requestCount };
  const lines = eventOrders.map((order) => ({ order, different_count: differing[order] }));
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Reads a result; undefined where it is not all there, or is that of another chunk or seed. */
export function decodeStarts(text: string, chunk: StartsChunk, seed: string): StartsResult | undefined {
  try {
    const [head, ...lines] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const requestCount = Number(head?.['request_count']);
    const counts = eventOrders.map((order, index) =>
      lines[index]?.['order'] === order ? Number(lines[index]['different_count']) : NaN,
    );
    if (![requestCount, ...counts].every(Number.isInteger)) return undefined;
    const differing = Object.fromEntries(
      eventOrders.map((order, index) => [order, counts[index]]),
    ) as StartsResult['differing'];
    const result = { seed, requestCount, differing };
    return encodeStarts(chunk, result) === text ? result : undefined;
  } catch {
    return undefined; // Cut short in the middle of a line.
  }
}
