import type { Cause } from '../../../reasons/index.ts';
import { isMisconduct } from '../../../bag/index.ts';
import type { JobId, TaskIndex } from '../../../shared/index.ts';
import { isConvicted, judgeOutvoted, type Verdict } from '../../../trust/index.ts';
import { askToAccept, settle } from '../results/bring-home.ts';
import { statusWithout } from '../results/endings.ts';
import type { GetInput } from '../inputs.ts';
import { loseReplicas } from '../machines/lose-machine.ts';
import type { BrokerJob, BrokerState, OpenTask, Success } from '../state.ts';
import type { TrustEvidence } from './trust-evidence.ts';
import { getCredibility, findIdentity, getIdentity } from './trust-records.ts';
import { addCancel, commit, reply, replyNotFound, type Turn } from '../turn.ts';
import { decideVotes, isVotedOn, findVotes } from './votes.ts';

/** The code of what a machine loses when it is caught. */
const caughtCode = 'MUT_MACHINE_QUARANTINED';

/** What the votes of a task say of the machines that disagree with the accepted result, by their credit now. */
export function judge(state: BrokerState, task: OpenTask, taken: string): Verdict {
  return judgeOutvoted(findVotes(task), taken, {
    rules: state.options.trust,
    getCredibility: (identity) => getCredibility(state, identity),
  });
}

interface Outcome {
  readonly accepted: readonly Success[];
  readonly outvoted: readonly Success[];
  readonly verdict: Verdict;
}

/** Holds against machines that others agreed on another result than theirs. */
export function noteOutvoted(turn: Turn, { accepted, outvoted, verdict: { certainty, isCertain } }: Outcome): void {
  const [first] = accepted;
  if (first?.digest === undefined || outvoted.length === 0) return;
  const against = accepted.map(({ machineId }) => machineId);
  for (const {
    identity,
    machineId,
    digest = '',
    job: { jobId },
    task,
  } of outvoted) {
    const detail: Cause = { code: 'outvoted-with-certainty', probability: Math.floor(certainty * 10_000) / 10_000 };
    note(
      turn,
      { identity, machineId },
      {
        kind: 'outvoted',
        at: turn.now,
        jobId,
        taskIndex: task.index,
        digest,
        acceptedDigest: first.digest,
        against,
        detail,
      },
      isCertain,
    );
  }
}

/** Holds against a machine that the bytes it sent were not those that it announced. */
export function noteMismatch(turn: Turn, { identity, machineId, job: { jobId }, task }: Success, detail: Cause): void {
  note(
    turn,
    { identity, machineId },
    {
      kind: 'mismatch',
      at: turn.now,
      jobId,
      taskIndex: task.index,
      digest: '',
      acceptedDigest: '',
      against: [],
      detail,
    },
    false,
  );
}

/** Has a machine caught for what it stated or reported; nothing for any other code. */
export function noteMisconduct(
  turn: Turn,
  suspect: Suspect,
  {
    code,
    detail,
    task,
  }: {
    readonly code: string;
    readonly detail: Cause;
    readonly task?: { readonly jobId: JobId; readonly taskIndex: TaskIndex };
  },
): void {
  if (!isMisconduct(code)) return;
  const kind = code === 'MUT_UNSAFE_ATTRIBUTE' ? 'attribute' : 'report';
  const { jobId, taskIndex } = task ?? { jobId: 0, taskIndex: 0 };
  note(
    turn,
    suspect,
    { kind, at: turn.now, jobId, taskIndex, digest: '', acceptedDigest: '', against: [], detail },
    true,
  );
}

/** Catches a machine whose words could not be read, and lets it forget them: said again they would be no better. */
export function onMisconduct(turn: Turn, { machineId, detail, sequence }: GetInput<'MachineMisbehaved'>): void {
  const machine = turn.state.machines.get(machineId);
  if (machine === undefined) return;
  noteMisconduct(turn, { identity: getIdentity(machine.facts), machineId }, { code: 'MUT_BAD_REPORT', detail });
  if (sequence !== undefined)
    turn.commands.push({ kind: 'AcknowledgeReport', providerId: machine.provider.providerId, machineId, sequence });
}

/** Has a machine caught on a user's word. */
export function quarantineMachine(
  turn: Turn,
  { replyTo, machineId: name, reason }: GetInput<'MachineQuarantined'>,
): void {
  const found = findIdentity(turn.state, name);
  if (found === undefined) {
    replyNotFound(turn, replyTo, { code: 'machine-not-found', machineId: name });
    return;
  }
  note(
    turn,
    found,
    { kind: 'word', at: turn.now, jobId: 0, taskIndex: 0, digest: '', acceptedDigest: '', against: [], detail: reason },
    true,
  );
  reply(turn, replyTo, { ok: true, value: {} });
}

/** Lets a machine begin again, caught or not, as if it were unknown. */
export function resetMachineTrust(turn: Turn, { replyTo, machineId: name }: GetInput<'MachineTrustReset'>): void {
  const found = findIdentity(turn.state, name);
  const record = found && turn.state.records.get(found.identity);
  if (found === undefined || record === undefined) {
    replyNotFound(turn, replyTo, { code: 'machine-record-not-found', machineId: name });
    return;
  }
  commit(turn, { kind: 'MachineTrustReset', ...found, at: turn.now });
  reply(turn, replyTo, { ok: true, value: {} });
}

interface Suspect {
  readonly identity: string;
  readonly machineId: string;
}

function note(turn: Turn, { identity, machineId }: Suspect, evidence: TrustEvidence, isCertain: boolean): void {
  const record = turn.state.records.get(identity);
  const wasCaught = (record?.quarantinedAt ?? 0) !== 0;
  const before =
    record?.evidence.filter(({ kind, at }) => kind === evidence.kind && at > record.trustResetAt).length ?? 0;
  const isQuarantined = isConvicted({ isCertain, evidenceCount: before + 1 }, turn.state.options.trust);
  commit(turn, { kind: 'EvidenceNoted', identity, machineId, evidence, isQuarantined });
  if (isQuarantined && !wasCaught) shutOut(turn, { identity, machineId });
}

/** Takes a machine's replicas away, and the credibility of its results. */
function shutOut(turn: Turn, suspect: Suspect): void {
  const { state } = turn;
  for (const machine of state.machines.values()) {
    if (getIdentity(machine.facts) !== suspect.identity) continue;
    const replicas = [...machine.replicas.values()];
    for (const { replicaId } of replicas) addCancel(turn, machine, replicaId);
    loseReplicas(turn, machine, { replicas, reason: caughtCode, silentSince: undefined });
  }
  dropSuccesses(turn, suspect);
  for (const job of state.jobs.values()) doubtSupported(turn, job, suspect);
}

/**
 * Ends the machine's results that are not accepted yet. If one of them was being brought home without a vote, the
 * task's next one is brought home instead.
 */
function dropSuccesses(turn: Turn, { identity }: Suspect): void {
  const successes = [...turn.state.successes.values()].filter((success) => success.identity === identity);
  const bereft = new Set(
    successes
      .filter((success) => !isVotedOn(success.job) && success.task.successes?.[0] === success)
      .map(({ task }) => task),
  );
  for (const success of successes) {
    const taskStatus = statusWithout(turn, success, 'outvoted');
    settle(turn, success, { ...success.ending, disposition: 'outvoted', taskStatus, reason: caughtCode, detail: '' });
  }
  for (const task of bereft) if (task.successes !== undefined) askToAccept(turn, task);
}

/** Doubts the results of a job that are not credible enough without that machine. */
function doubtSupported(turn: Turn, job: BrokerJob, { identity, machineId }: Suspect): void {
  const support = job.supports.get(identity);
  if (support === undefined) return;
  const doubted: TaskIndex[] = [];
  for (const { first, count } of support.ranges()) {
    for (let index = first; index < first + count; index++)
      if (!isSupportedWithout(turn.state, job, { index, identity })) doubted.push(index);
  }
  if (doubted.length > 0) commit(turn, { kind: 'ResultsDoubted', jobId: job.jobId, machineId, taskIndexes: doubted });
}

function isSupportedWithout(
  state: BrokerState,
  job: BrokerJob,
  { index, identity }: { readonly index: TaskIndex; readonly identity: string },
): boolean {
  const votes = [...job.supports]
    .filter(([voter, support]) => voter !== identity && support.has(index))
    .map(([voter]) => ({ voter, digest: 'taken' }));
  return decideVotes(state, job, { taskIndex: index, votes }).kind === 'accepted';
}
