import { isShutdown, isStop, stopsMax } from '@mutirao/core/bag';
import type { BrokerChange, ChangeOf, ReplicaEnding } from '@mutirao/core/machines/broker';
import { getIdentity } from '@mutirao/core/messages';
import {
  invariant,
  type JobId,
  type MachineId,
  type ProviderId,
  type ReplicaId,
  type TaskIndex,
} from '@mutirao/core/shared';
import { predecessorsIn } from '../plan-edges.ts';
import type { Truth } from '../truth.ts';
import { GateOracle, type AwaitedFacts } from './gate-oracle.ts';
import { reasonOfLoss } from './reason-of-loss.ts';
import { VoteOracle } from './vote-oracle.ts';

/** What the journal says of a task. */
interface WrittenTask {
  failures: number;
  losses: number;
  /** Those of machines that went away without a word. */
  silentLosses: number;
  /** Of these, the ones that the task's manager took away. */
  takenAway: number;
  /** Times that its machine was taken away while it ran. */
  stops: number;
  /** Its user cancelled it alone, and has not retried it since. */
  isUnwanted: boolean;
  /** Undefined while it is open. */
  end: 'finished' | 'failed' | 'cancelled' | undefined;
}

/** What the journal says of a job. */
interface WrittenJob {
  readonly label: string;
  readonly taskCount: number;
  readonly replicasMax: number;
  readonly failuresMax: number;
  /** Most that runs of it at once; Infinity without a limit. */
  runningMax: number;
  /** Tasks that are held, whatever they are. */
  readonly held: Set<TaskIndex>;
  readonly tasks: Map<TaskIndex, WrittenTask>;
  /** Where tasks are placed that have not ended; empty for nowhere any more. */
  readonly places: Map<TaskIndex, ProviderId>;
  isCancelled: boolean;
  /** Also before it was retried: what then still ran may end so. */
  wasCancelled: boolean;
  hasEnded: boolean;
  hasStarted: boolean;
  /** How it has ever ended. */
  readonly ends: Set<string>;
}

interface WrittenReplica {
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
  /** Its job was cancelled while it ran, and its task not retried since. */
  isCancelled: boolean;
  /** It has succeeded, and only its result is not settled. */
  isVerifying: boolean;
}

/** Reasons with which a task fails at once, however many failures are left to it. */
const hopelessReasons: ReadonlySet<string> = new Set(['MUT_NO_MAJORITY', 'MUT_MEMORY_MAX']);
/** What becomes of a replica whose machine, or another of its gang, went away without a word. */
const silentReasons: ReadonlySet<string> = new Set(['MUT_MACHINE_LOST', 'MUT_GANG_BROKEN']);

/** As the broker's default. */
const lossesMax = 20;

/**
 * Reads a broker's journal as one who believes nothing: each line must follow from those before it and from what really
 * happened.
 */
export class JournalOracle {
  readonly #truth: Truth;
  readonly #votes = new VoteOracle();
  readonly #gates = new GateOracle();
  /** Of machines, by their names. */
  readonly #identities = new Map<MachineId, { readonly identity: string; readonly isKept: boolean }>();
  /** Identities of machines that are drained. */
  readonly #drained = new Set<string>();
  readonly #jobs = new Map<JobId, WrittenJob>();
  readonly #labels = new Set<string>();
  readonly #replicas = new Map<ReplicaId, WrittenReplica>();
  /** Whose machines did not confirm their ends in time: their tasks are none of theirs any more. */
  readonly #unconfirmed = new Map<ReplicaId, JobId>();
  /** Members of gangs other than their leaders, which say nothing of their tasks; by the job. */
  readonly #followers = new Map<ReplicaId, JobId>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  /** @throws {InvariantError} when the line does not follow. */
  read(change: BrokerChange): void {
    this.#readGates(change);
    switch (change.kind) {
      case 'JobAccepted':
        this.#accept(change);
        break;
      case 'JobCancelled':
        this.#cancel(change);
        break;
      case 'TasksCancelled':
        this.#cancelTasks(change);
        break;
      case 'TasksHeld':
      case 'TasksReleased':
        this.#hold(change);
        break;
      case 'JobUpdated':
        this.#job(change.jobId).runningMax = limitIn(change, this.#job(change.jobId));
        break;
      case 'TasksRetried':
        this.#retry(change);
        break;
      case 'JobEnded':
        this.#end(change);
        break;
      case 'TasksAssigned':
        this.#assignTask(change);
        break;
      case 'ReplicasDispatched':
        this.#place(change);
        break;
      case 'GangDispatched':
        this.#dispatchGang(change);
        break;
      case 'MachineJoined':
        this.#votes.onJoined(change.facts);
        this.#identities.set(change.facts.machineId, {
          identity: getIdentity(change.facts),
          isKept: change.facts.requestId === '',
        });
        break;
      case 'MachineLost':
        this.#lose(change.machineId);
        break;
      case 'MachineDrained':
        this.#drained.add(change.identity);
        break;
      case 'MachineUndrained':
        this.#drained.delete(change.identity);
        break;
      case 'ReplicaVerifying':
        this.#replica(change.ending.replicaId).isVerifying = true;
        break;
      case 'TaskDecided':
        this.#votes.onDecided(change);
        break;
      case 'ReplicaDigested':
        this.#votes.onVote(change.replicaId, change.digest);
        break;
      case 'EvidenceNoted':
        this.#votes.onEvidence(change);
        break;
      case 'MachineTrustReset':
        this.#votes.resetTrust(change.identity);
        break;
      case 'ResultsDoubted':
        this.#doubt(change);
        break;
      case 'ReplicaLetGo':
        this.#letGo(change);
        break;
      case 'ReplicasEnded':
        for (const ending of change.endings) this.#endReplica(change.jobId, ending);
        break;
      default:
        break;
    }
  }

  #readGates(change: BrokerChange): void {
    if (change.kind === 'JobAccepted') this.#gates.onAccepted(change, this.#truth.planOf(change.clientJobId).taskCount);
    if (change.kind === 'DependencySettled')
      this.#gates.onSettled(change, this.#findFacts(change.awaitedId), this.#findFacts(change.jobId));
    if (change.kind === 'BeginReached') this.#gates.onBegin(change);
    if (change.kind === 'ReplicasStarted') for (const { replicaId } of change.started) this.#noteStart(replicaId);
    if (change.kind === 'ReplicaVerifying') this.#noteStart(change.ending.replicaId);
    if (change.kind === 'ReplicasEnded' && change.endings.some(hasBegun)) this.#job(change.jobId).hasStarted = true;
  }

  #noteStart(replicaId: ReplicaId): void {
    const replica = this.#replicas.get(replicaId);
    if (replica !== undefined) this.#job(replica.jobId).hasStarted = true;
  }

  #job(jobId: JobId): WrittenJob {
    const job = this.#jobs.get(jobId);
    invariant(job, `the journal has job ${jobId} and not its beginning`);
    return job;
  }

  #findFacts(jobId: JobId): AwaitedFacts {
    const { ends, tasks, hasStarted } = this.#job(jobId);
    return { ends, hasStarted, taskEnd: (taskIndex) => tasks.get(taskIndex)?.end };
  }

  #replica(replicaId: ReplicaId): WrittenReplica {
    const replica = this.#replicas.get(replicaId);
    invariant(replica, `the journal has r${replicaId} and not its beginning`);
    return replica;
  }

  #accept({
    jobId,
    clientJobId,
    spec: { replicasMax, failuresMax, runningMax = Infinity },
  }: ChangeOf<'JobAccepted'>): void {
    invariant(!this.#labels.has(clientJobId), `"${clientJobId}" was submitted once and accepted twice`);
    this.#labels.add(clientJobId);
    const { taskCount } = this.#truth.planOf(clientJobId);
    this.#jobs.set(jobId, {
      label: clientJobId,
      taskCount,
      replicasMax,
      failuresMax,
      runningMax,
      held: new Set(),
      tasks: new Map(),
      places: new Map(),
      isCancelled: false,
      wasCancelled: false,
      hasEnded: false,
      hasStarted: false,
      ends: new Set(),
    });
  }

  /** What does not run is over at once; the rest when its replicas have ended. */
  #cancel({ jobId }: ChangeOf<'JobCancelled'>): void {
    const job = this.#job(jobId);
    job.isCancelled = true;
    job.wasCancelled = true;
    const running = [...this.#replicas.values()].filter((replica) => replica.jobId === jobId);
    for (const replica of running) replica.isCancelled = !replica.isVerifying;
    const placed = new Set(running.map(({ taskIndex }) => taskIndex));
    for (const [taskIndex, task] of job.tasks) if (!placed.has(taskIndex)) task.end ??= 'cancelled';
    for (const taskIndex of job.places.keys()) if (!placed.has(taskIndex)) job.places.delete(taskIndex);
  }

  /** Only unfinished tasks are cancelled: at once if they do not run, else with their last replica. */
  #cancelTasks({ jobId, taskIndexes }: ChangeOf<'TasksCancelled'>): void {
    const job = this.#job(jobId);
    job.wasCancelled = true;
    invariant(!job.isCancelled && !job.hasEnded, `job ${jobId} is over and tasks of it are cancelled`);
    for (const taskIndex of taskIndexes) {
      const task = findTask(job, taskIndex);
      invariant(task.end === undefined, `task ${taskIndex} of job ${jobId} is ${task.end ?? ''} and cancelled`);
      const running = [...this.#replicas.values()].filter(
        (replica) => replica.jobId === jobId && replica.taskIndex === taskIndex,
      );
      for (const replica of running) replica.isCancelled = !replica.isVerifying;
      task.isUnwanted = true;
      if (running.length > 0) continue;
      task.end = 'cancelled';
      job.places.delete(taskIndex);
    }
  }

  /** What is held and runs nowhere has no place any more. */
  #hold({ kind, jobId, taskIndexes }: ChangeOf<'TasksHeld' | 'TasksReleased'>): void {
    const job = this.#job(jobId);
    invariant(!job.hasEnded, `job ${jobId} has ended and tasks of it are held or released`);
    const meant =
      taskIndexes.length > 0 ? taskIndexes : Array.from({ length: job.taskCount }, (_, taskIndex) => taskIndex);
    for (const taskIndex of meant) {
      if (kind === 'TasksReleased') job.held.delete(taskIndex);
      else {
        job.held.add(taskIndex);
        this.#unassignTask(job, jobId, taskIndex);
      }
    }
  }

  #unassignTask(job: WrittenJob, jobId: JobId, taskIndex: TaskIndex): void {
    if (job.held.has(taskIndex) && this.#runsNothing(jobId, taskIndex)) job.places.delete(taskIndex);
  }

  /** What is begun is not held, and of a job with a limit no more runs at once. */
  #checkService(job: WrittenJob, jobId: JobId, taskIndexes: readonly TaskIndex[]): void {
    this.#gates.checkStart(jobId, taskIndexes);
    for (const taskIndex of taskIndexes)
      invariant(
        !job.held.has(taskIndex) || !this.#runsNothing(jobId, taskIndex),
        `task ${taskIndex} of job ${jobId} is held and begins`,
      );
    if (job.runningMax === Infinity) return;
    let running = taskIndexes.length;
    for (const replica of this.#replicas.values()) if (replica.jobId === jobId && !replica.isVerifying) running++;
    for (const owner of this.#unconfirmed.values()) if (owner === jobId) running++;
    invariant(running <= job.runningMax, `job ${jobId} may run ${job.runningMax} tasks at once, and has ${running}`);
  }

  /** What failed, was cancelled, or would be when its replicas end, begins again; what was finished stays so. */
  #retry(change: ChangeOf<'TasksRetried'>): void {
    const { jobId, taskIndexes } = change;
    const job = this.#job(jobId);
    const isMeant = (taskIndex: TaskIndex): boolean => taskIndexes.length === 0 || taskIndexes.includes(taskIndex);
    this.#gates.onRetried(change, {
      taskIndexes: this.#listRetried(change).filter(isMeant),
      isOver: job.isCancelled || job.hasEnded,
    });
    for (const [taskIndex, task] of job.tasks) if (isMeant(taskIndex) && isGivenUp(task)) job.tasks.delete(taskIndex);
    for (const replica of this.#replicas.values()) {
      if (replica.jobId !== jobId || !replica.isCancelled || !isMeant(replica.taskIndex)) continue;
      replica.isCancelled = false;
      if (findTask(job, replica.taskIndex).end === undefined) job.tasks.delete(replica.taskIndex);
    }
    job.isCancelled = false;
    job.hasEnded = false;
  }

  /** Tasks of which it is sure that they run again when all of their job are retried. */
  #listRetried({ jobId }: ChangeOf<'TasksRetried'>): TaskIndex[] {
    const { tasks, taskCount, isCancelled, hasEnded } = this.#job(jobId);
    const present = [...this.#replicas.values()].filter((replica) => replica.jobId === jobId);
    const running = new Set(present.map(({ taskIndex }) => taskIndex));
    const retried = new Set(present.filter((replica) => replica.isCancelled).map(({ taskIndex }) => taskIndex));
    return Array.from({ length: taskCount }, (_, taskIndex) => taskIndex).filter((taskIndex) => {
      const task = tasks.get(taskIndex);
      if (running.has(taskIndex)) return retried.has(taskIndex);
      return task === undefined ? isCancelled || hasEnded : isGivenUp(task);
    });
  }

  /** What is doubted runs again, unless its job is over. */
  #doubt({ jobId, taskIndexes }: ChangeOf<'ResultsDoubted'>): void {
    const job = this.#job(jobId);
    for (const taskIndex of taskIndexes) {
      const { end } = findTask(job, taskIndex);
      invariant(end === 'finished', `task ${taskIndex} of job ${jobId} is ${end ?? 'open'} and doubted`);
      if (!job.isCancelled && !job.hasEnded) job.tasks.delete(taskIndex);
    }
  }

  /** Only what is open and runs nowhere is given a place, and another one than it has. */
  #assignTask({ jobId, assignments }: ChangeOf<'TasksAssigned'>): void {
    const job = this.#job(jobId);
    invariant(!job.isCancelled && !job.hasEnded, `job ${jobId} is over and tasks of it are placed`);
    for (const { taskIndex, providerId } of assignments) {
      const name = `task ${taskIndex} of job ${jobId}`;
      invariant(job.tasks.get(taskIndex)?.end === undefined, `${name} has ended and is placed at ${providerId}`);
      invariant(job.places.get(taskIndex) !== providerId, `${name} is placed at ${providerId} twice`);
      for (const replica of this.#replicas.values())
        invariant(
          replica.jobId !== jobId || replica.taskIndex !== taskIndex,
          `${name} runs and is placed at ${providerId}`,
        );
      job.places.set(taskIndex, providerId);
    }
  }

  /** A machine of an allocation is forgotten with it. */
  #lose(machineId: MachineId): void {
    const known = this.#identities.get(machineId);
    if (known?.isKept === false) this.#drained.delete(known.identity);
  }

  /** Drained machines get nothing new; leased tasks may have begun before. */
  #checkOpen(machineId: MachineId): void {
    invariant(
      !this.#drained.has(this.#identities.get(machineId)?.identity ?? machineId),
      `${machineId} is drained and gets a replica`,
    );
  }

  /** What is placed runs at its provider. */
  #checkAssignment(job: WrittenJob, taskIndex: TaskIndex, machineId: MachineId): void {
    const providerId = job.places.get(taskIndex) ?? '';
    invariant(
      providerId === '' || machineId.startsWith(`${providerId}/`),
      `task ${taskIndex} of "${job.label}" is placed at ${providerId} and begins on ${machineId}`,
    );
  }

  #place({ jobId, machineId, firstReplicaId, taskIndexes, isAdopted }: ChangeOf<'ReplicasDispatched'>): void {
    const job = this.#job(jobId);
    invariant(!job.isCancelled && !job.hasEnded, `job ${jobId} is over and r${firstReplicaId} of it is placed`);
    if (isAdopted !== true) {
      this.#checkOpen(machineId);
      this.#checkService(job, jobId, taskIndexes);
    }
    for (const [offset, taskIndex] of taskIndexes.entries()) {
      const { end, isUnwanted } = findTask(job, taskIndex);
      invariant(end === undefined, `task ${taskIndex} of job ${jobId} is ${end ?? ''} and placed`);
      invariant(!isUnwanted, `task ${taskIndex} of job ${jobId} is being cancelled and placed`);
      this.#checkAssignment(job, taskIndex, machineId);
      for (const before of predecessorsIn(this.#truth.planOf(job.label), taskIndex)) {
        invariant(
          job.tasks.get(before)?.end === 'finished',
          `task ${taskIndex} of job ${jobId} is placed before task ${before} has finished`,
        );
      }
      invariant(!this.#replicas.has(firstReplicaId + offset), `r${firstReplicaId + offset} is placed twice`);
      this.#replicas.set(firstReplicaId + offset, { jobId, taskIndex, isCancelled: false, isVerifying: false });
      this.#votes.onPlaced(
        firstReplicaId + offset,
        { machineId, task: `${jobId}.${taskIndex}`, plan: this.#truth.planOf(job.label) },
        { replicasMax: job.replicasMax, isAdopted: isAdopted === true },
      );
    }
  }

  #dispatchGang({ jobId, taskIndex, firstReplicaId, seats, at }: ChangeOf<'GangDispatched'>): void {
    this.#place({
      kind: 'ReplicasDispatched',
      jobId,
      machineId: seats[0]?.machineId ?? '',
      firstReplicaId,
      taskIndexes: [taskIndex],
      at,
    });
    for (const { machineId } of seats) this.#checkOpen(machineId);
    for (const rank of seats.keys()) if (rank > 0) this.#followers.set(firstReplicaId + rank, jobId);
  }

  /** Its task is cancelled where that was wanted; else it goes on. */
  #letGo({ jobId, replicaId, taskIndex, taskStatus }: ChangeOf<'ReplicaLetGo'>): void {
    const [job, replica] = [this.#job(jobId), this.#replica(replicaId)];
    const name = `task ${taskIndex} of job ${jobId}`;
    invariant(replica.jobId === jobId && replica.taskIndex === taskIndex, `r${replicaId} is let go by another task`);
    invariant(!replica.isVerifying, `r${replicaId} is let go, and its result is being settled`);
    this.#replicas.delete(replicaId);
    this.#unconfirmed.set(replicaId, jobId);
    const task = findTask(job, taskIndex);
    invariant(task.end === undefined, `${name} is ${task.end ?? ''}, and r${replicaId} holds it open`);
    invariant(
      (taskStatus === 'cancelled') === (this.#runsNothing(jobId, taskIndex) && isUnwanted(job, replica, task)),
      `${name} is ${taskStatus} without r${replicaId}`,
    );
    moveTask(task, taskStatus, { isHopeless: false, name, failuresMax: job.failuresMax });
    if (task.end !== undefined) job.places.delete(taskIndex);
    else this.#unassignTask(job, jobId, taskIndex);
  }

  #runsNothing(jobId: JobId, taskIndex: TaskIndex): boolean {
    for (const replica of this.#replicas.values())
      if (replica.jobId === jobId && replica.taskIndex === taskIndex) return false;
    return true;
  }

  /** Its task does not learn from it. */
  #endUnconfirmed(jobId: JobId, { replicaId, disposition }: ReplicaEnding): void {
    invariant(
      this.#unconfirmed.get(replicaId) === jobId && (disposition === 'cancelled' || disposition === 'surplus'),
      `r${replicaId} was let go, and ends as ${disposition}`,
    );
    this.#unconfirmed.delete(replicaId);
    this.#votes.onEnded(replicaId, disposition);
  }

  #endFollower(jobId: JobId, replicaId: ReplicaId): void {
    invariant(this.#followers.get(replicaId) === jobId, `r${replicaId} follows a leader of another job than ${jobId}`);
    this.#followers.delete(replicaId);
  }

  #endReplica(jobId: JobId, ending: ReplicaEnding): void {
    if (this.#unconfirmed.has(ending.replicaId)) return this.#endUnconfirmed(jobId, ending);
    if (this.#followers.has(ending.replicaId)) return this.#endFollower(jobId, ending.replicaId);
    const { replicaId, taskIndex, disposition, taskStatus } = ending;
    const [job, replica] = [this.#job(jobId), this.#replicas.get(replicaId)];
    invariant(
      replica?.jobId === jobId && replica.taskIndex === taskIndex,
      `r${replicaId} ends, and was not placed for task ${taskIndex} of job ${jobId}`,
    );
    this.#replicas.delete(replicaId);
    const task = findTask(job, taskIndex);
    this.#votes.onEnded(replicaId, disposition);
    invariant(
      taskStatus !== 'cancelled' || isUnwanted(job, replica, task),
      `task ${taskIndex} of job ${jobId} is cancelled with r${replicaId}, and was retried`,
    );
    if (disposition === 'failed') {
      if (ending.memoryNext === undefined) task.failures += 1;
      this.#truth.checkFailed({ label: job.label, taskIndex, replicaId, reason: ending.reason });
    }
    noteLoss(task, ending, this.#truth.wasSignalled({ label: job.label, replicaId }));
    if (task.end === undefined)
      moveTask(task, taskStatus, {
        isHopeless: hopelessReasons.has(ending.reason),
        name: `task ${taskIndex} of job ${jobId}`,
        failuresMax: job.failuresMax,
      });
    if (task.end !== undefined) job.places.delete(taskIndex);
    else this.#unassignTask(job, jobId, taskIndex);
  }

  /** Every task must have come to its end, or be one that was never placed when its job was cancelled. */
  #end({ jobId, status }: ChangeOf<'JobEnded'>): void {
    const job = this.#job(jobId);
    job.hasEnded = true;
    job.ends.add(status);
    this.#gates.onEnded(jobId);
    // They can no longer be released.
    job.held.clear();
    const ends = [...job.tasks.values()].map(({ end }) => end ?? 'ready');
    const [finished, failed] = [
      ends.filter((end) => end === 'finished').length,
      ends.filter((end) => end === 'failed').length,
    ];
    // What waits for a failed task is cancelled with it, and single tasks may be.
    const { failedTasksMax = Infinity } = this.#truth.planOf(job.label);
    const isCutShort = failed > 0 && (!job.isCancelled || failed >= failedTasksMax);
    const expected =
      finished === job.taskCount
        ? 'finished'
        : isCutShort || finished + failed === job.taskCount
          ? 'failed'
          : 'cancelled';
    invariant(
      status === expected,
      `job ${jobId} ended as ${status} with ${finished} of ${job.taskCount} tasks finished and ${failed} failed`,
    );
    invariant(status !== 'cancelled' || job.wasCancelled, `job ${jobId} ended as cancelled, and nobody cancelled it`);
  }
}

/**
 * Counts a loss, unless a shutdown or a preemption caused it, for which no task is to blame. @param wasTaken whether
 * the task's manager took it away.
 */
function noteLoss(task: WrittenTask, ending: ReplicaEnding, wasTaken: boolean): void {
  const reason = reasonOfLoss(ending);
  const isLoss = ending.disposition === 'lost' && !isShutdown(reason);
  // One that its manager took away says nothing of its end: that counts as a loss until the manager lists it.
  const isSilent = isLoss && ending.outcome === undefined && silentReasons.has(reason);
  task.losses += Number(isLoss);
  task.silentLosses += Number(isSilent);
  task.takenAway += Number(isSilent && wasTaken);
  task.stops += Number(isStop({ ...ending, reason }));
}

/** A task is given up when its failures, losses or stops are spent, and not before. */
function moveTask(
  task: WrittenTask,
  status: ReplicaEnding['taskStatus'],
  {
    name,
    failuresMax,
    isHopeless,
  }: { readonly name: string; readonly failuresMax: number; readonly isHopeless: boolean },
): void {
  if (status === 'finished' || status === 'failed' || status === 'cancelled') task.end = status;
  const { failures, losses, silentLosses, takenAway, stops } = task;
  const isSpent = (lost: number, stopped: number): boolean =>
    failures >= failuresMax || lost >= lossesMax || stopped >= stopsMax;
  const counts = `${failures} failures, ${losses} losses, ${takenAway} of which were preemptions, and ${stops} stops`;
  invariant(
    status !== 'failed' || isSpent(losses - takenAway, stops + silentLosses) || isHopeless,
    `${name} was given up after ${counts}`,
  );
  invariant(status !== 'ready' || !isSpent(losses - silentLosses, stops), `${name} goes on after ${counts}`);
}

function isUnwanted(job: WrittenJob, replica: WrittenReplica, task: WrittenTask): boolean {
  return job.isCancelled || replica.isCancelled || task.isUnwanted;
}

/** Most that a job may run at once after its user has changed that, or left it. */
function limitIn({ runningMax }: ChangeOf<'JobUpdated'>, job: WrittenJob): number {
  if (runningMax === undefined) return job.runningMax;
  return runningMax === 0 ? Infinity : runningMax;
}

/** Whether a task has failed or was cancelled, or is being cancelled by itself. */
function hasBegun({ startedAt, taskStatus }: ReplicaEnding): boolean {
  return startedAt !== 0 || taskStatus === 'finished' || taskStatus === 'failed';
}

function isGivenUp({ end, isUnwanted }: WrittenTask): boolean {
  return end === 'failed' || end === 'cancelled' || (isUnwanted && end === undefined);
}

function findTask(job: WrittenJob, taskIndex: TaskIndex): WrittenTask {
  const task = job.tasks.get(taskIndex) ?? {
    failures: 0,
    losses: 0,
    silentLosses: 0,
    takenAway: 0,
    stops: 0,
    isUnwanted: false,
    end: undefined,
  };
  job.tasks.set(taskIndex, task);
  return task;
}
