import type { BrokerServiceService } from '@mutirao/api/broker';
import type { ClusterServiceService } from '@mutirao/api/cluster';
import type { GridMachineProviderServiceService } from '@mutirao/api/provider';
import { ProvisioningState, type ReservationServiceService } from '@mutirao/api/reservation';
import { taskGroup } from '../grid/broker-client.ts';
import type { WorldUser } from './access-world.ts';
import { resourceOf, resourceRules, specFor, type FindRequest, type WorldObjects } from './world-objects.ts';

/**
 * Makes a request that names an object of a user, fit to succeed where its caller may make it; a new object where the
 * call uses it up.
 */
type Make<M> = (objects: WorldObjects, named: WorldUser) => Promise<FindRequest<M>> | FindRequest<M>;
/** One for each method: a method that is added to a service without one does not compile. */
type Requests<Service> = { readonly [Method in keyof Service]: Make<Service[Method]> };

/** Of whoever asks, where that is the owner. */
function ofUser(_objects: WorldObjects, named: WorldUser): { userId: string } {
  return { userId: named === 'owner' ? '' : named };
}

/** Requests to the broker. */
export const brokerRequests: Requests<typeof BrokerServiceService> = {
  submitJob: async (objects, named) => ({
    job: {
      label: '',
      groups: [taskGroup('true', 1)],
      environment: {},
      limits: undefined,
      processors: undefined,
      replicasMax: undefined,
      failuresMax: undefined,
      homeDirectory: '',
      deadlineUnixMs: undefined,
      edges: [],
    },
    clientJobId: '',
    resumesJobId: await objects.endedJob(named),
  }),
  getJob: async (objects, named) => ({ jobId: await objects.openJob(named), withoutSpec: undefined }),
  listJobs: () => ({ pageSize: 0, beforeJobId: 0 }),
  appendTasks: async (objects, named) => ({
    jobId: await objects.openJob(named),
    appendKey: 'k',
    groups: [taskGroup('true', 1)],
  }),
  closeJob: async (objects, named) => ({ jobId: await objects.openJob(named) }),
  cancelJob: async (objects, named) => ({ jobId: await objects.openJob(named), reason: '' }),
  cancelTasks: async (objects, named) => ({ jobId: await objects.openJob(named), taskIndexes: [0], reason: '' }),
  holdTasks: async (objects, named) => ({ jobId: await objects.steeredJob(named), taskIndexes: [0] }),
  releaseTasks: async (objects, named) => ({ jobId: await objects.steeredJob(named), taskIndexes: [0] }),
  updateJob: async (objects, named) => ({ jobId: await objects.steeredJob(named), priority: 1, runningMax: undefined }),
  forgetJobs: async (objects, named) => ({
    jobIds: [await objects.endedJob(named, 'to forget')],
    endedBeforeUnixMs: undefined,
    keptCount: undefined,
  }),
  retryTasks: async (objects, named) => ({
    jobId: await objects.openJob(named),
    taskIndexes: [],
    currentInputs: false,
  }),
  waitJob: async (objects, named) => ({ jobId: await objects.endedJob(named) }),
  watchJob: async (objects, named) => ({ jobId: await objects.openJob(named), afterSequence: 0 }),
  listTasks: async (objects, named) => ({
    jobId: await objects.openJob(named),
    taskIndexes: [],
    status: 0,
    pageSize: 0,
    fromTaskIndex: 0,
  }),
  getTaskOutput: async (objects, named) => ({ jobId: await objects.endedJob(named), taskIndex: 0 }),
  tailTaskOutput: async (objects, named) => ({
    jobId: await objects.endedJob(named),
    taskIndex: 0,
    replicaId: 0,
    standardOutputOffset: 0,
    standardErrorOffset: 0,
  }),
  uploadBlob: () => ({ data: Buffer.from('bytes') }),
  downloadBlob: async (objects, named) => ({ sha256: await objects.blob(named) }),
  getOverview: () => ({}),
  listMachines: () => ({}),
  listTrust: () => ({}),
  quarantineMachine: () => ({ machineId: 'lab/pc0', reason: 'a test' }),
  resetMachineTrust: () => ({ machineId: 'lab/pc0' }),
  drainMachine: () => ({ machineId: 'lab/pc0', reason: 'a test' }),
  undrainMachine: () => ({ machineId: 'lab/pc0' }),
  listRequests: () => ({ includeEnded: true }),
  explain: async (objects, named) => ({ subject: { $case: 'jobId', value: await objects.openJob(named) } }),
  getLedger: async (objects, named) => ({ jobId: await objects.openJob(named) }),
  addProvider: () => ({ providerId: 'other', address: 'unix:/nowhere/other' }),
  removeProvider: () => ({ providerId: 'other' }),
  listProviders: () => ({}),
  getProviderQueue: () => ({ providerId: 'alpha' }),
  getQuota: ofUser,
};

/** Requests to an embedded cluster. @param readAccount the name that a user has there. */
export function clusterRequests(readAccount: (user: WorldUser) => string): Requests<typeof ClusterServiceService> {
  return {
    allocate: (_objects, named) => ({
      userId: readAccount(named),
      widthProcessors: 1,
      walltimeMs: 60_000,
      command: ['true'],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
      reservationClaim: '',
    }),
    release: async (objects, named) => ({ requestId: await objects.clusterRequest(named) }),
    getLimits: (_objects, named) => ({ userId: readAccount(named) }),
    getQueue: () => ({ endedMax: 10, userId: '' }),
    getScores: () => ({ userId: '' }),
    watchQueue: () => ({}),
  };
}

/**
 * Requests to a provider of machines that has none of the objects that are named by transfers: those have tests of
 * their own.
 */
export const providerRequests: Requests<typeof GridMachineProviderServiceService> = {
  connect: () => ({
    message: {
      $case: 'hello',
      value: { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: 'a-broker' },
    },
  }),
  sendContent: () => ({ transferId: '', data: Buffer.alloc(0) }),
  receiveContent: () => ({ transferId: 'of-nobody', offset: 0, refusal: '' }),
  getResource: () => ({}),
  listRequests: () => ({}),
  getQueue: () => ({}),
  drain: () => ({ reason: 'a test', atOnce: false }),
  switchHeuristic: () => ({ heuristic: '', defaultTaskTimeMs: undefined }),
  addMachines: () => ({ machines: [] }),
  removeMachine: () => ({ name: 'nobody' }),
  inviteMachine: () => ({ name: 'guest', validMs: 0, unlessRemoved: false }),
  listMachineCredentials: () => ({}),
  listEnrolledMachines: () => ({}),
  getQuota: ofUser,
  undrain: () => ({}),
};

type ReservationRequests = Requests<typeof ReservationServiceService>;
type ResourceMethod =
  | 'listResources'
  | 'registerResource'
  | 'updateResource'
  | 'addMaintenance'
  | 'removeMaintenance'
  | 'failResource'
  | 'restoreResource';

/** Requests to a reservation manager. @param at the resource that reservations are of. */
export function reservationRequests(at: string = resourceOf.owner): ReservationRequests {
  const idOf = async (objects: WorldObjects, named: WorldUser, holdMs = 0): Promise<{ reservationId: number }> => ({
    reservationId: (await objects.reservation(named, at, holdMs)).reservationId,
  });
  return {
    ...resourceRequests,
    requestReservation: async (objects, named) => {
      await objects.resource(named);
      return { spec: specFor(at), clientRequestId: '', holdMs: 0, dryRun: false };
    },
    getReservation: idOf,
    listReservations: () => ({
      pageSize: 1000,
      beforeReservationId: 0,
      resourceId: '',
      statuses: [],
      fromUnixMs: 0,
      untilUnixMs: 0,
      allUsers: true,
    }),
    renegotiateReservation: async (objects, named) => ({ ...(await idOf(objects, named, 60_000)), spec: specFor(at) }),
    cancelReservation: async (objects, named) => ({ ...(await idOf(objects, named)), reason: 'a test' }),
    confirmReservation: (objects, named) => idOf(objects, named, 60_000),
    prepareReservation: async (objects, named) => {
      const { reservationId } = await idOf(objects, named, 60_000);
      return {
        reservationId,
        together: { groupId: 'a-name-of-twenty-chars', managerAddress: 'unix:/nowhere', reservationId },
      };
    },
    getGroupOutcome: () => ({ groupId: 'a-name-of-twenty-chars', reservationId: 1 }),
    verifyReservation: async (objects, named) => ({
      claim: (await objects.reservation(named, at)).claim,
      resourceId: at,
      userId: '',
    }),
    claimReservation: async (objects, named) => {
      const { reservationId, claim } = await objects.reservation(named, at);
      return { claim, resourceId: at, userId: '', clientRequestId: 'use', reservationId };
    },
    releaseReservation: async (objects, named) => ({ reservationId: await objects.claimed(named, at) }),
    getCalendar: async (objects, named) => ({
      resourceId: await objects.resource(named),
      fromUnixMs: 0,
      untilUnixMs: 0,
    }),
    reportProvisioning: async (objects, named) => ({
      reservationId: (await objects.reservation(named, await objects.resource(named))).reservationId,
      provisioning: {
        status: ProvisioningState.PLANNED,
        heldUnits: 0,
        askedUnits: 1,
        askUnixMs: 0,
        expectedUnixMs: 0,
        chance: undefined,
        reasons: [],
      },
    }),
    getClaimKeys: () => ({}),
    getQuota: ofUser,
    watchReservations: () => ({ afterSequence: 0, reservationId: 0, onlyNew: false }),
  };
}

/** Requests about the resources themselves. */
const resourceRequests: Pick<ReservationRequests, ResourceMethod> = {
  listResources: () => ({}),
  registerResource: async (objects, named) => ({
    resourceId: await objects.resource(named),
    resourceType: 'processors',
    quantity: '1000',
    rules: resourceRules,
  }),
  updateResource: async (objects, named) => ({ resourceId: await objects.resource(named), rules: resourceRules }),
  addMaintenance: async (objects, named) => ({
    resourceId: await objects.resource(named),
    maintenanceId: 'soon',
    startUnixMs: 4_000_000_000_000,
    endUnixMs: 4_000_000_060_000,
    amount: 1,
    reason: '',
  }),
  removeMaintenance: async (objects, named) => ({ resourceId: await objects.resource(named), maintenanceId: 'soon' }),
  failResource: async (objects, named) => ({
    resourceId: await objects.resource(named),
    what: { $case: 'unitIndex', value: 999 },
    reason: '',
  }),
  restoreResource: async (objects, named) => ({
    resourceId: await objects.resource(named),
    what: { $case: 'unitIndex', value: 999 },
  }),
};
