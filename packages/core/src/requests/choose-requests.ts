import type { RequestCandidate } from '../messages/index.ts';
import { describeTime, plural, type Instant, type ProcessorCount } from '../shared/index.ts';
import type { DraftedRequest, HeuristicOptions } from './heuristic.ts';
import { describeThroughput, throughputAfterSwap, getThroughput, type Candidate } from './throughput.ts';

/** A candidate that is to be asked for. */
export interface Choice {
  readonly candidate: Candidate;
  /** Why this one; a sentence. */
  readonly reason: string;
}

/** An exchange, and the throughput of all chosen before and after it. */
interface Swap {
  readonly former: Candidate;
  readonly before: number;
  readonly after: number;
}

/** Candidates that are kept with a decision, the chosen ones included. */
const shownMax = 12;

/** What requests are chosen by. */
interface ChoiceRules {
  readonly now: Instant;
  readonly exchange: HeuristicOptions['exchange'];
}

/**
 * Chooses `count` of the candidates: the first ones, then each further one replaces a chosen one where that raises the
 * throughput of the set.
 * Cost: O(candidates x count^2).
 *
 * @source costa2005, Alg. 3.3, its two loops.
 * Departs from the source, as settled: no candidate is taken twice, which its inner loop would do. The source leaves
 * open which chosen
 * request a candidate replaces when several exchanges raise the throughput: the option `exchange` says which.
 */
export function chooseRequests(
  candidates: readonly Candidate[],
  count: number,
  { now, exchange }: ChoiceRules,
): Choice[] {
  const chosen = candidates.slice(0, count);
  const swaps: (Swap | undefined)[] = chosen.map(() => undefined);
  let throughput = getThroughput(chosen, now);
  for (const candidate of candidates.slice(chosen.length)) {
    const found = findExchange(chosen, candidate, throughput, { now, exchange });
    if (found === undefined) continue;
    const { index, after } = found;
    swaps[index] = { former: chosen[index] as Candidate, before: throughput, after };
    chosen[index] = candidate;
    throughput = after;
  }
  return chosen.map((candidate, index) => {
    const swap = swaps[index];
    const reason =
      swap === undefined
        ? `It is number ${index + 1} of ${plural(candidates.length, 'candidate')}, and no exchange for it raised ` +
          'the throughput.'
        : `It took the place of ${describeCandidate(swap.former, now)}: the throughput of all chosen rose from ` +
          `${describeThroughput(swap.before)} to ${describeThroughput(swap.after)}.`;
    return { candidate, reason };
  });
}

/**
 * The exchange of a chosen request for a candidate that raises the throughput: of all such, the best or the first;
 * undefined where none does.
 */
function findExchange(
  chosen: readonly Candidate[],
  candidate: Candidate,
  throughput: number,
  { now, exchange }: ChoiceRules,
): { readonly index: number; readonly after: number } | undefined {
  let found: { readonly index: number; readonly after: number } | undefined;
  for (let index = 0; index < chosen.length; index += 1) {
    const after = throughputAfterSwap(chosen, index, candidate, now);
    if (after <= (found?.after ?? throughput)) continue;
    found = { index, after };
    if (exchange === 'first') break;
  }
  return found;
}

/**
 * Narrows the chosen requests to what the pending tasks need, at least one task each, and drafts them.
 *
 * @source costa2005, Alg. 3.3, its end:  fr = |T^p| / sum p_m; if fr < 1, p_m = ceil(fr p_m)
 * Departs from the source: p counts the tasks that run at once, so that a request holds whole tasks.
 */
export function scaleRequests(
  choices: readonly Choice[],
  pendingTasks: number,
  perTask: ProcessorCount,
  now: Instant,
): DraftedRequest[] {
  const lanesSum = choices.reduce((sum, { candidate }) => sum + candidate.lanes, 0);
  return choices.map(({ candidate, reason }) => {
    const { lanes, walltime } = candidate;
    const scaled = pendingTasks < lanesSum ? Math.ceil((pendingTasks * lanes) / lanesSum) : lanes;
    const narrowed =
      scaled === lanes
        ? []
        : [
            `Narrowed from ${lanes * perTask} to ${plural(scaled * perTask, 'processor')}: ` +
              `${plural(pendingTasks, 'pending task')} for ${lanesSum} that all chosen could run at once.`,
          ];
    return {
      width: scaled * perTask,
      walltime,
      reasons: [`Chosen: ${describeCandidate(candidate, now)}.`, reason, ...narrowed],
    };
  });
}

/** A choice and what is asked for on account of it. */
interface DraftedChoice {
  readonly choice: Choice;
  readonly draft: DraftedRequest;
}

/**
 * Of choices and their drafts those that start earliest, as many as have the processors; the narrowing rounds up, and a
 * slot for each rest is a request for nothing.
 */
export function keepEarliest(
  choices: readonly Choice[],
  drafts: readonly DraftedRequest[],
  processors: ProcessorCount,
): DraftedChoice[] {
  const pairs = choices.map((choice, index) => ({ choice, draft: drafts[index] as DraftedRequest }));
  let rest = processors;
  return pairs
    .sort((one, other) => one.choice.candidate.startsAt - other.choice.candidate.startsAt)
    .filter(({ draft }) => {
      const isNeeded = rest > 0;
      rest -= draft.width;
      return isNeeded;
    });
}

/** A candidate for people: `8 processors for 1 h 0 min, which fill a hole now (V = 8 tasks/h)`. */
function describeCandidate(candidate: Candidate, now: Instant): string {
  const { width, walltime, startsAt, origin } = candidate;
  const when = startsAt === now ? 'now' : `in ${describeTime(startsAt - now)}`;
  const where = origin === 'hole' ? `filling a hole ${when}` : `behind the end of the queue ${when}`;
  return (
    `${plural(width, 'processor')} for ${describeTime(walltime)}, ${where} ` +
    `(${describeThroughput(getThroughput([candidate], now))})`
  );
}

/** The chosen candidates, then the best of the others, as they are shown. Cost: O(candidates). */
export function showCandidates(
  candidates: readonly Candidate[],
  choices: readonly Choice[],
  now: Instant,
): RequestCandidate[] {
  const chosen = new Set(choices.map(({ candidate }) => candidate));
  const room = Math.max(0, shownMax - chosen.size);
  const others: RequestCandidate[] = [];
  for (const candidate of candidates) {
    if (chosen.has(candidate)) continue;
    const throughput = perHour(candidate, now);
    if (others.length >= room && throughput <= (others[room - 1]?.throughput ?? Infinity)) continue;
    const worse = others.findIndex((other) => other.throughput < throughput);
    others.splice(worse < 0 ? others.length : worse, 0, show(candidate, throughput, false));
    others.length = Math.min(others.length, room);
  }
  return [...[...chosen].map((candidate) => show(candidate, perHour(candidate, now), true)), ...others];
}

function show({ width, walltime, startsAt }: Candidate, throughput: number, chosen: boolean): RequestCandidate {
  return { width, walltime, startsAt, throughput, chosen };
}

function perHour(candidate: Candidate, now: Instant): number {
  return (candidate.tasks / (candidate.startsAt + candidate.walltime - now)) * 3_600_000;
}
