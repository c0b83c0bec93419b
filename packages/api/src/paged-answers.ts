import type { LedgerRow, MachineRecord, ProviderRecord, TrustRecord } from './generated/mutirao/broker/v1/broker.ts';
import type { UserScore } from './generated/mutirao/cluster/v1/cluster.ts';
import type {
  AllocationRequest,
  EnrolledMachineState,
  MachineCredential,
} from './generated/mutirao/provider/v1/provider.ts';
import type { Resource } from './generated/mutirao/reservation/v1/reservation_service.ts';

/**
 * What a page holds at most, but for a single item that is larger: clients of other languages take messages of 4 MiB.
 */
export const pageBytesMax = 2 * 1024 * 1024;

/**
 * A list that is answered in pages of `pageBytesMax`: its request has `page_token` and its answer `next_page_token`.
 *
 * A list that takes several pages comes in the order of its keys: an order that can change, as that of scores, would
 * skip or repeat items between two pages.
 */
export interface PagedAnswer {
  /** The field of the answer that is the list. */
  readonly field: string;
  /** What names an item, and no other one of the list: a page begins with the key after those of the page before. */
  getKey(item: never): string;
}

const requests: PagedAnswer = {
  field: 'requests',
  getKey: ({ providerId, requestId }: AllocationRequest) => `${providerId}/${requestId}`,
};

/** The lists that servers cut into pages, whatever their handlers answer, by the path of their call. */
export const pagedAnswers: Readonly<Record<string, PagedAnswer>> = {
  '/mutirao.broker.v1.BrokerService/GetLedger': {
    field: 'rows',
    getKey: ({ providerId, requestId }: LedgerRow) => `${providerId}/${requestId}`,
  },
  '/mutirao.broker.v1.BrokerService/ListMachines': {
    field: 'machines',
    getKey: ({ facts }: MachineRecord) => facts?.machineId ?? '',
  },
  '/mutirao.broker.v1.BrokerService/ListProviders': {
    field: 'providers',
    getKey: ({ providerId }: ProviderRecord) => providerId,
  },
  '/mutirao.broker.v1.BrokerService/ListRequests': requests,
  '/mutirao.broker.v1.BrokerService/ListTrust': { field: 'records', getKey: ({ identity }: TrustRecord) => identity },
  '/mutirao.cluster.v1.ClusterService/GetScores': { field: 'scores', getKey: ({ userId }: UserScore) => userId },
  '/mutirao.provider.v1.GridMachineProviderService/ListEnrolledMachines': {
    field: 'machines',
    getKey: ({ machine }: EnrolledMachineState) => machine?.name ?? '',
  },
  '/mutirao.provider.v1.GridMachineProviderService/ListMachineCredentials': {
    field: 'credentials',
    getKey: ({ name }: MachineCredential) => name,
  },
  '/mutirao.provider.v1.GridMachineProviderService/ListRequests': requests,
  '/mutirao.reservation.v1.ReservationService/ListResources': {
    field: 'resources',
    getKey: ({ resourceId }: Resource) => resourceId,
  },
};

/** Lists that their own handlers cut into pages of `pageBytesMax`. */
export const ownPages: ReadonlySet<string> = new Set([
  '/mutirao.broker.v1.BrokerService/GetTaskOutput',
  '/mutirao.broker.v1.BrokerService/ListJobs',
  '/mutirao.broker.v1.BrokerService/ListTasks',
  '/mutirao.reservation.v1.ReservationService/ListReservations',
]);

const oneReservation = 'the units of one reservation, 1,048,576 at most, which take 3 MiB';
const oneResource = 'one resource, with its maintenances';
const ofQuotas = 'a row for each quota that there is';
const wholeQueue = 'a whole queue at one instant, which pages would tear; refused beyond what the server sends';

/** Why other answers with something repeated in them have no pages, by the path of their call. */
export const wholeAnswers: Readonly<Record<string, string>> = {
  '/mutirao.broker.v1.BrokerService/Explain': 'a few sentences',
  '/mutirao.broker.v1.BrokerService/GetJob':
    'one job as it was submitted, 256 MiB at most; without_spec leaves that out',
  '/mutirao.broker.v1.BrokerService/GetProviderQueue': wholeQueue,
  '/mutirao.broker.v1.BrokerService/GetQuota': ofQuotas,
  '/mutirao.broker.v1.BrokerService/ForgetJobs': 'the numbers of 10,000 jobs at most',
  '/mutirao.broker.v1.BrokerService/AppendTasks': 'what is doubted of the tasks, as in SubmitJob',
  '/mutirao.broker.v1.BrokerService/SubmitJob': 'the runs that a job resumes, one for each run of its tasks',
  '/mutirao.broker.v1.BrokerService/WaitJob': 'the summary of one job',
  '/mutirao.cluster.v1.ClusterService/GetLimits': 'the limits of one cluster, with bounded shapes of its nodes',
  '/mutirao.cluster.v1.ClusterService/GetQueue': wholeQueue,
  '/mutirao.provider.v1.GridMachineProviderService/GetQueue': wholeQueue,
  '/mutirao.provider.v1.GridMachineProviderService/GetQuota': ofQuotas,
  '/mutirao.provider.v1.GridMachineProviderService/GetResource':
    'a row for each broker, and the sentences of one decision',
  '/mutirao.reservation.v1.ReservationService/AddMaintenance': oneResource,
  '/mutirao.reservation.v1.ReservationService/CancelReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/ClaimReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/ConfirmReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/FailResource': oneResource,
  '/mutirao.reservation.v1.ReservationService/GetCalendar': 'one resource, and 10,000 slots at most',
  '/mutirao.reservation.v1.ReservationService/GetClaimKeys': '16 keys at most',
  '/mutirao.reservation.v1.ReservationService/GetQuota': ofQuotas,
  '/mutirao.reservation.v1.ReservationService/GetReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/PrepareReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/RegisterResource': oneResource,
  '/mutirao.reservation.v1.ReservationService/ReleaseReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/RemoveMaintenance': oneResource,
  '/mutirao.reservation.v1.ReservationService/RenegotiateReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/RequestReservation': oneReservation,
  '/mutirao.reservation.v1.ReservationService/RestoreResource': oneResource,
  '/mutirao.reservation.v1.ReservationService/UpdateResource': oneResource,
  '/mutirao.reservation.v1.ReservationService/VerifyReservation': oneReservation,
};
