import type { ErrorCode } from './errors/index.ts';
import type { BrokerServiceService } from './generated/mutirao/broker/v1/broker.ts';
import type { ClusterServiceService } from './generated/mutirao/cluster/v1/cluster.ts';
import type { GridMachineServiceService } from './generated/mutirao/machine/v1/machine.ts';
import type { GridMachineProviderServiceService } from './generated/mutirao/provider/v1/provider.ts';
import type { ReservationServiceService } from './generated/mutirao/reservation/v1/reservation_service.ts';

/** Who may call a method, and whose objects the call reaches. */
export interface Access {
  /**
   * The credential that the server requires before the handler runs: that of any user, of the owner of the process, or
   * of an agent.
   */
  readonly callers: 'users' | 'owner' | 'agents';
  readonly objects: Reach;
  /**
   * What a caller gets who names an object out of reach; `left out` of a list. Left out itself where no object can be
   * named.
   */
  readonly others?: ErrorCode | 'left out';
  /** What the columns of the table do not say. */
  readonly note?: string;
}

/**
 * Whose objects a call reaches.
 *
 * `none`: the call names no object that is already there. `shared`: what all users of the process see. `own`: the
 * caller's own, even if the owner of
 * the process calls. `own or owner`: the caller's own; the owner of the process reaches all. `own or manager`: the
 * caller's own; the owner of the
 * resource and the owner of the process reach all of that resource. `manager`: the owner of the resource and the owner
 * of the process alone.
 */
export type Reach = 'none' | 'shared' | 'own' | 'own or owner' | 'own or manager' | 'manager';

/** A row for each method: a method that is added to a service without a row does not compile. */
type Rows<Service> = { readonly [Method in keyof Service]: Access };

const ownJob = { callers: 'users', objects: 'own', others: 'MUT_NOT_FOUND' } as const;
const shared = { callers: 'users', objects: 'shared' } as const;
const ownQuota = { callers: 'users', objects: 'own or owner', others: 'MUT_NOT_OWNER' } as const;
const ownerOnly = { callers: 'owner', objects: 'shared' } as const;

const broker: Rows<typeof BrokerServiceService> = {
  submitJob: {
    ...ownJob,
    note:
      'A job with local paths, a work folder or a check is for the owner alone (`MUT_NOT_OWNER`); a job to resume ' +
      "is the caller's own.",
  },
  getJob: ownJob,
  listJobs: { callers: 'users', objects: 'own', others: 'left out' },
  appendTasks: {
    ...ownJob,
    note: 'Tasks with local paths or a check are for the owner alone (`MUT_NOT_OWNER`).',
  },
  closeJob: ownJob,
  cancelJob: ownJob,
  cancelTasks: ownJob,
  holdTasks: ownJob,
  releaseTasks: ownJob,
  updateJob: ownJob,
  forgetJobs: ownJob,
  retryTasks: { ...ownJob, note: 'Current inputs at local paths are read for the owner alone (`MUT_NOT_OWNER`).' },
  waitJob: ownJob,
  watchJob: { ...ownJob, note: "Without a job: events of the caller's jobs, and of machines and requests." },
  listTasks: ownJob,
  getTaskOutput: ownJob,
  tailTaskOutput: ownJob,
  uploadBlob: { callers: 'users', objects: 'none', note: "The blob is the caller's." },
  downloadBlob: { callers: 'users', objects: 'own', others: 'MUT_CONTENT_NOT_FOUND' },
  getOverview: shared,
  listMachines: shared,
  listTrust: shared,
  quarantineMachine: ownerOnly,
  resetMachineTrust: ownerOnly,
  drainMachine: ownerOnly,
  undrainMachine: ownerOnly,
  listRequests: shared,
  explain: { ...ownJob, note: "Jobs and tasks are the caller's own, requests and machines are shared." },
  getLedger: { ...ownJob, note: 'Without a job: the sums of all jobs.' },
  addProvider: ownerOnly,
  removeProvider: ownerOnly,
  listProviders: shared,
  getProviderQueue: shared,
  getQuota: ownQuota,
};

const ownRequest = { callers: 'users', objects: 'own or owner', others: 'MUT_NOT_OWNER' } as const;

const cluster: Rows<typeof ClusterServiceService> = {
  allocate: { ...ownRequest, note: 'The owner may request for another user.' },
  release: ownRequest,
  getLimits: shared,
  getQueue: shared,
  getScores: shared,
  watchQueue: shared,
};

const machine: Rows<typeof GridMachineServiceService> = {
  attach: {
    callers: 'agents',
    objects: 'own',
    others: 'MUT_CREDENTIAL_NAME',
    note:
      'A credential is for one machine, or for the machines of one allocation (`MUT_CREDENTIAL_COPIED` where ' +
      'another agent of it has the name).',
  },
  pullContent: {
    callers: 'agents',
    objects: 'own',
    others: 'MUT_CONTENT_NOT_FOUND',
    note: 'Transfers that were offered to this machine.',
  },
  pushContent: {
    callers: 'agents',
    objects: 'own',
    others: 'MUT_CREDENTIAL_COPIED',
    note: "Under the machine's own name.",
  },
};

const ownTransfer = { callers: 'users', objects: 'own', others: 'MUT_CONTENT_NOT_FOUND' } as const;

const provider: Rows<typeof GridMachineProviderServiceService> = {
  connect: {
    callers: 'users',
    objects: 'own',
    note: "A broker has its name under that of its user, so that it cannot name another user's.",
  },
  sendContent: {
    callers: 'users',
    objects: 'own',
    note: 'A broker offers a transfer under a name of its own; machines of other users do not get it.',
  },
  receiveContent: { ...ownTransfer, note: 'Outputs of machines that work for a broker of the caller.' },
  getResource: { ...shared, note: "Leases: those of the caller's brokers; the owner sees all." },
  listRequests: shared,
  getQueue: shared,
  drain: ownerOnly,
  undrain: ownerOnly,
  switchHeuristic: { ...shared, note: 'Reading is for all, switching for the owner alone (`MUT_NOT_OWNER`).' },
  addMachines: ownerOnly,
  removeMachine: ownerOnly,
  inviteMachine: ownerOnly,
  listMachineCredentials: ownerOnly,
  listEnrolledMachines: ownerOnly,
  getQuota: ownQuota,
};

const ownReservation = { callers: 'users', objects: 'own', others: 'MUT_NOT_OWNER' } as const;
const managedReservation = { callers: 'users', objects: 'own or manager', others: 'MUT_NOT_OWNER' } as const;
const managedResource = { callers: 'users', objects: 'manager', others: 'MUT_NOT_OWNER' } as const;

const reservation: Rows<typeof ReservationServiceService> = {
  requestReservation: { callers: 'users', objects: 'none', note: "The reservation is the caller's." },
  getReservation: managedReservation,
  listReservations: { callers: 'users', objects: 'own or manager', others: 'left out' },
  renegotiateReservation: ownReservation,
  cancelReservation: { ...managedReservation, note: "Who cancels another user's must give a reason." },
  confirmReservation: ownReservation,
  prepareReservation: ownReservation,
  getGroupOutcome: { ...shared, note: 'Whoever knows the random name of the group may ask.' },
  verifyReservation: { ...shared, note: 'Whoever has the claim may ask what it is good for.' },
  claimReservation: {
    ...managedReservation,
    others: 'MUT_CLAIM_NOT_YOURS',
    note: 'Needs the claim, unless the owner of the resource reports a use by its number (`MUT_NOT_OWNER` for others).',
  },
  releaseReservation: managedReservation,
  getCalendar: shared,
  listResources: shared,
  registerResource: {
    ...managedResource,
    note: 'A new name: the owner of the process, and users named by --registrar.',
  },
  updateResource: managedResource,
  addMaintenance: managedResource,
  removeMaintenance: managedResource,
  failResource: managedResource,
  restoreResource: managedResource,
  reportProvisioning: { ...managedResource, note: 'Not for the user whose reservation it is.' },
  getClaimKeys: shared,
  getQuota: ownQuota,
  watchReservations: { callers: 'users', objects: 'own or manager', others: 'left out', note: 'Resources are shared.' },
};

/**
 * Who may call each method of each service: the source of the check that servers make before a handler runs, of the
 * table in docs/reference/security.md, and of the test that calls every method as everybody.
 */
export const accessTable: Readonly<Record<string, Readonly<Record<string, Access>>>> = {
  'mutirao.broker.v1.BrokerService': broker,
  'mutirao.cluster.v1.ClusterService': cluster,
  'mutirao.machine.v1.GridMachineService': machine,
  'mutirao.provider.v1.GridMachineProviderService': provider,
  'mutirao.reservation.v1.ReservationService': reservation,
};

/**
 * The row of a method. @param path `/package.Service/Method`, as a generated definition has it. @throws {Error} where
 * the table has none.
 */
export function findAccess(path: string): Access {
  const [, service = '', method = ''] = path.split('/');
  const access = accessTable[service]?.[method.charAt(0).toLowerCase() + method.slice(1)];
  if (access === undefined) throw new Error(`${path} has no row in the table of access (packages/api/src/access.ts)`);
  return access;
}
