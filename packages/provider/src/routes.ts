import {
  boundName,
  boundNumber,
  boundText,
  decodeContent,
  decodeEnrolledMachine,
  decodeMessage,
  encodeAllocationRequest,
  encodeProviderQueue,
  encodeEnrolledMachineState,
  encodeQuotaUses,
  offsetHeader,
} from '@mutirao/api/codecs';
import { encodeReason, encodeReasons } from '@mutirao/api/reasons';
import { MutiraoError } from '@mutirao/api/errors';
import { GridMachineServiceService, PullContentRequest } from '@mutirao/api/machine';
import {
  GridMachineProviderServiceService,
  MachineCredentialStatus,
  ReceiveContentRequest,
  type GetResourceResponse,
  type MachineCredential,
  type SwitchHeuristicRequest,
} from '@mutirao/api/provider';
import {
  describeRequest,
  heuristicInForce,
  isServing,
  takesNoWork,
  viewQueue,
  type HeuristicSetting,
  type ProviderInput,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import type { Reason } from '@mutirao/core/reasons';
import type { QuotaUse } from '@mutirao/core/quotas';
import type { Instant, UserId } from '@mutirao/core/shared';
import type { AuditCaller } from '@mutirao/runtime/audit';
import {
  bind,
  unary,
  type AuditedMethods,
  type CallContext,
  type Handlers,
  type ServiceBinding,
  type StreamWriter,
} from '@mutirao/runtime/rpc';
import type { AgentGate } from './agent-gate.ts';
import { getOrigin, type AgentCredentials } from './credentials.ts';
import type { SiteContents } from './contents/site-contents.ts';
import type { Standby } from './standby/standby.ts';
import { describeLease } from './standby/describe-lease.ts';
import type { MachineCredentials, MachineCredentialState } from './machines/machine-credentials.ts';
import type { EnrolledMachines } from './machines/enrolled-machines.ts';
import type { AgentLink } from './relay/links.ts';
import type { Relay } from './relay/relay.ts';
import type { PushedContents } from './transfers/pushed-contents.ts';
import { openPush, openSend, type PushedChunks } from './transfers/chunks.ts';
import { unknownTransfer, type Party, type TransferExchange } from './transfers/transfer-exchange.ts';
import { userOfBroker } from './user-of-broker.ts';

/** What the routes need of the process. */
export interface ProviderHost {
  readonly state: ProviderState;
  readonly relay: Relay;
  readonly clock: { now(): Instant };
  readonly exchange: TransferExchange;
  readonly pushed: PushedContents;
  /** Contents that are kept for the agents; left out where none are. */
  readonly contents?: Pick<SiteContents, 'findTransfer'>;
  /** Stands in for brokers that are away; left out where nobody does. */
  readonly standby?: Pick<
    Standby,
    'keepOutput' | 'findOutput' | 'readOutput' | 'noteFetched' | 'trouble' | 'spooledBytesOf' | 'leases'
  >;
  readonly gate: Pick<AgentGate, 'enter' | 'requireEntered' | 'demandAgentOf' | 'machinesOf'>;
  /** Invitations and credentials of machines that no request gives. */
  readonly machines: Pick<MachineCredentials, 'invite' | 'remove' | 'list'>;
  /** Keeps time-shared machines; undefined where a resource manager gives machines. */
  readonly enrolled: Pick<EnrolledMachines, 'add' | 'remove' | 'list' | 'keeps'> | undefined;
  /** Who may change what the provider does. */
  readonly ownerId: UserId;
  /** Where agents on other hosts find the provider, and the authority that signs for it; empty for a socket. */
  agentsPlace(): { readonly address: string; readonly authority: string };
  /** Why the provider takes nothing new, a full disk for example; undefined while it does. */
  trouble(): string | undefined;
  /** Why the queue of the resource could not be read the last time; empty when it could. */
  queueTrouble(): string;
  /** How the site keeps reservations; left out where it keeps none. */
  reservations?(): readonly Reason[];
  /** What a user takes of the server. */
  usesOf(userId: UserId): readonly QuotaUse[];
  /** Resolves to the machine's reply, after it is in the journal. */
  ask<T>(make: (replyTo: number) => ProviderInput): Promise<T>;
}

const nothing = Buffer.alloc(0);

/** Methods whose messages are passed on as bytes. */
type ProviderRaw = 'connect' | 'sendContent' | 'receiveContent';
type MachineRaw = 'attach' | 'pullContent' | 'pushContent';

/** GridMachineProviderService, for brokers. */
export function providerService(host: ProviderHost): ServiceBinding {
  return bind<typeof GridMachineProviderServiceService, ProviderRaw>(
    GridMachineProviderServiceService,
    providerRoutes(host),
    {
      raw: ['connect', 'sendContent', 'receiveContent'],
      audited,
      ownerId: host.ownerId,
    },
  );
}

/** GridMachineService, for agents, which show credentials of their own. */
export function machineService(host: ProviderHost, credentials: AgentCredentials): ServiceBinding {
  return bind<typeof GridMachineServiceService, MachineRaw>(GridMachineServiceService, machineRoutes(host), {
    raw: ['attach', 'pullContent', 'pushContent'],
    tokens: credentials.check,
    machinesOf: (userId) => machinesOf(host.state, userId),
  });
}

/** How many machines share the credential of an agent: those of a request have one. */
function machinesOf({ requests }: ProviderState, userId: UserId): number {
  const origin = getOrigin(userId);
  return origin.kind === 'machine' ? 1 : Math.max(1, requests.get(origin.requestId)?.width ?? 1);
}

const audited: AuditedMethods = {
  drain: { action: 'provider.drain', target: ({ atOnce }: { readonly atOnce: boolean }) => (atOnce ? 'at once' : '') },
  undrain: { action: 'provider.undrain', target: () => '' },
  switchHeuristic: {
    action: 'provider.configure',
    target: ({ heuristic, defaultTaskTimeMs }: SwitchHeuristicRequest) =>
      heuristic === '' && defaultTaskTimeMs === undefined ? undefined : `heuristic ${heuristic}`,
  },
  addMachines: {
    action: 'machine.add',
    target: ({ machines }: { readonly machines: readonly { readonly name: string }[] }) =>
      machines.map(({ name }) => `machine ${name}`).join(', '),
  },
  removeMachine: { action: 'machine.remove', target: ({ name }: { readonly name: string }) => `machine ${name}` },
};

/** The handlers of GridMachineProviderService. */
export function providerRoutes(host: ProviderHost): Handlers<typeof GridMachineProviderServiceService, ProviderRaw> {
  return {
    connect: (stream, context) => {
      host.relay.connectBroker(stream, context);
    },
    sendContent: async (messages, { signal, userId }) => {
      const { first, chunks } = await openSend(messages);
      boundName(first.transferId, 'name', 'transfer_id');
      await host.exchange.give(first.transferId, {
        chunks,
        signal,
        requestId: '',
        party: { kind: 'user', userId },
        admits: isNoUser,
      });
      return nothing;
    },
    receiveContent: (bytes, writer, context) => receiveContent(host, bytes, writer, context),
    getResource: unary({
      decode: () => undefined,
      handle: (_, { userId }) => describeResource(host, userId),
      encode: (response) => response,
    }),
    getQueue: unary({
      decode: () => undefined,
      handle: () => viewQueue(host.state, host.clock.now()),
      encode: (view) => ({ queue: encodeProviderQueue(view) }),
    }),
    listRequests: unary({
      decode: () => undefined,
      handle: () => [...host.state.requests.values()].map((request) => describeRequest(host.state, request)),
      encode: (requests) => ({ requests: requests.map(encodeAllocationRequest) }),
    }),
    drain: unary({
      decode: ({ reason, atOnce }) => ({ reason: boundText(reason, 'text', 'reason'), atOnce }),
      handle: ({ reason, atOnce }) =>
        host.ask<undefined>((replyTo) => ({
          kind: 'DrainAsked',
          replyTo,
          reason,
          ...(atOnce ? { isAtOnce: true } : {}),
        })),
      encode: () => ({}),
    }),
    undrain: unary({
      decode: () => undefined,
      handle: () => host.ask<undefined>((replyTo) => ({ kind: 'UndrainAsked', replyTo })),
      encode: () => ({}),
    }),
    switchHeuristic: unary({
      decode: ({ heuristic, defaultTaskTimeMs }) => ({
        heuristic: boundName(heuristic, 'name', 'heuristic'),
        defaultTime:
          defaultTaskTimeMs === undefined
            ? undefined
            : boundNumber(defaultTaskTimeMs, 'duration', 'default_task_time_ms'),
      }),
      handle: (spec, { userId }) => {
        if (spec.heuristic !== '' || spec.defaultTime !== undefined)
          requireOwner(host, userId, 'switching the heuristic');
        return host.ask<HeuristicSetting>((replyTo) => ({ kind: 'HeuristicAsked', replyTo, ...spec }));
      },
      encode: ({ heuristic, defaultTime }) => ({ heuristic, defaultTaskTimeMs: defaultTime }),
    }),
    getQuota: ({ userId: asked }, { userId: caller }) => {
      if (asked !== '' && asked !== caller) requireOwner(host, caller, 'looking at the quotas of others');
      const userId = asked === '' ? caller : asked;
      return { userId, uses: encodeQuotaUses(host.usesOf(userId)) };
    },
    ...enrolmentRoutes(host),
    ...credentialRoutes(host),
  };
}

/** The calls that have agents work for machines of the owner's. */
function enrolmentRoutes(
  host: ProviderHost,
): Pick<Handlers<typeof GridMachineProviderServiceService, ProviderRaw>, 'addMachines' | 'listEnrolledMachines'> {
  return {
    addMachines: unary({
      decode: ({ machines }) => machines.map(decodeEnrolledMachine),
      handle: (machines) => {
        requireEnrolment(host).add(machines);
      },
      encode: () => ({}),
    }),
    listEnrolledMachines: unary({
      decode: () => undefined,
      handle: () => requireEnrolment(host).list(),
      encode: (machines) => ({ machines: machines.map(encodeEnrolledMachineState) }),
    }),
  };
}

/** The calls that decide which machines may join by themselves. */
function credentialRoutes(
  host: ProviderHost,
): Pick<
  Handlers<typeof GridMachineProviderServiceService, ProviderRaw>,
  'inviteMachine' | 'removeMachine' | 'listMachineCredentials'
> {
  return {
    inviteMachine: unary({
      decode: ({ name, validMs, unlessRemoved }) => ({
        name: boundName(name, 'machineName', 'name'),
        validMs: boundNumber(validMs, 'duration', 'valid_ms'),
        unlessRemoved,
      }),
      handle: ({ name, validMs, unlessRemoved }, context) =>
        host.machines.invite(name, validMs, { unlessRemoved, by: getCaller(context) }),
      encode: ({ secret, expiresAt }) => ({ invitation: secret, expiresUnixMs: expiresAt, ...host.agentsPlace() }),
    }),
    removeMachine: unary({
      decode: ({ name }) => boundName(name, 'machineName', 'name'),
      handle: (name, context) => removeMachine(host, name, context),
      encode: () => ({}),
    }),
    listMachineCredentials: unary({
      decode: () => undefined,
      handle: () => host.machines.list(),
      encode: (credentials) => ({ credentials: credentials.map(encodeMachineCredential) }),
    }),
  };
}

/** Withdraws a machine's credential first, so that it gets nothing more even where its agent cannot be reached. */
async function removeMachine(host: ProviderHost, name: string, context: CallContext): Promise<void> {
  const {
    enrolled,
    machines,
    relay,
    state: {
      config: { providerId },
    },
  } = host;
  const had = machines.remove(name, getCaller(context));
  relay.dropMachine(`${providerId}/${name}`, new MutiraoError('MUT_MACHINE_REMOVED', `machine ${name} was removed`));
  if (enrolled?.keeps(name) === true) return enrolled.remove(name);
  if (had) return;
  const known = [
    ...new Set([
      ...(enrolled?.list().map(({ machine }) => machine.name) ?? []),
      ...machines
        .list()
        .filter(({ status }) => status !== 'removed')
        .map((one) => one.name),
    ]),
  ];
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `there is no machine "${name}" to remove; expected ` +
      `${known.length === 0 ? 'none: there are none' : `one of ${known.join(', ')}`}`,
  );
}

/** Who calls, for the audit log. */
function getCaller({ userId, from }: CallContext): AuditCaller {
  return { who: userId, from };
}

const statuses = {
  invited: MachineCredentialStatus.INVITED,
  joined: MachineCredentialStatus.JOINED,
  removed: MachineCredentialStatus.REMOVED,
} as const;

function encodeMachineCredential({ name, status, since, expiresAt }: MachineCredentialState): MachineCredential {
  return { name, status: statuses[status], sinceUnixMs: since, expiresUnixMs: expiresAt };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function requireEnrolment({ enrolled, state }: ProviderHost): Pick<EnrolledMachines, 'add' | 'list'> {
  if (enrolled === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `provider ${state.config.providerId} gets its machines from a resource manager; expected one that was started ` +
        'with --manager none',
    );
  return enrolled;
}

/** The handlers of GridMachineService. */
export function machineRoutes(host: ProviderHost): Handlers<typeof GridMachineServiceService, MachineRaw> {
  return {
    attach: (stream, context) => {
      host.relay.attachAgent(stream, context);
    },
    pullContent: (bytes, writer, context) => pullContent(host, bytes, writer, context),
    pushContent: (messages, context) => pushContent(host, messages, context),
  };
}

async function pullContent(
  host: ProviderHost,
  bytes: Buffer,
  writer: StreamWriter<Buffer>,
  context: CallContext,
): Promise<void> {
  const requestId = findRequest(host, context);
  const { transferId } = decodeMessage(PullContentRequest, bytes);
  boundName(transferId, 'name', 'transfer_id');
  const machineIds = host.gate.machinesOf(requestId, context.credential);
  const send = host.contents?.findTransfer(transferId, machineIds);
  if (send !== undefined) {
    await send(writer);
    return;
  }
  const userId = host.relay.takeOffered(transferId, machineIds);
  const [machineId = ''] = machineIds;
  if (userId === undefined) throw unknownTransfer(transferId);
  await host.exchange.take(transferId, {
    writer,
    signal: context.signal,
    requestId,
    party: { kind: 'machine', machineId },
    admits: isOfUser(userId),
  });
}

/** What a broker brings is for machines and the site, not for other brokers. */
function isNoUser({ kind }: Party): boolean {
  return kind !== 'user';
}

function isOfUser(userId: UserId): (party: Party) => boolean {
  return (party) => party.kind === 'user' && party.userId === userId;
}

async function pushContent(host: ProviderHost, messages: AsyncIterable<Buffer>, context: CallContext): Promise<Buffer> {
  const { signal } = context;
  const origin = getOrigin(context.userId);
  const requestId = findRequest(host, context);
  const { first, chunks } = await openPush(messages, (offset) => {
    context.begin({ [offsetHeader]: String(offset) });
  });
  const { transferId, content, machineId } = first;
  boundName(transferId, 'name', 'transfer_id');
  if (content === undefined) throw new MutiraoError('MUT_BAD_REQUEST', 'content is absent from the first chunk');
  const agent = host.relay.findAgent(machineId, origin);
  if (agent === undefined) throw new MutiraoError('MUT_TRANSFER_FAILED', `machine "${machineId}" is not attached`);
  host.gate.demandAgentOf(agent.identity.machineId, context.credential);
  await passPush(host, agent, { transferId, content: decodeContent(content), chunks, signal, requestId });
  return nothing;
}

interface Push {
  readonly transferId: string;
  readonly content: Content;
  readonly chunks: PushedChunks;
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/**
 * Brings a push to its broker; while that is away it is kept, from the beginning or, as long as nothing of it was read,
 * later.
 */
async function passPush(host: ProviderHost, agent: AgentLink, push: Push): Promise<void> {
  const { transferId, chunks, signal, requestId } = push;
  if (agent.isKeeping) return await keepPush(host, agent, push);
  const { diverted, forget } = host.pushed.announce(agent, push);
  try {
    await host.exchange.give(transferId, {
      chunks,
      onTaken: (offset) => {
        chunks.begin(offset);
      },
      signal: AbortSignal.any([signal, diverted]),
      requestId,
      party: { kind: 'machine', machineId: agent.machineId },
      admits: (party) =>
        agent.broker !== undefined && isOfUser(userOfBroker(agent.broker.brokerId, host.ownerId))(party),
    });
  } catch (error) {
    if (!diverted.aborted || signal.aborted || chunks.isRead) throw error;
    // From here on nothing gives it to a broker. One that comes back in the meantime learns of it when it is whole.
    forget();
    await keepPush(host, agent, push);
  } finally {
    forget();
  }
}

async function keepPush(
  { standby, relay }: ProviderHost,
  { identity }: AgentLink,
  { transferId, content, chunks }: Push,
): Promise<void> {
  if (standby === undefined)
    throw new MutiraoError('MUT_TRANSFER_FAILED', `transfer ${transferId}: its broker is away`);
  await standby.keepOutput(identity.machineId, { transferId, content }, chunks);
  // The broker may have come back meanwhile; the agent then reports this output to it directly.
  relay.announceKept(identity.machineId, transferId);
}

async function receiveContent(
  host: ProviderHost,
  bytes: Buffer,
  writer: StreamWriter<Buffer>,
  { signal, userId }: CallContext,
): Promise<void> {
  const { transferId, offset, refusal } = decodeMessage(ReceiveContentRequest, bytes);
  boundName(transferId, 'name', 'transfer_id');
  boundNumber(offset, 'contentBytes', 'offset');
  if (boundText(refusal, 'text', 'refusal') !== '') {
    host.exchange.refuse(transferId, { kind: 'user', userId }, new MutiraoError('MUT_MACHINE_QUOTA', refusal));
    return;
  }
  const output = host.standby?.findOutput(transferId, userId);
  if (host.standby === undefined || output === undefined) {
    // Who waited here would hold up its machine: a push is announced when it is there, and what is gone does not come
    // back under this name.
    const party = { kind: 'user' as const, userId };
    await host.exchange.take(transferId, {
      writer,
      offset,
      signal,
      requestId: '',
      needsGiver: true,
      party,
      admits: ({ kind }) => kind === 'machine',
    });
    return;
  }
  for await (const message of host.standby.readOutput(output, offset)) {
    writer.write(message);
    await writer.drained();
  }
  host.standby.noteFetched(output);
}

/** @throws {MutiraoError} MUT_NOT_OWNER */
function requireOwner({ ownerId }: ProviderHost, userId: UserId, what: string): void {
  if (userId !== ownerId)
    throw new MutiraoError(
      'MUT_NOT_OWNER',
      `${what} is for ${ownerId} alone, who owns this provider; you are ${userId}`,
    );
}

/**
 * @throws {MutiraoError} MUT_ALLOCATION_ENDED for agents of a request that is over; MUT_CREDENTIAL_COPIED for those
 * that never attached.
 */
function findRequest({ state, gate }: ProviderHost, { userId, credential }: CallContext): string {
  const origin = getOrigin(userId);
  if (origin.kind === 'machine') return '';
  const request = state.requests.get(origin.requestId);
  if (request === undefined || !isServing(request))
    throw new MutiraoError('MUT_ALLOCATION_ENDED', `request ${origin.requestId} is over`);
  gate.requireEntered(origin.requestId, credential);
  return origin.requestId;
}

function describeResource(
  { state, standby, ownerId, trouble, queueTrouble, reservations }: ProviderHost,
  userId: UserId,
): GetResourceResponse {
  const { config, machines, listing } = state;
  const { heuristic, defaultTime } = heuristicInForce(state);
  const attached = [...machines.values()].filter((machine) => machine.attachmentId !== 0);
  const limits = state.limits ?? {
    processors: attached.reduce((sum, { facts }) => sum + facts.processors, 0),
    requestsMax: 0,
    walltimeMax: 0,
    widthMax: 0,
    walltimeGranularity: 0,
  };
  return {
    providerId: config.providerId,
    resourceKind: config.resourceKind,
    processors: limits.processors,
    requestsMax: limits.requestsMax,
    walltimeMsMax: limits.walltimeMax,
    widthProcessorsMax: limits.widthMax,
    walltimeGranularityMs: limits.walltimeGranularity,
    heuristic,
    defaultTaskTimeMs: defaultTime,
    heuristicSwitched: state.switched !== undefined,
    queuedRequests: listing?.requests.filter(({ status }) => status === 'queued').length ?? 0,
    machines: attached.length,
    draining: takesNoWork(state),
    ...findDraining(state),
    reasons: encodeReasons([
      ...listTroubles(trouble(), queueTrouble(), state.resourceStatus),
      ...state.resourceStatus,
      ...(reservations?.() ?? []),
    ]),
    leases: [...state.brokers.values()]
      .filter(({ brokerId }) => userId === ownerId || userOfBroker(brokerId, ownerId) === userId)
      .flatMap((broker) => describeLease(state, broker, standby) ?? []),
    spoolTrouble: standby?.trouble ?? '',
    queueTrouble: describeQueueTrouble(state, queueTrouble()),
  };
}

/** Why the provider takes nothing new and cannot read its queue, unless its status says that already. */
function listTroubles(stall: string | undefined, queue: string, status: readonly Reason[]): readonly Reason[] {
  const isReported = status.some(({ code }) => code === 'queue-unreadable' || code === 'queue-stale');
  return [
    ...(stall === undefined ? [] : [{ code: 'provider-trouble', trouble: stall } as const]),
    ...(queue === '' || isReported ? [] : [{ code: 'queue-unreadable', trouble: queue } as const]),
  ];
}

function findDraining({
  draining,
}: ProviderHost['state']): Pick<GetResourceResponse, 'drainingSinceUnixMs' | 'drainingReason'> {
  return draining === undefined
    ? { drainingReason: '' }
    : { drainingSinceUnixMs: draining.since, drainingReason: draining.reason };
}

/**
 * Why the queue of the resource is not known now; undefined while it is. @param trouble why it could not be read the
 * last time.
 */
function describeQueueTrouble(
  { config, limits, listing }: ProviderHost['state'],
  trouble: string,
): GetResourceResponse['queueTrouble'] {
  if (config.resourceKind === 'machines') return undefined;
  if (trouble !== '') return encodeReason({ code: 'queue-unreadable', trouble });
  return limits === undefined || listing === undefined ? encodeReason({ code: 'queue-not-read' }) : undefined;
}
