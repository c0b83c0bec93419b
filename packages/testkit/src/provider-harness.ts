import {
  providerDefaults,
  providerMachine,
  createProviderState,
  getClientRequestId,
  type ProviderChange,
  type ProviderCommand,
  type ProviderConfig,
  type ProviderInput,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import type { ReportHealth } from '@mutirao/core/bag';
import type {
  AllocationRequest,
  Demand,
  DrainingStatus,
  HonouredReservation,
  LeaseOutline,
  QueueListing,
  QueuedRequest,
  ReservedStatus,
  ReservedWindow,
  ResourceStatus,
} from '@mutirao/core/messages';
import { sayReason } from '@mutirao/api/reasons';
import { aReservation } from './claimed-reservation.ts';

/**
 * A provider machine that is spoken to in lines, for interaction files and short tests; where nothing else is said,
 * `static` decides, since what it asks for is plain.
 *
 * Lines: `at T`, `start`, `limits requests=R width=W walltime=T`, `connect B [instance=I] [resource]`, `disconnect B`,
 * `demand B N [xP [elsewhere=T] [gang=P] [stated=T]] [inside=7:1000-5000x4/3]`, `accepted Q`,
 * `lease B SEQUENCE horizon=T [caught=I,J] FIRST-LAST[:inputs|:time=T|:NAME=VALUE] ...`, `trim B IDS`,
 * `stocked B lease=S IDS`, `report M SEQUENCE ENDED|- [BYTES [sound|broken|full|silent]]`, `unstartable M IDS`,
 * `acknowledge B M SEQUENCE`,
 * `refused Q WHY`, `unknown Q`, `released Q`,
 * `listing [at=T] [free=P] [honours=7:1000-5000x4] Q=queued[@T] Q=running@T Q=ended@T:WHY ...` (a local user's:
 * `NAME=running@T/WIDTHxWALLTIME`, or `queued`, or `held` for something else than processors),
 * `listing-failed WHY`, `settings HEURISTIC default=T` (what a restart after this line starts it with),
 * `attach M [held=1,2] [incarnation=I] [identity=I]` (M is `q1.0`, or a name for a time-shared machine), `detach M`,
 * `left M`,
 * `windows [7:1000-5000x4 ...|none]`, `judged 7:1000-5000x4 [CODE]`,
 * `measured Q longest=T total=T count=N [shortest=T squares=N]`, `seen M=SINCE ...`, `drain [WHY]`, `drain-now [WHY]`,
 * `undrain`, `give-back WHY`, `heuristic [NAME] [default=T]`, `restart` (a new machine from the changes so far).
 */
export class ProviderHarness {
  config: ProviderConfig;
  state: ProviderState;
  now = 1;
  readonly journal: ProviderChange[] = [];
  private connections = 0;
  private readonly openConnections = new Map<string, number>();
  private attachments = 0;
  private readonly openAttachments = new Map<string, number>();

  constructor(config: Partial<ProviderConfig> = {}) {
    this.config = { ...providerDefaults, providerId: 'p', heuristic: 'static', ...config };
    this.state = createProviderState(this.config);
  }

  /** Performs a batch of lines in one step, and answers its commands in lines. */
  perform(lines: readonly string[]): string {
    const inputs = lines.flatMap((line) => this.getInput(line));
    return this.step(inputs).map(describeProviderCommand).join('\n');
  }

  /** Steps the machine, keeps its changes and checks its invariants. */
  step(inputs: readonly ProviderInput[]): ProviderCommand[] {
    const decision = providerMachine.step(this.state, inputs, this.now);
    this.journal.push(...decision.changes);
    providerMachine.checkInvariants(this.state);
    return decision.commands;
  }

  /** Starts a new machine from the journal alone. */
  restart(): ProviderInput {
    this.state = createProviderState(this.config);
    for (const change of this.journal) providerMachine.apply(this.state, change);
    this.openConnections.clear();
    this.openAttachments.clear();
    return { kind: 'ProviderStarted', instance: 'another' };
  }

  private getInput(line: string): ProviderInput[] {
    const [verb = '', first = '', ...rest] = line.split(' ');
    const plain = this.plainInput(verb, first, rest.join(' '));
    if (plain !== undefined) return [plain];
    switch (verb) {
      case 'at':
        this.now = Number(first);
        return this.state.wakeAt > 0 && this.state.wakeAt <= this.now ? [{ kind: 'TimerFired' }] : [];
      case 'clock':
        this.now += Number(first);
        return [{ kind: 'ClockStepped', by: Number(first) }];
      case 'settings':
        this.config = {
          ...this.config,
          heuristic: first,
          heuristicOptions: { ...this.config.heuristicOptions, defaultTime: getValues(rest.join(' '))['default'] ?? 0 },
        };
        return [];
      case 'restart':
        return [this.restart()];
      case 'listing':
        return [this.findListing([first, ...rest].filter((word) => word !== ''))];
      case 'connect':
        return [this.connectionOf(first, rest)];
      case 'disconnect':
        return [{ kind: 'BrokerDisconnected', brokerId: first, connectionId: this.openConnections.get(first) ?? 0 }];
      case 'attach':
        return [this.attachmentOf(first, rest)];
      case 'detach':
      case 'left':
        return [
          {
            kind: 'AgentDetached',
            machineId: `p/${first}`,
            attachmentId: this.openAttachments.get(first) ?? 0,
            hasLeft: verb === 'left',
          },
        ];
      default:
        throw new Error(`no such line: ${line}`);
    }
  }

  private plainInput(verb: string, first: string, rest: string): ProviderInput | undefined {
    const numbers = getValues(`${first} ${rest}`);
    switch (verb) {
      case 'start':
        return { kind: 'ProviderStarted', instance: 'i' };
      case 'limits': {
        const { requests = 1, width = 1, walltime = 1, node } = numbers;
        const wholeNodes = node === undefined ? {} : { widthGranularity: node };
        return {
          kind: 'LimitsRead',
          limits: {
            processors: width,
            requestsMax: requests,
            widthMax: width,
            walltimeMax: walltime,
            walltimeGranularity: 1,
            ...wholeNodes,
          },
        };
      }
      case 'demand':
        return getDemand(first, rest);
      case 'windows':
        return {
          kind: 'WindowsReported',
          windows: [first, rest]
            .join(' ')
            .split(' ')
            .filter((word) => word !== '' && word !== 'none')
            .map(getWindow),
        };
      case 'judged':
        return { kind: 'ClaimJudged', claim: aReservation(first).claim, code: rest };
      case 'accepted':
        return { kind: 'SubmitAccepted', requestId: first, managerRequestId: `m-${first}` };
      case 'refused':
        return getRefusal(first, rest);
      case 'unknown':
        return { kind: 'SubmitUnknown', requestId: first, reason: rest };
      case 'released':
        return { kind: 'ReleaseDone', requestId: first };
      case 'listing-failed':
        return { kind: 'QueueReadFailed', reason: `${first} ${rest}`.trim() };
      case 'give-back':
        return { kind: 'GiveBackAsked', replyTo: 1, reason: `${first} ${rest}`.trim() };
      case 'drain':
      case 'drain-now':
        return {
          kind: 'DrainAsked',
          replyTo: 1,
          reason: `${first} ${rest}`.trim(),
          ...(verb === 'drain' ? {} : { isAtOnce: true }),
        };
      case 'undrain':
        return { kind: 'UndrainAsked', replyTo: 1 };
      case 'heuristic':
        return {
          kind: 'HeuristicAsked',
          replyTo: 1,
          heuristic: first.includes('=') ? '' : first,
          defaultTime: numbers['default'],
        };
      case 'measured':
        return getMeasured(first, numbers);
      case 'seen':
        return {
          kind: 'TasksSeen',
          machines: Object.entries(numbers).map(([machine, since]) => [`p/${machine}`, since] as const),
        };
      default:
        return this.leaseInput(verb, first, rest.split(' '));
    }
  }

  private leaseInput(verb: string, first: string, rest: readonly string[]): ProviderInput | undefined {
    switch (verb) {
      case 'lease':
        return {
          kind: 'LeaseGranted',
          brokerId: first,
          connectionId: this.openConnections.get(first) ?? 0,
          lease: getLease(rest),
        };
      case 'trim':
        return {
          kind: 'LeaseRevoked',
          brokerId: first,
          connectionId: this.openConnections.get(first) ?? 0,
          replicaIds: listIds(rest[0] ?? ''),
        };
      case 'report':
        return this.reportOf(first, rest);
      case 'unstartable':
        return {
          kind: 'LeasedUnstartable',
          machineId: `p/${first}`,
          attachmentId: this.openAttachments.get(first) ?? 0,
          replicaIds: listIds(rest[0] ?? ''),
        };
      case 'acknowledge':
        return {
          kind: 'SpooledAcknowledged',
          brokerId: first,
          machineId: `p/${rest[0] ?? ''}`,
          sequence: Number(rest[1]),
        };
      case 'stocked':
        return {
          kind: 'InputsStaged',
          brokerId: first,
          sequence: getValues(rest.join(' '))['lease'] ?? 0,
          replicaIds: listIds(rest.at(-1) ?? ''),
        };
      default:
        return undefined;
    }
  }

  private connectionOf(brokerId: string, words: readonly string[]): ProviderInput {
    const instance = words.find((word) => word.startsWith('instance='))?.slice(9);
    return {
      kind: 'BrokerConnected',
      brokerId,
      connectionId: this.open(brokerId),
      ...(instance === undefined ? {} : { instance }),
      ...(words.includes('resource') ? { takesResource: true } : {}),
    };
  }

  private open(brokerId: string): number {
    this.connections += 1;
    this.openConnections.set(brokerId, this.connections);
    return this.connections;
  }

  private attachmentOf(name: string, words: readonly string[]): ProviderInput {
    this.attachments += 1;
    this.openAttachments.set(name, this.attachments);
    const held = words.find((word) => word.startsWith('held='))?.slice(5) ?? '';
    const incarnation = words.find((word) => word.startsWith('incarnation='))?.slice(12) ?? '1';
    const identity = words.find((word) => word.startsWith('identity='))?.slice(9);
    const requestId = name.includes('.') ? (name.split('.')[0] ?? '') : '';
    return {
      kind: 'AgentAttached',
      attachmentId: this.attachments,
      heldReplicaIds: held === '' ? [] : held.split(',').map(Number),
      facts: {
        machineId: `p/${name}`,
        incarnation,
        processors: 1,
        attributes: {},
        until: undefined,
        requestId,
        ...(identity === undefined ? {} : { identity }),
      },
    };
  }

  private reportOf(name: string, words: readonly string[]): ProviderInput {
    const [sequence = '1', ended = '', bytes = '100', health = 'sound'] = words;
    return {
      kind: 'ReportMade',
      machineId: `p/${name}`,
      attachmentId: this.openAttachments.get(name) ?? 0,
      sequence: Number(sequence),
      endedReplicaIds: listIds(ended),
      bytes: Number(bytes),
      health: health as ReportHealth,
    };
  }

  private findListing(words: readonly string[]): ProviderInput {
    const at = Number(words.find((word) => word.startsWith('at='))?.slice(3) ?? this.now);
    const reservations = words
      .filter((word) => word.startsWith('honours='))
      .map((word) => getHonoured(word.slice('honours='.length)));
    const free = words.find((word) => word.startsWith('free='))?.slice(5);
    const requests = words.filter((word) => !/^(at|honours|free)=/.test(word)).map((word) => this.readEntry(word));
    const held = requests.filter(({ status }) => status === 'running').reduce((sum, { width }) => sum + width, 0);
    const listing: QueueListing = {
      at,
      processorsFree: free === undefined ? Math.max(0, (this.state.limits?.processors ?? 0) - held) : Number(free),
      requests,
      ...(reservations.length === 0 ? {} : { reservations }),
    };
    return { kind: 'QueueListed', listing, readAt: at };
  }

  private readEntry(word: string): QueuedRequest {
    const local = /^(\w+)=(queued|held|running)@(-?\d+)\/(-?\d+)x(-?\d+)$/.exec(word);
    if (local !== null) return localEntry(local);
    const entry = parseEntry(word);
    const request = this.state.requests.get(entry.requestId);
    return {
      managerRequestId: `m-${entry.requestId}`,
      userId: 'mutirao',
      width: request?.width ?? 1,
      walltime: request?.walltime ?? 1,
      status: entry.status,
      submittedAt: 1,
      startsAt: entry.status === 'ended' ? (request?.startedAt ?? 0) : entry.at,
      endedAt: entry.status === 'ended' ? entry.at : 0,
      endReason: entry.reason,
      clientRequestId: getClientRequestId(this.state, entry.requestId),
    };
  }
}

function getRefusal(requestId: string, reason: string): ProviderInput {
  return {
    kind: 'SubmitRefused',
    requestId,
    reason,
    ...(reason.includes('MUT_DISK_FULL') ? { isPassing: true } : {}),
    code: /MUT_\w+/.exec(reason)?.[0] ?? '',
  };
}

function getMeasured(
  requestId: string,
  { longest = 0, total = 0, count = 0, shortest, squares }: Record<string, number>,
): ProviderInput {
  return {
    kind: 'TasksMeasured',
    requestId,
    longest,
    total,
    count,
    ...(shortest === undefined ? {} : { shortest }),
    ...(squares === undefined ? {} : { squares }),
  };
}

/** `3,4,9` */
function listIds(text: string): number[] {
  return text === '' || text === '-' ? [] : text.split(',').map(Number);
}

/** `1 horizon=1000 5-9 7-7:os=linux 10-12:inputs 13-13:time=500` */
function getLease([sequence = '1', horizon = '', ...words]: readonly string[]): LeaseOutline {
  const quarantined = words
    .find((word) => word.startsWith('caught='))
    ?.slice('caught='.length)
    .split(',');
  return {
    sequence: Number(sequence),
    horizon: Number(horizon.split('=')[1]),
    ...(quarantined === undefined ? {} : { quarantined }),
    groups: words
      .filter((word) => !word.startsWith('caught='))
      .map((word) => {
        const [range = '', what = ''] = word.split(':');
        const [first = 0, last = 0] = range.split('-').map(Number);
        const hasTime = what.startsWith('time=');
        return {
          replicas: [{ first, count: last - first + 1 }],
          processors: 1,
          hasInputs: what === 'inputs',
          taskTime: hasTime ? Number(what.slice(5)) : 0,
          requirements: what === 'inputs' || hasTime ? '' : what.replace('=', ' = '),
        };
      }),
  };
}

/** A local user's request. */
function localEntry([
  ,
  managerRequestId = '',
  status = '',
  startsAt = '',
  width = '',
  walltime = '',
]: readonly string[]): QueuedRequest {
  return {
    managerRequestId,
    userId: 'local',
    width: Number(width),
    walltime: Number(walltime),
    status: status === 'running' ? 'running' : 'queued',
    submittedAt: 1,
    startsAt: Number(startsAt),
    endedAt: 0,
    endReason: '',
    clientRequestId: '',
    ...(status === 'held' ? { isHeldBack: true } : {}),
  };
}

function parseEntry(word: string): { requestId: string; status: QueuedRequest['status']; at: number; reason: string } {
  const [, requestId = '', status = '', at = '0', reason = ''] =
    /^(\w+)=(\w+)(?:@(-?\d+))?(?::(\w+))?$/.exec(word) ?? [];
  if (status !== 'queued' && status !== 'running' && status !== 'ended')
    throw new Error(`no such entry of a listing: ${word}`);
  return { requestId, status, at: Number(at), reason };
}

function getDemand(brokerId: string, rest: string): ProviderInput {
  const [count = '0', processors = 'x1'] = rest.split(' ').filter((word) => !word.includes('='));
  const { elsewhere, unplaced, gang, stated } = getValues(rest);
  const taskTimes =
    elsewhere === undefined
      ? {}
      : { taskTimes: { count: 1, censoredCount: 0, median: elsewhere, ninetieth: elsewhere, ninetyNinth: elsewhere } };
  return {
    kind: 'DemandChanged',
    brokerId,
    demand: {
      pendingTasks: Number(count),
      processors: Number(processors.slice(1)),
      taskTimeMax: undefined,
      taskTimeMean: undefined,
      deadline: undefined,
      userId: 'ana',
      unplacedTasks: unplaced,
      ...(gang === undefined ? {} : { gangProcessors: gang }),
      ...(stated === undefined ? {} : { statedTime: stated }),
      ...taskTimes,
      ...getReserved(rest),
    },
  };
}

function getHonoured(text: string): HonouredReservation {
  const { reservationId, userId, amount, startsAt, endsAt } = aReservation(text);
  return { reservationId, userId, count: amount, startsAt, endsAt, usedCount: 0, lateBy: 0 };
}

/** `inside=7:1000-5000x4/3`: three processors are wanted of the four. */
function getReserved(text: string): Pick<Demand, 'reserved'> {
  const words = text.split(' ').filter((word) => word.startsWith('inside='));
  const reserved = words.map((word) => {
    const [reservation = '', processors = ''] = word.slice('inside='.length).split('/');
    return { ...aReservation(reservation), processors: Number(processors) };
  });
  return reserved.length === 0 ? {} : { reserved };
}

function getValues(text: string): Record<string, number> {
  const pairs = text
    .split(' ')
    .filter((word) => word.includes('='))
    .map((word) => word.split('='));
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, Number(value)]));
}

/** A provider's command as one line. */
export function describeProviderCommand(command: ProviderCommand): string {
  switch (command.kind) {
    case 'SubmitRequest':
      return (
        `submit ${command.requestId} as ${command.clientRequestId} width=${command.width} ` +
        `walltime=${command.walltime}${command.reservation === undefined ? '' : ` inside ${command.reservation.reservationId} for ${command.userId}`}`
      );
    case 'ReleaseRequest':
      return `release ${command.requestId} (${command.managerRequestId})`;
    case 'ReportMachineJoined': {
      const { facts, heldReplicaIds } = command;
      const until = facts.until === undefined ? '' : ` until=${facts.until}`;
      const kept = command.keptSequences === undefined ? '' : ` with reports ${command.keptSequences.join(',')}`;
      const inside = facts.reservation === undefined ? '' : ` inside ${facts.reservation.reservationId}`;
      const gone = command.isGone === true ? ' (gone)' : '';
      return (
        `tell ${command.brokerId} joined ` +
        `${facts.machineId}${until}${inside}${heldReplicaIds.length === 0 ? '' : ` held=${heldReplicaIds.join(',')}`}${kept}${gone}`
      );
    }
    case 'ReportMachineLost':
      return `tell ${command.brokerId} lost ${command.machineId} ${command.reason}`;
    case 'ReportRequests':
      return (
        `tell ${command.brokerId} requests ` +
        `${command.requests.map((request) => `${request.requestId}=${request.status}${request.reservation === undefined || request.reservation.overCode === '' ? '' : `:${request.reservation.overCode}`}${getMoved(request)}`).join(' ')}`
      );
    case 'ReportSynced':
      return `tell ${command.brokerId} settled`;
    case 'ReattachAgent':
      return `reattach ${command.machineId}`;
    case 'ClearAgent':
      return `clear ${command.machineId} of ${command.heldReplicaIds.join(',')}`;
    case 'RefuseAgent':
      return `refuse agent #${command.attachmentId} ${command.code}: request ${command.requestId} is over`;
    case 'ReportProvisioning':
      return showAhead(command);
    case 'ReportStatuses':
      return [`tell ${command.brokerId} statuses`, ...command.statuses.map(showStatus)].join(' ');
    case 'ReportResource':
      return `tell ${command.brokerId} ${showResource(command.resourceStatus)}`;
    case 'JudgeClaim':
      return `judge claim of ${command.reservation.reservationId}`;
    case 'ReportDraining':
      return `tell ${command.brokerId} ${showDraining(command.draining)}`;
    case 'KeepReports':
      return `keep reports of ${command.machineId}`;
    case 'AcknowledgeSpooled':
      return `acknowledge ${command.sequence} to ${command.machineId}`;
    case 'StartLeased':
      return `start ${command.replicaIds.join(',')} of lease ${command.sequence} on ${command.machineId}`;
    case 'ConfirmLease':
      return `confirm lease ${command.sequence} to ${command.brokerId}`;
    case 'WakeAt':
      return `wake at ${command.at}`;
    case 'Reply':
      return `reply ${command.replyTo} ${command.reply.ok ? 'ok' : command.reply.code}`;
  }
}

function showDraining(draining: DrainingStatus | undefined): string {
  if (draining === undefined) return 'takes work';
  return (
    'draining since ' +
    `${draining.since}${draining.isAtOnce === true ? ', at once' : ''}${draining.reason === '' ? '' : `: ${draining.reason}`}`
  );
}

function showAhead({ reservationId, ahead }: Extract<ProviderCommand, { kind: 'ReportProvisioning' }>): string {
  const { status, heldCount, askedCount, askAt, expectedAt, chance, reasons } = ahead;
  const parts = [
    askAt === 0 ? '' : `to be asked for at ${askAt}`,
    expectedAt === 0 ? '' : `expected at ${expectedAt}`,
    chance === undefined ? '' : `chance ${Math.round(chance * 100)} %`,
    reasons.map((reason) => sayReason(reason)).join(' '),
  ];
  return [
    `tell ahead of ${reservationId}: ${status} ${heldCount}+${askedCount}`,
    ...parts.filter((part) => part !== ''),
  ].join(', ');
}

function showStatus({
  reservation: { reservationId },
  startsAt,
  endsAt,
  amount,
  ahead: { status, heldCount },
}: ReservedStatus): string {
  return `${reservationId}:${startsAt}-${endsAt}x${amount}=${status}:${heldCount}`;
}

/** `resource 8 (6 at once), draining: 2 requests of 5 until 900, 1200 own, 3 free at 0, 5 at 500`. */
function showResource({ processors, widthMax, isTimeShared, isDraining, queue }: ResourceStatus): string {
  const facts =
    'resource ' +
    `${isTimeShared ? 'of machines' : `${processors} (${widthMax} at once)`}${isDraining ? ', draining' : ''}`;
  if (queue === undefined) return facts;
  const {
    age,
    trouble,
    ownWork,
    known: { count, widthSum, lastEnd, free },
  } = queue;
  const read = age === 0 && trouble === '' ? '' : `, read ${age} ago${trouble === '' ? '' : ` (${trouble})`}`;
  return (
    `${facts}${read}: ${count} requests of ${widthSum} until ${lastEnd}, ${ownWork} own, free ` +
    `${free.map((each) => `${each.processors}@${each.at}`).join(' ')}`
  );
}

function getWindow(text: string): ReservedWindow {
  const { reservationId, userId, amount: count, startsAt, endsAt } = aReservation(text);
  return { reservationId, userId, count, startsAt, endsAt };
}

function getMoved({ reservation }: AllocationRequest): string {
  return reservation?.movedTo === undefined
    ? ''
    : ` (inside ${reservation.reservationId}, now ` +
        `${reservation.movedTo.startsAt}-${reservation.movedTo.endsAt}x${reservation.movedTo.amount ?? '?'})`;
}
