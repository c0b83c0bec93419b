import {
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  type BrokerOptions,
  type BrokerState,
  createBrokerState,
  listEvents,
  explainJob,
  explainMachine,
  explainRequest,
  explainTask,
  type Explanation,
  findLedger,
  restore,
  resume,
  snapshot,
} from '@mutirao/core/machines/broker';
import {
  nameReservation,
  type OnReservationEnd,
  type ProvisioningState,
  type GangMemberReady,
  type Provisioning,
  type DependencyCondition,
  type JobDependency,
  type JobSpec,
  type MachineReport,
  type Outcome,
  type ReplicaEnd,
  type ReplicationCap,
  type RequestReservation,
  type RequestStatus,
  type SchedulerName,
  type TaskEdge,
  type TaskGroup,
} from '@mutirao/core/messages';
import { sayCause, sayReason } from '@mutirao/api/reasons';
import { QueueModel } from '@mutirao/core/site-selection';
import { aGroup, aJob, aMachine, anEnd } from './broker.ts';
import { aReservation } from './claimed-reservation.ts';
import { describeBytes } from '@mutirao/core/shared';
import { readAlternatives, readCapacity, readRequest, requestOfGroup, readUsage } from './harness-resources.ts';

type Options = Readonly<Record<string, string>>;

/**
 * A broker spoken to in lines, for interaction files. The lines of a stanza are one batch of inputs; what follows from
 * it are
 * changes (`r1 of 1.0 accepted: finished`; tasks are `job.index`) and commands. Times are small numbers.
 *
 * Verbs: `at T`, `provider P`, `connect P [leases|resource] [resource=R]`,
 * `resource P PROCESSORS [most=WIDTH] [queue=WIDTHxTIME,..] [own=WORK] [age=T] [trouble=..] [draining=yes]`,
 * `resource P machines`, `drain P [SINCE] [REASON] [now=yes]`, `undrain P`, `settle P`, `confirm P LEASE`,
 * `disconnect P`, `submit USER COUNT [key=.. replicas=.. failures=.. processors=.. scheduler=.. cap=idle|N%
 * requirements=.. check=.. input=.. output=.. noop=yes deadline=.. verify=.. gang=yes reservation=7:1000-5000x2
 * memory=16G auto=yes grow=2 gpus=0.5 named=licence:2 asks=8G/1,16G time=9 or=4+8G@20,8@50 after=wait own=yes of=USER edges=0>1,0>2 times=10,20,30 reads=yes taken=0,1 widths=1,2,1-4 site selection=.. limit=T]`,
 * `cancel USER JOB`, `retry USER JOB [INDEXES] [now=PATH:FINGERPRINT]`, `join P/M [processors=.. scheduler=..
 * cap=idle|N%
 * memory=64G gpus=2:a100 named=licence:3 until=.. incarnation=.. request=.. held=1,2 gone=yes gangs=yes identity=.. inside=7:1000-5000x2 NAME=VALUE]`,
 * `lose P/M REASON`, `report P/M SEQUENCE [started R@T] [held R@HOST] [OUTCOME R T..T] [wrote=500] [used=2G]`,
 * `request P/N STATUS width=.. walltime=.. [code=CODE] [inside=7:1000-5000x2 over=CODE moved=2000-6000x3]`,
 * `staged P/M PATH:SIZE ..`, `unstartable R`, `accepted R`, `refused R [CODE]`, `digest R TEXT`, `quarantine M`,
 * `reset-trust M`, `drain-machine M [REASON]`, `undrain-machine M`, `explain ..`, `ledger`, `restart`, `events`.
 */
export class BrokerHarness {
  state: BrokerState;
  now = 0;
  readonly #options: Partial<BrokerOptions>;
  #lastChanges: readonly BrokerChange[] = [];

  constructor(options: Partial<BrokerOptions> = {}) {
    this.#options = options;
    this.state = createBrokerState(options);
  }

  /** Performs a stanza and describes what came of it. */
  perform(lines: readonly string[]): string {
    const inputs: BrokerInput[] = [];
    const answers: string[] = [];
    for (const line of lines) {
      const asked = this.#ask(line);
      if (asked === undefined) inputs.push(...this.#listInputs(line));
      else answers.push(...asked);
    }
    if (inputs.length === 0) return answers.join('\n');
    const { changes, commands } = brokerMachine.step(this.state, inputs, this.now);
    brokerMachine.checkInvariants(this.state);
    this.#lastChanges = changes;
    return [...changes.flatMap(describeChange), ...commands.flatMap(describeBrokerCommand), ...answers].join('\n');
  }

  /** Answers lines that are questions, not inputs. */
  #ask(line: string): string[] | undefined {
    const [verb = '', first = '', second = '', third = ''] = line.split(' ');
    switch (verb) {
      case 'explain':
        return describeExplanation(this.#explain(first, second, third));
      case 'ledger':
        return findLedger(this.state, this.now).map((row) => {
          const { providerId, requestId, requested, held, used, losers, killed, idle } = row;
          return (
            `${providerId}/${requestId}: requested ${requested} held ${held} = used ${used} + losers ${losers} + ` +
            `killed ${killed} + idle ${idle}`
          );
        });
      case 'events':
        return this.#lastChanges
          .flatMap(listEvents)
          .map(({ type, jobId, taskIndexes, machineId, reason }) =>
            `${type} ${jobId} [${taskIndexes.join(' ')}] ${machineId} ${sayCause(reason)}`.trimEnd(),
          );
      case 'restart':
        this.state = restore(snapshot(this.state), this.#options);
        return resume(this.state, this.now).flatMap(describeBrokerCommand);
      default:
        return undefined;
    }
  }

  #explain(noun: string, name: string, userId: string): Explanation | undefined {
    if (noun === 'request') return explainRequest(this.state, name, this.now);
    if (noun === 'machine') return explainMachine(this.state, { machineId: name, userId }, this.now);
    const [jobId = 0, taskIndex = 0] = name.split('.').map(Number);
    if (noun === 'job') return explainJob(this.state, userId, jobId, this.now);
    return explainTask(this.state, { userId, jobId, taskIndex, past: [] }, this.now);
  }

  #listInputs(line: string): BrokerInput[] {
    const words = line.split(' ');
    const [verb = '', name = '', third = ''] = words;
    const options = listOptions(words);
    switch (verb) {
      case 'at':
        this.now = Number(name);
        return [{ kind: 'TimerFired' }];
      case 'clock':
        this.now += Number(name);
        return [{ kind: 'ClockStepped', by: Number(name) }];
      case 'provider':
        return [
          { kind: 'ProviderAdded', replyTo: 0, providerId: name, address: 'h:1' },
          { kind: 'ProviderConnected', providerId: name },
        ];
      case 'connect':
        return [
          {
            kind: 'ProviderConnected',
            providerId: name,
            ...(third === 'leases' ? { takesLeases: true } : {}),
            ...(third === 'resource' ? { reportsResource: true } : {}),
            resourceId: options['resource'],
          },
        ];
      case 'confirm':
        return [{ kind: 'LeaseConfirmed', providerId: name, sequence: Number(third) }];
      case 'settle':
        return [{ kind: 'ProviderSynced', providerId: name }];
      case 'disconnect':
        return [{ kind: 'ProviderDisconnected', providerId: name, reason: 'connection lost' }];
      case 'submit':
        return [
          {
            kind: 'JobSubmitted',
            replyTo: 1,
            userId: name,
            clientJobId: options['key'] ?? '',
            spec: findSpec(Number(third), options),
          },
        ];
      case 'cancel':
        return [{ kind: 'JobCancelled', replyTo: 2, userId: name, jobId: Number(third), reason: 'enough' }];
      case 'cancel-tasks':
        return [
          {
            kind: 'TasksCancelled',
            replyTo: 5,
            userId: name,
            jobId: Number(third),
            taskIndexes: listNumbers(words[3]),
            reason: 'not these',
          },
        ];
      case 'retry':
        return [
          {
            kind: 'TasksRetried',
            replyTo: 3,
            userId: name,
            jobId: Number(third),
            taskIndexes: listNumbers(words[3]),
            ...(options['now'] === undefined ? {} : { current: [getCurrent(options['now'])] }),
          },
        ];
      case 'forget':
        return [getForget({ name, third, options })];
      default:
        return [getInput(verb, { name, third, options, words })];
    }
  }
}

function getCurrent(text: string): { readonly path: string; readonly fingerprint: string } {
  const [path = '', fingerprint = ''] = text.split(':');
  return { path, fingerprint };
}

interface Line {
  readonly name: string;
  readonly third: string;
  readonly options: Options;
  readonly words: readonly string[];
}

function getForget({ name, third, options }: Omit<Line, 'words'>): BrokerInput {
  return {
    kind: 'JobsForgotten',
    replyTo: 9,
    userId: name,
    jobIds: third.includes('=') ? [] : listNumbers(third),
    ...(options['before'] === undefined ? {} : { endedBefore: Number(options['before']) }),
    ...(options['keep'] === undefined ? {} : { keptCount: Number(options['keep']) }),
  };
}

function appendOf(userId: string, jobId: string, { options, words }: Pick<Line, 'options' | 'words'>): BrokerInput {
  return {
    kind: 'TasksAppended',
    replyTo: 8,
    userId,
    jobId: Number(jobId),
    appendKey: options['key'] ?? '',
    groups: findSpec(Number(words[3]), options).groups,
  };
}

function getInput(verb: string, { name, third, options, words }: Line): BrokerInput {
  const replicaId = Number(name);
  switch (verb) {
    case 'append':
      return appendOf(name, third, { options, words });
    case 'close':
      return { kind: 'JobClosed', replyTo: 9, userId: name, jobId: Number(third) };
    case 'hold':
    case 'release':
      return {
        kind: verb === 'hold' ? 'TasksHeld' : 'TasksReleased',
        replyTo: 8,
        userId: name,
        jobId: Number(third),
        taskIndexes: listNumbers(words[3]),
      };
    case 'update':
      return { kind: 'JobUpdated', replyTo: 9, userId: name, jobId: Number(third), ...readService(options) };
    case 'join':
      return joinOf(name, options);
    case 'lose':
      return { kind: 'MachineLost', machineId: name, reason: third };
    case 'report':
      return {
        kind: 'MachineReported',
        machineId: name,
        report: reportOf(
          Number(third),
          words.slice(3).filter((word) => !word.includes('=')),
          options,
        ),
      };
    case 'standing':
      return statusOf(name, third, words[3] ?? '');
    case 'drain':
      return {
        kind: 'DrainingReported',
        providerId: name,
        draining: {
          since: Number(third || '0'),
          reason: words[3] ?? '',
          ...(options['now'] === undefined ? {} : { isAtOnce: true }),
        },
      };
    case 'undrain':
      return { kind: 'DrainingReported', providerId: name, draining: undefined };
    case 'resource':
      return resourceOf(name, third, options);
    case 'request':
      return findRequest(name, third as RequestStatus, options);
    case 'unstartable':
      return { kind: 'ReplicaUnstartable', replicaId, reason: 'MUT_INPUT_MISSING', detail: 'a.txt is not there' };
    case 'accepted':
      return { kind: 'ResultAccepted', replicaId };
    case 'staged':
      return getStaged(name, words.slice(2));
    case 'refused':
      return { kind: 'ResultRefused', replicaId, reason: third === '' ? 'MUT_CHECK_FAILED' : third, detail: '' };
    case 'digest':
      return { kind: 'ResultDigested', replicaId, digest: third };
    case 'quarantine':
      return { kind: 'MachineQuarantined', replyTo: 4, machineId: name, reason: 'seen lying' };
    case 'drain-machine':
      return { kind: 'MachineDrained', replyTo: 6, machineId: name, reason: third };
    case 'remove-provider':
      return { kind: 'ProviderRemoved', replyTo: 8, providerId: name };
    case 'undrain-machine':
      return { kind: 'MachineUndrained', replyTo: 7, machineId: name };
    case 'reset-trust':
      return { kind: 'MachineTrustReset', replyTo: 5, machineId: name };
    default:
      throw new Error(`no such verb: ${verb}`);
  }
}

function listOptions(words: readonly string[]): Options {
  return Object.fromEntries(
    words
      .filter((word) => word.includes('='))
      .map((word) => {
        const at = word.indexOf('=');
        return [word.slice(0, at), word.slice(at + 1).replaceAll('_', ' ')];
      }),
  );
}

function listNumbers(text: string | undefined): number[] {
  return text === undefined || text === '' ? [] : text.split(',').map(Number);
}

function getGrowth({ grow, auto }: Options): Pick<JobSpec, 'memoryGrowth' | 'memoryAuto'> {
  return {
    ...(grow === undefined ? {} : { memoryGrowth: Number(grow) }),
    ...(auto === undefined ? {} : { memoryAuto: true }),
  };
}

function findSpec(count: number, options: Options): JobSpec {
  const output = {
    root: 'playpen' as const,
    path: options['output'] ?? '',
    localPath: `/home/${options['output']}`,
    condition: '',
  };
  const group = aGroup(count, {
    requirements: options['requirements'] ?? '',
    check: options['check'] ?? '',
    noOp: options['noop'] === 'yes',
    outputs: options['output'] === undefined ? [] : [output],
    inputs:
      options['input'] === undefined
        ? []
        : [{ source: { kind: 'path', path: options['input'] }, root: 'playpen', path: 'in', condition: '' }],
  });
  return aJob(1, {
    ...getOpen(options),
    groups: fillGroups(count, group, options),
    ...readRequest(options),
    ...getGrowth(options),
    replicasMax: Number(options['replicas'] ?? 2),
    failuresMax: Number(options['failures'] ?? 3),
    processors: Number(options['processors'] ?? 1),
    ...findGang(options),
    deadline: options['deadline'] === undefined ? undefined : Number(options['deadline']),
    ...getEdges(options),
    ...getTaken(options),
    ...getScheduling(options),
    verification: getVerification(options['verify']),
    ...findReservation(options),
    ...findSiteSelection(options),
    ...readService(options),
    ...readGates(options),
  });
}

/** `awaits=succeeded:1,each:2 begin=5000 expire=9000`. */
function readGates({ awaits, begin, expire }: Options): Pick<JobSpec, 'after' | 'beginAt' | 'expireAt'> {
  return {
    ...(awaits === undefined ? {} : { after: awaits.split(',').map(readDependency) }),
    ...(begin === undefined ? {} : { beginAt: Number(begin) }),
    ...(expire === undefined ? {} : { expireAt: Number(expire) }),
  };
}

function readDependency(text: string): JobDependency {
  const [condition = '', jobId = ''] = text.split(':');
  return { jobId: Number(jobId), condition: condition as DependencyCondition };
}

function getOpen({ open }: Options): Pick<JobSpec, 'open'> {
  return open === undefined ? {} : { open: true };
}

/** None of an open job without tasks. */
function fillGroups(count: number, group: TaskGroup, options: Options): TaskGroup[] {
  if (count === 0 && options['open'] !== undefined) return [];
  return listGroups(group, options).map((one, index) => ({
    ...one,
    ...getWidths(options, index),
    ...requestOfGroup(options, index),
    ...readAlternatives(options),
  }));
}

/** How a job is served, as options of its submission and of an update say. */
function readService({ priority, running, held }: Options): {
  readonly priority?: number;
  readonly runningMax?: number;
  readonly isHeld?: true;
} {
  return {
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(running === undefined ? {} : { runningMax: Number(running) }),
    ...(held === undefined ? {} : { isHeld: true }),
  };
}

/** Of each group, where there is one for each task. */
function getWidths({ widths = '' }: Options, index: number): Pick<TaskGroup, 'processors' | 'processorsMax'> {
  const [processors, processorsMax] = (widths.split(',')[index] ?? '').split('-').map(Number);
  return {
    ...(processors === undefined || processors === 0 ? {} : { processors }),
    ...(processorsMax === undefined ? {} : { processorsMax }),
  };
}

/** With times each task is a group of its own, and also where each reads what those that it waits for wrote. */
function listGroups(group: TaskGroup, { times, edges = '', reads }: Options): TaskGroup[] {
  if (reads === 'yes') return listReaders(group, getEdges({ edges }).edges ?? []);
  return times === undefined
    ? [group]
    : listNumbers(times).map((expectedTime) => ({ ...group, values: { kind: 'list', values: ['x'] }, expectedTime }));
}

function listReaders(group: TaskGroup, edges: readonly TaskEdge[]): TaskGroup[] {
  const count = Math.max(...edges.flatMap(({ from, to }) => [from, to])) + 1;
  const outputs: TaskGroup['outputs'] = [{ root: 'playpen', path: 'out', localPath: '', condition: '' }];
  return Array.from({ length: count }, (_, index) => ({
    ...group,
    values: { kind: 'list', values: ['x'] },
    outputs,
    inputs: edges
      .filter(({ to }) => to === index)
      .map(({ from }) => ({
        source: { kind: 'output', taskIndex: from, path: 'out' },
        root: 'playpen',
        path: `in-${from}`,
        condition: '',
      })),
  }));
}

function getEdges({ edges }: Options): Pick<JobSpec, 'edges'> {
  if (edges === undefined) return {};
  return {
    edges: edges
      .split(',')
      .map((edge) => edge.split('>').map(Number))
      .map(([from = NaN, to = NaN]) => ({ from, to })),
  };
}

/** Taken over from job 1, where tasks have the same indexes. */
function getTaken({ taken }: Options): Pick<JobSpec, 'resumes'> {
  return taken === undefined
    ? {}
    : {
        resumes: {
          jobId: 1,
          tasks: listNumbers(taken).map((taskIndex) => ({ taskIndex, jobId: 1, fromTaskIndex: taskIndex })),
        },
      };
}

function findGang({ gang }: Options): Pick<JobSpec, 'gang' | 'replicasMax'> | undefined {
  return gang === 'yes' ? { gang: true, replicasMax: 1 } : undefined;
}

function findReservation({ reservation, after = 'continue', own, of = 'ann' }: Options): Pick<JobSpec, 'reservation'> {
  return reservation === undefined
    ? {}
    : {
        reservation: {
          ...aReservation(reservation, { userId: of }),
          after: after as OnReservationEnd,
          ...(own === undefined ? {} : { isOwn: true }),
        },
      };
}

function getVerification(text: string | undefined): JobSpec['verification'] {
  const [kind = '', value = ''] = text?.split(':') ?? [];
  if (kind === 'vote') return { kind, count: Number(value) };
  if (kind === 'credibility') return { kind, threshold: Number(value) };
  return kind === 'none' || kind === 'check' ? { kind } : undefined;
}

function findSiteSelection({
  siteSelection,
  limit,
}: Options): Pick<JobSpec, 'siteSelection'> & Partial<Pick<JobSpec, 'limits'>> {
  return {
    ...(siteSelection === undefined ? {} : { siteSelection }),
    ...(limit === undefined ? {} : { limits: { runTimeMax: Number(limit), memoryMax: 0, outputMax: 0 } }),
  };
}

function getScheduling({ scheduler, cap }: Options): Pick<JobSpec, 'scheduler' | 'replicationCap'> {
  return {
    ...(scheduler === undefined ? {} : { scheduler: scheduler as SchedulerName }),
    ...(cap === undefined ? {} : { replicationCap: getCap(cap) }),
  };
}

function getCap(text: string): ReplicationCap {
  return text.endsWith('%') ? { kind: 'share', percent: parseInt(text, 10) } : { kind: text as 'none' | 'idle' };
}

function getDelay(delay: string | undefined): { readonly reportDelay?: number } {
  return delay === undefined ? {} : { reportDelay: Number(delay) };
}

function joinOf(machineId: string, options: Options): BrokerInput {
  const { processors, until, incarnation, request, held, identity, inside, gone, gangs, delay, ...others } = options;
  const { memory: _memory, gpus: _gpus, named: _named, ...attributes } = others;
  const facts = aMachine(machineId, {
    processors: Number(processors ?? 1),
    until: until === undefined ? undefined : Number(until),
    incarnation: incarnation ?? 'a',
    requestId: request ?? '',
    attributes,
    ...(identity === undefined ? {} : { identity }),
    ...(inside === undefined ? {} : { reservation: nameReservation(aReservation(inside)) }),
    ...(gangs === 'yes' ? { takesGangs: true } : {}),
    ...getDelay(delay),
    ...readCapacity(options),
  });
  return {
    kind: 'MachineJoined',
    providerId: machineId.split('/')[0] ?? '',
    facts,
    heldReplicaIds: listNumbers(held),
    ...(gone === 'yes' ? { isGone: true } : {}),
  };
}

/** What a replica wrote is known by it, and of the size that is said. */
function listOutputs(replicaId: number, wrote: string | undefined): ReplicaEnd['outputs'] {
  if (wrote === undefined) return [];
  return [
    {
      outputIndex: 0,
      path: '',
      content: { sha256: `of r${replicaId}`, size: Number(wrote) },
      mode: 0o644,
      inline: undefined,
      transferId: '',
    },
  ];
}

function reportOf(sequence: number, words: readonly string[], options: Options): MachineReport {
  const started: { replicaId: number; startedAt: number }[] = [];
  const ended: ReplicaEnd[] = [];
  const gangMemberReady: GangMemberReady[] = [];
  for (let at = 0; at < words.length; ) {
    const verb = words[at] ?? '';
    if (verb === 'started') {
      started.push(startOf(words[at + 1]));
      at += 2;
    } else if (verb === 'held') {
      gangMemberReady.push(getHeld(words[at + 1]));
      at += 2;
    } else {
      const [startedAt = 0, endedAt = 0] = (words[at + 2] ?? '').split('..').map(Number);
      const replicaId = Number(words[at + 1]);
      ended.push({
        ...anEnd(replicaId, verb as Outcome, { startedAt, endedAt }),
        outputs: listOutputs(replicaId, options['wrote']),
        ...readUsage(options),
        ...shutdowns.get(verb),
      });
      at += 3;
    }
  }
  return { sequence, started, ended, ...(gangMemberReady.length === 0 ? {} : { gangMemberReady }) };
}

/** Ends with a reason of their own: the machine is stopping, takes nothing new, or the task used too much memory. */
const shutdowns: ReadonlyMap<string, Pick<ReplicaEnd, 'outcome' | 'reason'>> = new Map([
  ['stopped', { outcome: 'broken', reason: 'MUT_AGENT_STOPPED' }],
  ['draining', { outcome: 'broken', reason: 'MUT_DRAINING' }],
  ['greedy', { outcome: 'limited', reason: 'MUT_MEMORY_MAX' }],
  ['starved', { outcome: 'failed', reason: 'MUT_OUT_OF_MEMORY' }],
]);

function startOf(text = ''): MachineReport['started'][number] {
  const [replicaId = 0, startedAt = 0] = text.split('@').map(Number);
  return { replicaId, startedAt };
}

function getHeld(text = ''): GangMemberReady {
  const [replicaId = '', name = ''] = text.split('@');
  return { replicaId: Number(replicaId), name: `ann@${name}`, addresses: [`${name}:1`] };
}

function findRequest(name: string, status: RequestStatus, options: Options): BrokerInput {
  const [providerId = '', requestId = ''] = name.split('/');
  const time = (key: string): number => Number(options[key] ?? 0);
  return {
    kind: 'RequestsChanged',
    providerId,
    requests: [
      {
        providerId,
        requestId,
        managerRequestId: '',
        width: time('width'),
        walltime: time('walltime'),
        status,
        seenAt: 0,
        submittedAt: time('submitted'),
        startedAt: time('started'),
        endedAt: time('ended'),
        heuristic: 'static',
        reasons: options['why'] === undefined ? [] : [{ code: 'ended-by-manager', cause: options['why'] }],
        ...insideOf(options),
        ...(options['code'] === undefined ? {} : { endCode: options['code'].replaceAll(' ', '_') }),
      },
    ],
  };
}

/** `8 queue=4x1000,8x500`: a queue of such requests, first come first served, the first of which have begun. */
function getWalltime(text: string | undefined): { readonly walltimeMax?: number } {
  return text === undefined ? {} : { walltimeMax: Number(text) };
}

function resourceOf(
  providerId: string,
  size: string,
  { most = size, queue, own = '0', age = '0', trouble = '', draining, walltime }: Options,
): BrokerInput {
  const [processors, isDraining] = [Number(size), draining === 'yes'];
  if (size === 'machines')
    return {
      kind: 'ResourceReported',
      providerId,
      resourceStatus: { processors: 0, widthMax: 0, isTimeShared: true, isDraining },
    };
  const resourceStatus = {
    processors,
    widthMax: Number(most),
    isTimeShared: false,
    isDraining,
    ...getWalltime(walltime),
  };
  if (queue === undefined) return { kind: 'ResourceReported', providerId, resourceStatus };
  const book = new QueueModel(processors);
  for (const [id, entry] of queue
    .split(',')
    .filter((word) => word !== '')
    .entries()) {
    const [width = 0, walltime = 0] = entry.split('x').map(Number);
    book.add(id, { width, walltime, submittedAt: 0 }, 0);
  }
  return {
    kind: 'ResourceReported',
    providerId,
    resourceStatus: {
      ...resourceStatus,
      queue: { age: Number(age), trouble, ownWork: Number(own), known: book.summarize(0) },
    },
  };
}

/**
 * The claim that was shown, where its reservation is now, and what is held for it:
 * `7:20000-60000x2 30000-70000x3 held:3`; nothing for nothing.
 */
function statusOf(providerId: string, inside: string, now: string): BrokerInput {
  const [, startsAt = '0', endsAt = '0', amount = '1', status = 'planned', held = '0'] =
    /^(\d+)-(\d+)x(\d+)=(\w+):(\d+)$/.exec(now) ?? [];
  const ahead: Provisioning = {
    status: status as ProvisioningState,
    heldCount: Number(held),
    askedCount: 0,
    askAt: 0,
    expectedAt: 0,
    chance: undefined,
    reasons: [],
  };
  const resourceStatus = {
    reservation: nameReservation(aReservation(inside)),
    startsAt: Number(startsAt),
    endsAt: Number(endsAt),
    amount: Number(amount),
    ahead,
  };
  return { kind: 'StatusesReported', providerId, statuses: [resourceStatus] };
}

/** Codes keep their underscores. */
function insideOf({ inside, over = '', moved }: Options): { readonly reservation?: RequestReservation } {
  if (inside === undefined) return {};
  const [startsAt = 0, endsAt = 0, amount] = (moved ?? '').split(/[-x]/).map(Number);
  return {
    reservation: {
      ...nameReservation(aReservation(inside)),
      overCode: over.replaceAll(' ', '_'),
      ...(moved === undefined ? {} : { movedTo: { startsAt, endsAt, ...(amount === undefined ? {} : { amount }) } }),
    },
  };
}

/** A file is known by its path. */
function getStaged(machineId: string, files: readonly string[]): BrokerInput {
  const sources = files.map((file) => {
    const [path = '', size = ''] = file.split(':');
    return { path, contents: [{ sha256: path, size: Number(size) }] };
  });
  return { kind: 'InputsStaged', machineId, sources, contents: sources.flatMap(({ contents }) => contents) };
}

function describeChange(change: BrokerChange): string[] {
  switch (change.kind) {
    case 'ReplicasEnded':
      return change.endings.map(
        ({ replicaId, taskIndex, disposition, taskStatus, reason }) =>
          `r${replicaId} of ${change.jobId}.${taskIndex} ${disposition}: ` +
          `${taskStatus}${reason === '' ? '' : ` (${reason})`}`,
      );
    case 'ReplicaVerifying':
      return [`r${change.ending.replicaId} of ${change.jobId}.${change.ending.taskIndex} verifying`];
    case 'ResultsDoubted':
      return [
        `doubt ${change.taskIndexes.map((index) => `${change.jobId}.${index}`).join(', ')} because of ` +
          `${change.machineId}`,
      ];
    case 'EvidenceNoted':
      return [
        `${change.isQuarantined ? 'caught' : 'suspected'} ${change.machineId} (${change.evidence.kind} ` +
          `${change.evidence.jobId}.${change.evidence.taskIndex})`,
      ];
    case 'MachineTrustReset':
      return [`reset ${change.machineId}`];
    case 'MachineDrained':
      return [`machine ${change.machineId} drained`];
    case 'ProviderRemoved':
      return [`provider ${change.providerId} removed`];
    case 'MachineUndrained':
      return [`machine ${change.identity} undrained`];
    case 'ReservationLeft':
      return [
        `job ${change.jobId} ${change.waits ? 'waits' : 'goes on'} without its reservation (${change.code}: ` +
          `${sayReason(change.reason)})`,
      ];
    case 'JobEnded':
      return [`job ${change.jobId} ${change.status}`];
    case 'TasksAssigned':
      return change.assignments.map(
        ({ taskIndex, providerId, startsBy, reason }) =>
          `${change.jobId}.${taskIndex} ` +
          `${providerId === '' ? 'without a place' : `at ${providerId}`}${startsBy === undefined ? '' : `, to start by ${startsBy}`} ` +
          `(${sayCause(reason)})`,
      );
    case 'MembersHeld':
      return [`${change.held.map(({ replicaId }) => `r${replicaId}`).join(', ')} held on ${change.machineId}`];
    case 'GangStarted':
      return [`gang ${change.gangId} started`];
    case 'ReplicasGivenUp':
      return [`${change.replicaIds.map((id) => `r${id}`).join(', ')} given up`];
    case 'ReplicaLetGo':
      return [
        `r${change.replicaId} of ${change.jobId}.${change.taskIndex} let go on ${change.machineId}: ${change.taskStatus}`,
      ];
    case 'MachineJoined':
      return [`machine ${change.facts.machineId} joined`];
    case 'MachineLost':
      return [`machine ${change.machineId} lost (${change.reason})`];
    default:
      return [];
  }
}

/** A broker's command in one line; none for what says nothing of policy (acknowledgements). */
export function describeBrokerCommand(command: BrokerCommand): string[] {
  switch (command.kind) {
    case 'Reply':
      return [
        command.reply.ok
          ? `reply ${JSON.stringify(command.reply.value)}`
          : `refuse ${command.reply.code}: ${sayReason(command.reply.fault)}`,
      ];
    case 'WakeAt':
      return [`wake at ${command.at}`];
    case 'DisconnectProvider':
      return [`disconnect from ${command.providerId}`];
    case 'ConnectProvider':
      return [`connect to ${command.providerId}`];
    case 'SetDemand':
      return [describeDemand(command)];
    case 'StartReplicas':
      return [describeStart(command)];
    case 'StartGang':
      return [
        `go r${command.start.replicaId} on ${command.machineId}: ` +
          `${command.start.members.map(({ name, processors }) => `${name} ${processors}`).join(', ')}`,
      ];
    case 'RevokeLease':
      return [`${command.replicaIds.map((id) => `r${id}`).join(', ')} of the lease of ${command.providerId} placed`];
    case 'GrantLease':
      return [
        `lease ${command.sequence} for ${command.providerId}: ` +
          `${describeLeased(command.parts)}${command.quarantined === undefined ? '' : `, nothing for ${command.quarantined.join(', ')}`}`,
      ];
    case 'CancelReplicas':
      return [
        `${command.onlyWaiting ? 'withdraw' : 'cancel'} ${command.replicaIds.map((id) => `r${id}`).join(', ')} ` +
          `on ${command.machineId}`,
      ];
    case 'AcceptResult':
      return [
        `accept r${command.replicaId} of ${command.jobId}.${command.taskIndex} from ` +
          `${command.machineId}${command.check === '' ? '' : `, check ${command.check}`}`,
      ];
    case 'DigestResult':
      return [
        `digest r${command.replicaId} of ${command.jobId}.${command.taskIndex} from ` +
          `${command.machineId}${command.check === '' ? '' : `, check ${command.check}`}`,
      ];
    case 'AcknowledgeReport':
      return [];
  }
}

function describeDemand({ providerId, demand }: Extract<BrokerCommand, { kind: 'SetDemand' }>): string {
  const { pendingTasks, processors, gangProcessors, taskTimeMax, taskTimeMean, reserved = [] } = demand;
  const gang = gangProcessors === undefined ? '' : `, ${gangProcessors} at once`;
  const times = taskTimeMax === undefined ? '' : `, ${taskTimeMean} ms each, ${taskTimeMax} at most`;
  return (
    `demand of ${providerId}: ${pendingTasks} tasks of ` +
    `${processors}${gang}${times}${reserved.map((want) => `, ${want.processors} processors inside ` + `${want.reservationId}${want.hasMoved === true ? `, now ${want.startsAt}-${want.endsAt}` : ''}`).join('')}`
  );
}

function describeStart({
  jobId,
  starts,
  machineId,
  processors,
  gang,
  memory,
  alternative,
}: Extract<BrokerCommand, { kind: 'StartReplicas' }>): string {
  const width = processors === undefined ? '' : ` with ${processors}`;
  const place = gang === undefined ? '' : ` as ${gang.rank} of ${gang.members} with ${gang.processors}`;
  return (
    `start ${starts.map(({ replicaId, taskIndex }) => `r${replicaId} of ${jobId}.${taskIndex}`).join(', ')} on ` +
    `${machineId}${width}${place}${memory === undefined ? '' : ` with ${describeBytes(memory)}`}` +
    (alternative === undefined ? '' : ` by alternative ${alternative}`)
  );
}

function describeLeased(parts: Extract<BrokerCommand, { kind: 'GrantLease' }>['parts']): string {
  const starts = parts.flatMap((part) =>
    part.starts.map(({ replicaId, taskIndex }) => `r${replicaId} of ${part.jobId}.${taskIndex}`),
  );
  return starts.length === 0 ? 'nothing' : starts.join(', ');
}

function describeExplanation(explanation: Explanation | undefined): string[] {
  return explanation === undefined
    ? ['nothing to explain']
    : [
        [explanation.summary, ...(explanation.waiting === undefined ? [] : [explanation.waiting])]
          .map((reason) => sayReason(reason))
          .join(' '),
        ...explanation.details.map((reason) => `- ${sayReason(reason)}`),
      ];
}
