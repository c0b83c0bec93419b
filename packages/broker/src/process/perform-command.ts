import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerCommand, BrokerInput, BrokerState } from '@mutirao/core/machines/broker';
import { type DriverCommand, type MachineId } from '@mutirao/core/shared';
import type { Room } from '@mutirao/runtime/files';

import type { ProviderLinks } from '../providers/provider-links.ts';
import type { LeasePart, LeaseStager } from '../providers/lease-stager.ts';
import type { ToProvider } from '../providers/to-provider.ts';
import type { ResultAcceptor } from '../results/accept-result.ts';
import type { ResultDigester } from '../results/digest-result.ts';
import type { ResultOrder } from '../results/result-order.ts';
import type { GangSecrets } from '../staging/gang-secrets.ts';
import type { HomeSharing } from '../staging/home-sharing.ts';
import type { StageOrder } from '../staging/stager.ts';
import { groupOfTask, valueOfTask } from '../staging/task-of-job.ts';

type GetCommand<K extends BrokerCommand['kind']> = Extract<BrokerCommand, { kind: K }>;

/** What carries out commands. */
export interface Performers {
  readonly state: BrokerState;
  readonly links: Pick<ProviderLinks, 'connect' | 'disconnect'>;
  readonly toProvider: ToProvider;
  readonly leaseStager: LeaseStager;
  readonly acceptor: ResultAcceptor;
  readonly digester: ResultDigester;
  readonly room: Pick<Room, 'retryWhileDiskFull'>;
  deliver(input: BrokerInput): void;
  onBug(error: unknown): void;
}

/** Carries out one command of the broker, or begins to. */
export function performCommand(performers: Performers, command: Exclude<BrokerCommand, DriverCommand>): void {
  const { toProvider, links } = performers;
  switch (command.kind) {
    case 'DisconnectProvider':
      links.disconnect(command.providerId);
      break;
    case 'ConnectProvider':
      links.connect(command.providerId, command.address);
      break;
    case 'GrantLease':
      performers.leaseStager.grant(command);
      break;
    case 'RevokeLease':
      performers.leaseStager.trim(command);
      break;
    case 'SetDemand':
      toProvider.setDemand(command);
      break;
    case 'StartReplicas':
      toProvider.startReplicas(command);
      break;
    case 'StartGang':
      toProvider.startGang(command);
      break;
    case 'CancelReplicas':
      toProvider.cancelReplicas(command);
      break;
    case 'AcknowledgeReport':
      toProvider.acknowledge(command);
      break;
    case 'DigestResult':
      digestResult(performers, command);
      break;
    case 'AcceptResult':
      acceptResult(performers, command);
      break;
  }
}

function acceptResult(performers: Performers, command: GetCommand<'AcceptResult'>): void {
  settleResult(performers, command, async (order) => {
    await performers.acceptor.accept(order);
    return { kind: 'ResultAccepted', replicaId: command.replicaId };
  });
}

function digestResult(performers: Performers, command: GetCommand<'DigestResult'>): void {
  settleResult(performers, command, async (order) => ({
    kind: 'ResultDigested',
    replicaId: command.replicaId,
    digest: await performers.digester.digest(order),
  }));
}

function settleResult(
  performers: Performers,
  command: GetCommand<'AcceptResult' | 'DigestResult'>,
  settle: (order: ResultOrder) => Promise<BrokerInput>,
): void {
  const { replicaId, jobId, taskIndex } = command;
  const job = performers.state.jobs.get(jobId);
  if (job?.spec === undefined) return; // It ended meanwhile; nobody waits for the answer.
  const { spec, userId } = job;
  const { homeDirectory, gatherFolder } = spec;
  const order = {
    ...command,
    userId,
    value: valueOfTask(spec, taskIndex),
    homeDirectory,
    ...(gatherFolder === undefined ? {} : { gatherFolder }),
  };
  // A full disk at home says nothing about the result, which is kept until there is room.
  performers.room
    .retryWhileDiskFull(
      () => settle(order),
      () => performers.state.successes.has(replicaId),
    )
    .then(
      (input) => {
        performers.deliver(input);
      },
      (error: unknown) => {
        if (error instanceof MutiraoError)
          performers.deliver({ kind: 'ResultRefused', replicaId, reason: error.code, detail: error.message });
        else performers.onBug(error);
      },
    );
}

/** What a machine receives that others must not know. */
export interface OrderSecrets {
  readonly shared: HomeSharing;
  readonly secrets: Pick<GangSecrets, 'getSecret'>;
}

/** What a batch is about; undefined when its job or its machine is gone meanwhile. */
export function getOrder(
  state: BrokerState,
  command: GetCommand<'StartReplicas'>,
  { shared, secrets }: OrderSecrets,
): StageOrder | undefined {
  const { jobId, groupIndex, machineId, starts, gang, processors, alternative, memory } = command;
  const job = state.jobs.get(jobId);
  const group = job?.groups[groupIndex];
  const machine = state.machines.get(machineId);
  if (job?.spec === undefined || group === undefined || machine === undefined) return undefined;
  return {
    jobId,
    userId: job.userId,
    spec: job.spec,
    groupIndex,
    groupFirst: group.firstTaskIndex,
    machineId,
    attributes: getAttributes(state, machineId),
    starts,
    ...(processors === undefined ? {} : { processors }),
    ...(alternative === undefined ? {} : { alternative }),
    ...(memory === undefined ? {} : { memory }),
    ...shared.report(machine.facts),
    ...(gang === undefined ? {} : { gang: placeInGang(gang, secrets) }),
  };
}

function placeInGang(
  { processors, ...place }: NonNullable<GetCommand<'StartReplicas'>['gang']>,
  secrets: OrderSecrets['secrets'],
): NonNullable<StageOrder['gang']> {
  return { place: { ...place, secret: secrets.getSecret(place.gangId) }, processors };
}

/** What a lease is about; parts whose job is gone meanwhile are left out. */
export function getParts(
  state: BrokerState,
  { providerId, parts }: GetCommand<'GrantLease'>,
  shared: Pick<HomeSharing, 'reportAnybody'>,
): LeasePart[] {
  return parts.flatMap(({ jobId, groupIndex, requirements, taskTime, starts }) => {
    const job = state.jobs.get(jobId);
    const group = job?.groups[groupIndex];
    if (job?.spec === undefined || group === undefined) return [];
    const order = {
      jobId,
      userId: job.userId,
      spec: job.spec,
      groupIndex,
      groupFirst: group.firstTaskIndex,
      machineId: '',
      providerId,
      attributes: {},
      starts,
      ...shared.reportAnybody(),
    };
    return [{ order, requirements, taskTime }];
  });
}

/** What the replicas that a machine has now were staged with, so that it can be staged again. */
export function ordersOfMachine(state: BrokerState, machineId: MachineId): StageOrder[] {
  const orders: StageOrder[] = [];
  for (const { replicaId, job, task } of state.machines.get(machineId)?.replicas.values() ?? []) {
    if (job.spec === undefined || groupOfTask(job.spec, task.index).inputs.length === 0) continue;
    const group = job.groups.findLast((span) => span.firstTaskIndex <= task.index);
    if (group === undefined) continue;
    orders.push({
      jobId: job.jobId,
      userId: job.userId,
      spec: job.spec,
      groupIndex: group.groupIndex,
      groupFirst: group.firstTaskIndex,
      machineId,
      attributes: getAttributes(state, machineId),
      starts: [{ replicaId, taskIndex: task.index }],
    });
  }
  return orders;
}

function getAttributes(state: BrokerState, machineId: MachineId): Readonly<Record<string, string>> {
  return state.machines.get(machineId)?.facts.attributes ?? {};
}
