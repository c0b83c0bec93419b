/** One bound on what comes in over the wire. */
export interface Limit {
  readonly max: number;
  readonly unit: LimitUnit;
  /** What is bounded, for the documentation. */
  readonly of: string;
}

type LimitUnit = 'characters' | 'items' | 'units' | 'processors' | 'bytes' | 'ms' | 'ms since 1970';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** The last instant of the year 9999. */
const lastInstant = 253_402_300_799_999;

/**
 * The bounds on what a machine, a provider, a cluster or a broker says, from which the codecs refuse what is longer,
 * more or later.
 *
 * Tables of docs/reference/configuration.md are written from it (`scripts/generate`). What a process writes itself it
 * shortens to these bounds, so that no honest peer is refused.
 */
export const limits = {
  machineName: { max: 200, unit: 'characters', of: "the name of a machine, with its provider's" },
  name: {
    max: 256,
    unit: 'characters',
    of: 'any other name: of a provider, request, user, resource, incarnation, identity or transfer',
  },
  proof: { max: 64, unit: 'characters', of: 'a challenge, or a proof that a process reads a home folder' },
  proofs: { max: 256, unit: 'items', of: 'proofs that a process reads home folders' },
  attributes: { max: 200, unit: 'items', of: 'attributes of a machine' },
  attributeName: { max: 64, unit: 'characters', of: 'the name of an attribute' },
  attributeValue: { max: 1024, unit: 'characters', of: 'the value of an attribute' },
  machineProcessors: { max: 65_536, unit: 'processors', of: 'a machine, or a member of a gang' },
  resourceProcessors: { max: 16_777_216, unit: 'processors', of: 'a cluster, a request to it, or a reservation' },
  code: { max: 100, unit: 'characters', of: 'the code of a reason' },
  text: { max: 8192, unit: 'characters', of: 'a text for people: a detail, a sentence of a reason, a trouble' },
  reasons: { max: 200, unit: 'items', of: 'sentences of one reason' },
  heldReplicas: { max: 1_000_000, unit: 'items', of: 'replicas that a machine says it holds' },
  reportedReplicas: { max: 1_000_000, unit: 'items', of: 'replicas in one report' },
  outputFiles: { max: 10_000, unit: 'items', of: 'output files of one replica' },
  path: { max: 4096, unit: 'characters', of: 'the path of a file' },
  contentBytes: { max: 2 ** 50, unit: 'bytes', of: 'one file' },
  streamBytes: { max: 16_777_216, unit: 'bytes', of: 'what is kept of standard output, and of standard error' },
  wantedContents: { max: 1_000_000, unit: 'items', of: 'contents that a machine wants at once' },
  addresses: { max: 64, unit: 'items', of: 'addresses of a member of a gang' },
  address: { max: 300, unit: 'characters', of: 'an address' },
  capabilities: { max: 100, unit: 'items', of: 'capabilities in a greeting' },
  requests: {
    max: 200_000,
    unit: 'items',
    of: 'requests in one message: those of a broker, or the queue of a cluster',
  },
  candidates: { max: 10_000, unit: 'items', of: 'requests that a heuristic compared' },
  reservations: { max: 200_000, unit: 'items', of: 'reservations in one message' },
  units: { max: 1_048_576, unit: 'items', of: 'units of a reservation' },
  tasks: { max: 1_000_000_000_000, unit: 'items', of: 'tasks that a broker says it has, or that have ended' },
  identities: { max: 100_000, unit: 'items', of: 'identities of machines in a lease' },
  requirements: { max: 1_048_576, unit: 'characters', of: 'the requirements of tasks in a lease' },
  keys: { max: 16, unit: 'items', of: 'keys that a reservation manager signs with' },
  claim: { max: 65_536, unit: 'characters', of: 'the claim of a reservation' },
  memory: { max: 2 ** 50, unit: 'bytes', of: 'the memory of a task, or of what it prints' },
  gpus: { max: 1024, unit: 'items', of: 'GPUs of a machine, or of a task' },
  nodeShapes: { max: 1024, unit: 'items', of: 'different shapes of nodes of a resource' },
  namedResources: { max: 64, unit: 'items', of: 'named resources of a machine, or of a task' },
  namedAmount: { max: 2 ** 50, unit: 'units', of: 'the amount of a named resource' },
  freed: { max: 1000, unit: 'items', of: 'steps at which processors of a cluster come free' },
  instant: { max: lastInstant, unit: 'ms since 1970', of: 'any instant; none is before 1970' },
  duration: { max: lastInstant, unit: 'ms', of: 'any duration, a walltime among them' },
} as const satisfies Readonly<Record<string, Limit>>;

/**
 * The bounds on connections and calls that every server of Mutirao's API keeps, whoever calls.
 *
 * A connection is *proven* once a call on it came with a credential that was accepted.
 */
export const serverLimits = {
  connections: { max: 10_000, unit: 'items', of: 'connections of one server' },
  unprovenConnections: {
    max: 100,
    unit: 'items',
    of:
      'connections of one server without a credential that was accepted; a further one closes the oldest of the ' +
      'host that has most of them, or is closed itself',
  },
  unprovenGrace: {
    max: 1000,
    unit: 'ms',
    of:
      'the age before which such a connection is not closed for a further one, so that many honest clients at ' +
      'once come in one after another',
  },
  unprovenAge: { max: 20_000, unit: 'ms', of: 'the age of a connection without a credential that was accepted' },
  unprovenCalls: {
    max: 4,
    unit: 'items',
    of: 'calls open at once on such a connection; only health checks need no credential',
  },
  unprovenRefusals: { max: 100, unit: 'items', of: 'calls refused on such a connection before it is closed' },
  callsPerConnection: { max: 4096, unit: 'items', of: 'calls open at once on one connection' },
  headerBytes: { max: 16 * kibibyte, unit: 'bytes', of: 'the headers of one call' },
  requestStart: {
    max: 60_000,
    unit: 'ms',
    of: 'the arrival of a request that is one message, in addition to 1 s for each 8 KiB of it',
  },
  transferWait: {
    max: 120_000,
    unit: 'ms',
    of:
      'what a transfer waits for its other side; a sender regains 1 s of it with each KiB, and a receiver all of it ' +
      'with each message that it takes. While a connection moves 1 KiB/s in all, its transfers share the time',
  },
} as const satisfies Readonly<Record<string, Limit>>;

/** Bytes of a request for which a slow sender gets one second more. */
export const requestBytesPerSecond = 8 * kibibyte;

/** Bytes with which the sender of a content regains one second of `transferWait`. */
export const transferBytesPerSecond = kibibyte;

/** Where the bytes of a content go, seen from the server of the call. */
export type TransferDirection = 'in' | 'out';

/** Calls whose stream is the bytes of a content, by their path. */
export const transferMethods: Readonly<Record<string, TransferDirection>> = {
  '/mutirao.broker.v1.BrokerService/UploadBlob': 'in',
  '/mutirao.broker.v1.BrokerService/DownloadBlob': 'out',
  '/mutirao.machine.v1.GridMachineService/PullContent': 'out',
  '/mutirao.machine.v1.GridMachineService/PushContent': 'in',
  '/mutirao.provider.v1.GridMachineProviderService/SendContent': 'in',
  '/mutirao.provider.v1.GridMachineProviderService/ReceiveContent': 'out',
};

/** The largest request of a call that is one message, where `requestBytes` names no other. */
export const requestBytesUsual = 64 * kibibyte;

/** The largest message of a stream of requests. */
export const streamedRequestBytes = 16 * mebibyte;

/** The largest request of a call that anybody may make. */
export const openRequestBytes = 4 * kibibyte;

/** Calls whose request may be larger than usual, by their path. */
export const requestBytes: Readonly<Record<string, number>> = {
  '/mutirao.broker.v1.BrokerService/SubmitJob': 256 * mebibyte,
  '/mutirao.broker.v1.BrokerService/AppendTasks': 64 * mebibyte,
  '/mutirao.broker.v1.BrokerService/CancelTasks': 16 * mebibyte,
  '/mutirao.broker.v1.BrokerService/HoldTasks': 16 * mebibyte,
  '/mutirao.broker.v1.BrokerService/ReleaseTasks': 16 * mebibyte,
  '/mutirao.broker.v1.BrokerService/RetryTasks': 16 * mebibyte,
  '/mutirao.broker.v1.BrokerService/ForgetJobs': mebibyte,
  '/mutirao.broker.v1.BrokerService/ListTasks': mebibyte,
  '/mutirao.provider.v1.GridMachineProviderService/AddMachines': 4 * mebibyte,
  '/mutirao.cluster.v1.ClusterService/Allocate': mebibyte,
};

/** The name of a limit. */
export type LimitName = keyof typeof limits;

/** A text for people that is no longer than a peer takes. */
export function clip(text: string, limit: 'code' | 'text' = 'text'): string {
  const { max } = limits[limit];
  return text.length <= max ? text : `${text.slice(0, max - 3)}...`;
}
