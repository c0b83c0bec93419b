import type { ResourceLimits } from '../messages/index.ts';
import type { Duration, ProcessorCount } from '../shared/index.ts';
import type { DraftedRequest, RequestDecision, RequestFacts, RequestHeuristic } from './heuristic.ts';
import { optionsOf } from './options.ts';

/**
 * Asks for the longest walltime in every free request slot, and spreads the pending tasks evenly over these requests.
 *
 * @source costa2005, Alg. 3.1:  p = min(maxP, ceil(|T^p| / (maxPR - |M^p|))), t_r = maxT_r, for each of maxPR - |M^p| slots
 * Symbols: maxPR = `limits.requestsMax`, maxP = `limits.widthMax`, maxT_r = `limits.walltimeMax`, |M^p| = `pending.length`,
 * |T^p| = `demand.pendingTasks`.
 * Departs from the source: |M^p| and p are fixed before the loop, as settled in the digest of the seeds. Where a task needs
 * several processors |T^p| is counted in processors, and p is a whole number of tasks' worth. The walltime is rounded down to
 * the resource's granularity. An option asks for maxP always, as the users of OurGrid did.
 */
export const staticHeuristic: RequestHeuristic = { name: 'static', draft: draftStatic };

function draftStatic(facts: RequestFacts): RequestDecision {
  const { limits, demand, pending } = facts;
  const freeSlots = limits.requestsMax - pending.length;
  const refusal = findRefusal(facts, freeSlots);
  if (refusal !== undefined) return { drafts: [], reasons: [refusal] };
  const wanted = demand.pendingTasks * demand.processors;
  const isShared = optionsOf(facts).staticWidth === 'share';
  const width = chooseWidth(isShared ? wanted : Infinity, freeSlots, demand.processors, limits.widthMax);
  const walltime = longestWalltime(limits);
  const reasons = [
    isShared
      ? `${plural(demand.pendingTasks, 'pending task')} of ${plural(demand.processors, 'processor')} over ${plural(freeSlots, 'free request slot')} `
        + `(${limits.requestsMax} allowed, ${pending.length} pending) make ${plural(width, 'processor')} each; the resource gives at most ${limits.widthMax}.`
      : `Each request asks for the most that the resource gives, ${plural(width, 'processor')}, as it was told to.`,
    `The walltime is the longest that the resource gives, ${walltime} ms: the static heuristic does not estimate task times.`,
  ];
  const drafts = Array.from({ length: freeSlots }, (): DraftedRequest => ({ width, walltime, reasons }));
  return { drafts, reasons };
}

function findRefusal({ limits, demand, pending }: RequestFacts, freeSlots: number): string | undefined {
  if (demand.pendingTasks === 0) return 'No task is pending.';
  if (freeSlots <= 0) return `Every request slot is taken: ${limits.requestsMax} allowed, ${pending.length} pending.`;
  if (demand.processors > limits.widthMax) {
    return `A task needs ${plural(demand.processors, 'processor')} and the resource gives at most ${limits.widthMax} to one request.`;
  }
  if (longestWalltime(limits) === 0) {
    return `The longest walltime, ${limits.walltimeMax} ms, is below the resource's granularity of ${limits.walltimeGranularity} ms.`;
  }
  return undefined;
}

function chooseWidth(wanted: ProcessorCount, freeSlots: number, perTask: ProcessorCount, widthMax: ProcessorCount): ProcessorCount {
  const share = Math.ceil(wanted / freeSlots);
  const wholeTasks = Math.ceil(share / perTask) * perTask;
  return wholeTasks <= widthMax ? wholeTasks : Math.floor(widthMax / perTask) * perTask;
}

function longestWalltime(limits: ResourceLimits): Duration {
  return Math.floor(limits.walltimeMax / limits.walltimeGranularity) * limits.walltimeGranularity;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
