import { groupVotes } from '../../../trust/index.ts';
import type { Explanation } from './explanation.ts';
import { plural } from './sentences.ts';
import type { BrokerJob, BrokerState, OpenTask } from '../state.ts';
import { getCredibility } from '../trust/trust-records.ts';
import { getDecision, hasVotedOn, runsMissing, findVotes } from '../trust/votes.ts';

/** Machines that an explanation names. */
const namedMax = 5;

/** Says what votes a task has, and what it waits for. */
export function explainVotes(
  state: BrokerState,
  job: BrokerJob,
  about: { readonly name: string; readonly task: OpenTask; readonly past: readonly string[] },
): Explanation {
  const { name, task, past } = about;
  const votes = describeVotes(state, task);
  return {
    summary: `${name} has ${plural(findVotes(task).length, 'result')} and ${describeNext(state, job, task)}`,
    details: [...votes, ...describeWanting(state, job, task), ...past],
  };
}

function describeNext(state: BrokerState, job: BrokerJob, task: OpenTask): string {
  if (task.accepting !== undefined) return `is decided: the one of ${task.accepting.machineId} is being brought home.`;
  const decision = getDecision(state, job, task);
  if (decision.kind === 'deadlocked') return 'no majority: it is given up when what runs of it has ended.';
  if (decision.kind === 'accepted') return 'is decided.';
  const by =
    job.verification?.kind === 'credibility'
      ? `credibility ${job.verification.threshold}`
      : `vote:${job.verification?.kind === 'vote' ? job.verification.count : 0}`;
  return (
    `wants ${plural(decision.votesMissing, 'more result')} that ` +
    `${decision.votesMissing === 1 ? 'agrees' : 'agree'} with the best of them (${by}).`
  );
}

function describeVotes(state: BrokerState, task: OpenTask): string[] {
  const names = new Map(task.successes?.map(({ identity, machineId }) => [identity, machineId]));
  return groupVotes(findVotes(task)).map(({ digest, voters }) => {
    const reported = voters
      .slice(0, namedMax)
      .map(
        (voter) =>
          `${names.get(voter) ?? voter} (credibility ${Math.floor(getCredibility(state, voter) * 1000) / 1000})`,
      );
    return (
      `${digest.slice(0, 12)} was brought by ` +
      `${reported.join(' and ')}${voters.length > namedMax ? ` and ${voters.length - namedMax} more` : ''}.`
    );
  });
}

function describeWanting(state: BrokerState, job: BrokerJob, task: OpenTask): string[] {
  const running = task.replicas.map(({ machine }) => machine.facts.machineId);
  const runs = running.length === 0 ? [] : [`It runs on ${running.join(' and ')}.`];
  const missing = runsMissing(state, job, task);
  if (missing === 0) return runs;
  const others = [...state.machines.values()].filter((machine) => !hasVotedOn(task, machine)).length;
  return [
    ...runs,
    others === 0
      ? 'Every machine that is there has had its say: it waits for another one.'
      : `${plural(missing, 'run')} of it will begin on ` +
        `${others === 1 ? 'the one machine' : `one of the ${others} machines`} without a say so far.`,
  ];
}
