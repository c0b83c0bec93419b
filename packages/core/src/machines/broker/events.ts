import type { Cause } from '../../reasons/index.ts';
import type { AllocationRequest, MachineFacts, RequestStatus } from '../../messages/index.ts';
import {
  type JobId,
  type MachineId,
  type ProviderId,
  type RequestId,
  type TaskIndex,
  unreachable,
} from '../../shared/index.ts';
import type { BrokerChange, ChangeOf, ReplicaEnding } from './changes.ts';

/** What watching users may receive: lower-case facts about a noun. */
export type BrokerEventType =
  | 'job.accepted'
  | 'job.closed'
  | 'job.cancelled'
  | 'job.finished'
  | 'job.failed'
  | 'tasks.appended'
  | 'tasks.started'
  | 'tasks.verifying'
  | 'tasks.finished'
  | 'tasks.failed'
  | 'tasks.cancelled'
  | 'tasks.held'
  | 'tasks.released'
  | 'job.updated'
  | 'job.released'
  | 'job.expired'
  | 'job.forgotten'
  | 'tasks.retried'
  | 'tasks.doubted'
  | 'tasks.unreserved'
  | 'replicas.failed'
  | 'replicas.lost'
  | 'replicas.surplus'
  | 'replicas.outvoted'
  | 'replicas.withdrawn'
  | 'provider.added'
  | 'machine.joined'
  | 'machine.lost'
  | 'machine.quarantined'
  | 'machine.reset-trusted'
  | `request.${RequestStatus}`;

/** A fact about a job and some of its tasks, or about what jobs run on. */
export interface BrokerEvent {
  readonly type: BrokerEventType;
  /** 0 where it is about what jobs run on. */
  readonly jobId: JobId;
  /** Empty where the whole job is meant. */
  readonly taskIndexes: readonly TaskIndex[];
  /** Empty where none is meant. */
  readonly machineId: MachineId;
  /** A code of errors, or why; empty where there is nothing to say, and for requests, which have their own. */
  readonly reason: Cause;
  /** Empty where none is meant, as the one below. */
  readonly providerId: ProviderId;
  readonly requestId: RequestId;
  /** Of `machine.joined` only. */
  readonly facts: MachineFacts | undefined;
  /** Of `request` events only, and without its candidates. */
  readonly request: AllocationRequest | undefined;
}

/**
 * The events of a change; none for `ReplicasStarted` and `ReplicasGivenUp`, which name replicas and not tasks, nor for
 * `TasksAssigned`, single votes and leases, which start nothing yet.
 *
 * `job.cancelled` comes when its user cancels it and again when its last replica has ended, and likewise
 * `tasks.cancelled` for single tasks; `machine.joined` again when a machine's facts have changed, a request's status
 * again when something else in it has. Pure: a change of the journal gives the same events at any time.
 */
export function listEvents(change: BrokerChange): BrokerEvent[] {
  switch (change.kind) {
    case 'JobAccepted':
      return [jobEvent('job.accepted', change.jobId, '')];
    case 'TasksAppended':
    case 'JobClosed':
    case 'JobUpdated':
      return [jobEvent(updates[change.kind], change.jobId, '')];
    case 'JobCancelled':
      return [jobEvent('job.cancelled', change.jobId, change.reason)];
    case 'TasksCancelled':
      return [{ ...jobEvent('tasks.cancelled', change.jobId, change.reason), taskIndexes: change.taskIndexes }];
    case 'TasksHeld':
    case 'TasksReleased':
      return [{ ...jobEvent(holds[change.kind], change.jobId, ''), taskIndexes: change.taskIndexes }];
    case 'DependencySettled':
      return [{ ...jobEvent('job.released', change.jobId, ''), taskIndexes: change.taskIndexes }];
    case 'BeginReached':
    case 'JobExpired':
      return [jobEvent(change.kind === 'BeginReached' ? 'job.released' : 'job.expired', change.jobId, '')];
    case 'JobsForgotten':
      return change.jobIds.map((jobId) => jobEvent('job.forgotten', jobId, ''));
    case 'ReservationLeft':
      return [jobEvent('tasks.unreserved', change.jobId, change.code)];
    case 'JobEnded':
      return [jobEvent(`job.${change.status}`, change.jobId, '')];
    case 'TasksRetried':
      return [{ ...jobEvent('tasks.retried', change.jobId, ''), taskIndexes: change.taskIndexes }];
    case 'ReplicasDispatched':
      return [startEvent(change.jobId, change.taskIndexes, change.machineId)];
    case 'GangDispatched':
      return [startEvent(change.jobId, [change.taskIndex], change.seats[0]?.machineId ?? '')];
    case 'ReplicaVerifying':
      return [endingEvent('tasks.verifying', change, [change.ending])];
    case 'ReplicasEnded':
      return endEvents(change);
    case 'TasksAssigned':
    case 'MembersHeld':
    case 'GangStarted':
    case 'ReplicasStarted':
    case 'ReplicasGivenUp':
    case 'ReplicaLetGo':
    case 'ReplicaDigested':
    case 'TaskDecided':
    case 'LeaseGranted':
    case 'LeaseConfirmed':
    case 'MachineDrained':
    case 'MachineUndrained':
    case 'ProviderRemoved':
    case 'InputsRevised':
    case 'ClockStepped':
    case 'ReservationMoved':
    case 'MemoryChosen':
      return [];
    case 'ResultsDoubted':
      return [
        {
          ...jobEvent('tasks.doubted', change.jobId, ''),
          taskIndexes: change.taskIndexes,
          machineId: change.machineId,
        },
      ];
    case 'EvidenceNoted':
      return evidenceEvents(change);
    case 'MachineTrustReset':
      return [{ ...jobEvent('machine.reset-trusted', 0, ''), machineId: change.machineId }];
    case 'ProviderAdded':
      return [{ ...jobEvent('provider.added', 0, ''), providerId: change.providerId }];
    case 'MachineJoined':
      return [joinEvent(change)];
    case 'MachineLost':
      return [{ ...jobEvent('machine.lost', 0, change.reason), machineId: change.machineId }];
    case 'RequestsChanged':
      return change.requests.map(requestEvent);
    default:
      return unreachable(change);
  }
}

function startEvent(jobId: JobId, taskIndexes: readonly TaskIndex[], machineId: MachineId): BrokerEvent {
  return { ...jobEvent('tasks.started', jobId, ''), taskIndexes, machineId };
}

const updates = { TasksAppended: 'tasks.appended', JobClosed: 'job.closed', JobUpdated: 'job.updated' } as const;
const holds = { TasksHeld: 'tasks.held', TasksReleased: 'tasks.released' } as const;

function jobEvent(type: BrokerEventType, jobId: JobId, reason: Cause): BrokerEvent {
  return {
    type,
    jobId,
    taskIndexes: [],
    machineId: '',
    reason,
    providerId: '',
    requestId: '',
    facts: undefined,
    request: undefined,
  };
}

/** Evidence that does not convict appears only in the machine's record. */
function evidenceEvents({
  isQuarantined,
  machineId,
  evidence: { kind: evidence, detail: cause },
}: ChangeOf<'EvidenceNoted'>): BrokerEvent[] {
  if (!isQuarantined) return [];
  return [{ ...jobEvent('machine.quarantined', 0, { code: 'machine-evidence', evidence, cause }), machineId }];
}

function joinEvent({ providerId, facts }: ChangeOf<'MachineJoined'>): BrokerEvent {
  return {
    ...jobEvent('machine.joined', 0, ''),
    providerId,
    machineId: facts.machineId,
    requestId: facts.requestId,
    facts,
  };
}

/** The candidates are left out, since they may be many: an explanation lists them. */
function requestEvent({ candidates: _candidates, ...request }: AllocationRequest): BrokerEvent {
  const { providerId, requestId, status } = request;
  return { ...jobEvent(`request.${status}`, 0, ''), providerId, requestId, request };
}

function endingEvent(
  type: BrokerEventType,
  change: ChangeOf<'ReplicasEnded'> | ChangeOf<'ReplicaVerifying'>,
  endings: readonly ReplicaEnding[],
): BrokerEvent {
  const taskIndexes = endings.map((ending) => ending.taskIndex);
  return { ...jobEvent(type, change.jobId, endings[0]?.reason ?? ''), taskIndexes, machineId: change.machineId };
}

/** One event per type and reason: first what became of replicas, then what that made of their tasks. */
function endEvents(change: ChangeOf<'ReplicasEnded'>): BrokerEvent[] {
  const groups = new Map<string, { type: BrokerEventType; endings: ReplicaEnding[] }>();
  const add = (type: BrokerEventType | undefined, ending: ReplicaEnding) => {
    if (type === undefined) return;
    const key = `${type} ${ending.reason}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { type, endings: [ending] });
    else group.endings.push(ending);
  };
  for (const ending of change.endings) {
    add(replicaEventType(ending), ending);
    add(taskEventType(ending), ending);
  }
  return [...groups.values()].map(({ type, endings }) => endingEvent(type, change, endings));
}

function replicaEventType({ disposition }: ReplicaEnding): BrokerEventType | undefined {
  return disposition === 'accepted' || disposition === 'cancelled' || disposition === 'served'
    ? undefined
    : `replicas.${disposition}`;
}

function taskEventType({ disposition, taskStatus }: ReplicaEnding): BrokerEventType | undefined {
  if (disposition === 'accepted') return 'tasks.finished';
  // A sibling that ends after its task adds nothing to the task's outcome.
  if (disposition === 'surplus') return undefined;
  return taskStatus === 'failed' || taskStatus === 'cancelled' ? `tasks.${taskStatus}` : undefined;
}
