import type { Reason } from '../../../reasons/index.ts';
import { groupVotes } from '../../../trust/index.ts';
import type { Explanation } from './explanation.ts';
import type { BrokerJob, BrokerState, OpenTask } from '../state.ts';
import { getCredibility } from '../trust/trust-records.ts';
import { getDecision, hasVotedOn, runsMissing, findVotes } from '../trust/votes.ts';

/** Machines that an explanation names. */
const namedMax = 5;

/** Says what votes a task has, and what it waits for. */
export function explainVotes(state: BrokerState, job: BrokerJob, task: OpenTask, past: readonly Reason[]): Explanation {
  return {
    summary: describeNext(state, job, task),
    details: [...describeVotes(state, task), ...describeMissing(state, job, task), ...past],
  };
}

function describeNext(state: BrokerState, job: BrokerJob, task: OpenTask): Reason {
  const about = { jobId: job.jobId, taskIndex: task.index, results: findVotes(task).length };
  if (task.accepting !== undefined) return { code: 'votes-decided', ...about, machineId: task.accepting.machineId };
  const decision = getDecision(state, job, task);
  if (decision.kind === 'deadlocked') return { code: 'votes-deadlocked', ...about };
  if (decision.kind === 'accepted') return { code: 'votes-decided', ...about };
  const { verification } = job;
  const rule =
    verification?.kind === 'credibility'
      ? ({ rule: 'credibility', threshold: verification.threshold } as const)
      : ({ rule: 'vote', threshold: verification?.kind === 'vote' ? verification.count : 0 } as const);
  return { code: 'votes-missing', ...about, votesMissing: decision.votesMissing, ...rule };
}

function describeVotes(state: BrokerState, task: OpenTask): Reason[] {
  const names = new Map(task.successes?.map(({ identity, machineId }) => [identity, machineId]));
  return groupVotes(findVotes(task)).map(({ digest, voters }) => ({
    code: 'vote-result',
    digest: digest.slice(0, 12),
    credibilityByMachine: voters
      .slice(0, namedMax)
      .map((voter) => `${names.get(voter) ?? voter}=${Math.floor(getCredibility(state, voter) * 1000) / 1000}`),
    furtherMachines: Math.max(0, voters.length - namedMax),
  }));
}

function describeMissing(state: BrokerState, job: BrokerJob, task: OpenTask): Reason[] {
  const machineIds = task.replicas.map(({ machine }) => machine.facts.machineId);
  const running: Reason[] = machineIds.length === 0 ? [] : [{ code: 'votes-running', machineIds }];
  const runs = runsMissing(state, job, task);
  if (runs === 0) return running;
  const machines = [...state.machines.values()].filter((machine) => !hasVotedOn(task, machine)).length;
  return [...running, machines === 0 ? { code: 'votes-need-machine' } : { code: 'votes-runs-missing', runs, machines }];
}
