import type { RequestCandidate } from '../messages/index.ts';
import type { Reason } from '../reasons/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { DraftedRequest, HeuristicOptions } from './heuristic.ts';
import { perHour, throughputAfterSwap, getThroughput, type Candidate } from './throughput.ts';

/** A candidate that was chosen for submission. */
export interface Choice {
  readonly candidate: Candidate;
  /** Why this one. */
  readonly reason: Reason;
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
    return {
      candidate,
      reason:
        swap === undefined
          ? { code: 'adaptive-kept', rank: index + 1, candidates: candidates.length }
          : {
              code: 'adaptive-exchanged',
              ...describeCandidate(swap.former, now),
              tasksPerHourBefore: perHour(swap.before),
              tasksPerHourAfter: perHour(swap.after),
            },
    };
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
    const narrowed: Reason = {
      code: 'adaptive-narrowed',
      processorsBefore: lanes * perTask,
      processors: scaled * perTask,
      pendingTasks,
      concurrentTasks: lanesSum,
    };
    return {
      width: scaled * perTask,
      walltime,
      reasons: [
        { code: 'adaptive-chosen', ...describeCandidate(candidate, now) },
        reason,
        ...(scaled === lanes ? [] : [narrowed]),
      ],
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

/** A candidate as parameters of a reason. */
interface DescribedCandidate {
  readonly processors: ProcessorCount;
  readonly walltimeMs: Duration;
  readonly startMs: Duration;
  readonly place: 'gap' | 'end';
  readonly tasksPerHour: number;
}

function describeCandidate(candidate: Candidate, now: Instant): DescribedCandidate {
  const { width, walltime, startsAt, origin } = candidate;
  return {
    processors: width,
    walltimeMs: walltime,
    startMs: startsAt - now,
    place: origin === 'hole' ? 'gap' : 'end',
    tasksPerHour: perHour(getThroughput([candidate], now)),
  };
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
    const throughput = tasksPerHour(candidate, now);
    if (others.length >= room && throughput <= (others[room - 1]?.throughput ?? Infinity)) continue;
    const worse = others.findIndex((other) => other.throughput < throughput);
    others.splice(worse < 0 ? others.length : worse, 0, show(candidate, throughput, false));
    others.length = Math.min(others.length, room);
  }
  return [...[...chosen].map((candidate) => show(candidate, tasksPerHour(candidate, now), true)), ...others];
}

function show({ width, walltime, startsAt }: Candidate, throughput: number, chosen: boolean): RequestCandidate {
  return { width, walltime, startsAt, throughput, chosen };
}

function tasksPerHour(candidate: Candidate, now: Instant): number {
  return (candidate.tasks / (candidate.startsAt + candidate.walltime - now)) * 3_600_000;
}
