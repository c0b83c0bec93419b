import type { Instant } from '../../shared/index.ts';
import type { AgentState, HeldReplica, Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/** Sets when a running replica is asked to end or killed. */
export function setDeadline(state: AgentState, replica: HeldReplica, deadline: Instant): void {
  replica.deadline = deadline;
  state.earliestDeadline = Math.min(state.earliestDeadline, deadline);
}

/**
 * Makes a held replica end with `verdict`; the first verdict counts. A running one is asked to end, and killed after
 * the grace.
 */
export function condemn(turn: Turn, replica: HeldReplica, verdict: Verdict): void {
  if (replica.verdict !== undefined) return;
  replica.verdict = verdict;
  if (replica.status !== 'running') return;
  turn.commands.push({ kind: 'KillTask', replica, signal: 'SIGTERM' });
  setDeadline(turn.state, replica, turn.now + turn.state.options.killGrace);
}

/** Ends the run time of replicas that are due, and kills those that did not end when asked. */
export function enforceDeadlines(turn: Turn): void {
  const { state, now, commands } = turn;
  if (state.earliestDeadline > now) return;
  state.earliestDeadline = Infinity;
  for (const replica of state.replicas.values()) {
    if (replica.status !== 'running' || replica.deadline === undefined) continue;
    if (replica.deadline > now) {
      setDeadline(state, replica, replica.deadline);
    } else if (replica.verdict === undefined) {
      const { runTimeMax } = replica.template.limits;
      condemn(turn, replica, {
        outcome: 'limited',
        reason: 'MUT_RUN_TIME_MAX',
        detail: { code: 'run-time-exceeded', ranMs: now - replica.startedAt, runTimeMsMax: runTimeMax },
      });
    } else {
      commands.push({ kind: 'KillTask', replica, signal: 'SIGKILL' });
      setDeadline(state, replica, now + state.options.killGrace);
    }
  }
}
