import type { MachineReport, ReplicaEnd } from '../../messages/index.ts';
import type { Instant, ReplicaId } from '../../shared/index.ts';
import { countBytes } from './end-replica.ts';
import type { AgentState, HeldReplica } from './state.ts';
import type { Turn } from './turn.ts';
import { releaseSureEnds } from './unsure-ends.ts';

/** Limits of ends and bytes in one report, so that a message stays small. */
const reportEndsMax = 1024;
const reportBytesMax = 1024 * 1024;

/** This many ends are reported at once, even shortly after another report. */
const reportEndsEnough = 128;

/**
 * Sends what happened since the last report, if a provider is attached.
 *
 * Each report costs every process on its way as much as many ends do. So ends of short tasks are gathered for some
 * time, but only while the processors have enough queued work: an idle processor is reported at once.
 */
export function sendReports(turn: Turn): void {
  const { state, now } = turn;
  releaseSureEnds(turn);
  if (!state.isAttached || mayWait(state, now)) return;
  let started = takeDueStarts(state, now);
  let gangMemberReady = state.unreportedHolds;
  state.unreportedHolds = [];
  let from = 0;
  while (from < state.unreportedEnds.length || started.length > 0 || gangMemberReady.length > 0) {
    const until = findReportEnd(state.unreportedEnds, from);
    const ended = state.unreportedEnds.slice(from, until);
    const report: MachineReport = {
      sequence: state.nextSequence++,
      started,
      ended,
      ...(gangMemberReady.length === 0 ? {} : { gangMemberReady }),
    };
    state.reportedAt = now;
    state.reports.push(report);
    turn.commands.push({ kind: 'SendReport', report });
    from = until;
    started = [];
    gangMemberReady = [];
  }
  if (from > 0) state.unreportedEnds = [];
}

/** Sends unacknowledged reports again, because a new provider may not have received them. */
export function resendReports(turn: Turn): void {
  for (const report of turn.state.reports) turn.commands.push({ kind: 'SendReport', report });
}

/** Forgets reports that are safe at the broker. */
export function acknowledge(state: AgentState, sequence: number): void {
  let count = 0;
  for (const report of state.reports) {
    if (report.sequence > sequence) break;
    count++;
    for (const end of report.ended) {
      state.endedIds.delete(end.replicaId);
      state.endedBytes -= countBytes(end);
    }
  }
  if (count > 0) state.reports.splice(0, count);
}

/** When the next report is due by the clock; Infinity when none is. */
export function nextReportDue(state: AgentState): Instant {
  if (!state.isAttached) return Infinity;
  dropEnded(state.unreportedStarts);
  const [first] = state.unreportedStarts;
  const startDue = first === undefined ? Infinity : first.startedAt + state.options.startedDelay;
  const due = state.unreportedEnds.length > 0 ? state.reportedAt + state.options.reportInterval : startDue;
  return Math.min(due, state.earliestSure);
}

function mayWait(state: AgentState, now: Instant): boolean {
  const { options, unreportedEnds, queue, reportedAt } = state;
  if (
    state.unreportedHolds.length > 0 ||
    unreportedEnds.length === 0 ||
    unreportedEnds.length >= reportEndsEnough ||
    now >= reportedAt + options.reportInterval
  )
    return false;
  // At least as much must wait as has ended: the broker fills the queue again when it is half empty, not when it is.
  return queue.length > Math.max(options.processors, unreportedEnds.length);
}

function takeDueStarts(state: AgentState, now: Instant): { replicaId: ReplicaId; startedAt: Instant }[] {
  const { unreportedStarts, options } = state;
  const started: { replicaId: ReplicaId; startedAt: Instant }[] = [];
  let count = 0;
  for (const replica of unreportedStarts) {
    if (replica.startedAt + options.startedDelay > now) break;
    count++;
    if (replica.status === 'running' && replica.result === undefined)
      started.push({ replicaId: replica.start.replicaId, startedAt: replica.startedAt });
  }
  if (count > 0) unreportedStarts.splice(0, count);
  return started;
}

/** Keeps the list from growing while short tasks come and go between two timers. */
function dropEnded(unreportedStarts: HeldReplica[]): void {
  let count = 0;
  for (const replica of unreportedStarts) {
    if (replica.result === undefined) break;
    count++;
  }
  if (count > 0) unreportedStarts.splice(0, count);
}

function findReportEnd(ends: readonly ReplicaEnd[], from: number): number {
  let bytes = 0;
  let index = from;
  while (index < ends.length && index - from < reportEndsMax && bytes < reportBytesMax) {
    const end = ends[index++];
    if (end !== undefined) bytes += countBytes(end);
  }
  return index;
}
