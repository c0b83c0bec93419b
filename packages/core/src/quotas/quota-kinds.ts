/** How an amount of a quota is counted. */
export type QuotaUnit = 'count' | 'bytes' | 'hours';

/** Which kind of process keeps a quota. */
export type QuotaEnforcer = 'broker' | 'provider' | 'reservations' | 'server';

/** One thing that a user, or a machine, may have only so much of. */
export interface QuotaKind {
  readonly unit: QuotaUnit;
  /** What a user other than the owner, or any machine, may have where nothing else is configured. */
  readonly usual: number;
  readonly enforcer: QuotaEnforcer;
  /** Who has it; a user when left out. */
  readonly holder?: 'machine';
  /** What is counted, for people. */
  readonly of: string;
  /** What can be done where it is reached. */
  readonly advice: string;
}

const gibibyte = 1024 ** 3;
const agentAdvice = 'an agent stays far below it: see what else runs with its credential';

/** All that is counted per user or per machine. `server` stands for each server, which counts by itself. */
export const quotaKinds = {
  jobs: {
    unit: 'count',
    usual: 1000,
    enforcer: 'broker',
    of: 'jobs that have not ended',
    advice: 'wait until one of your jobs ends, or cancel one',
  },
  tasks: {
    unit: 'count',
    usual: 2_000_000,
    enforcer: 'broker',
    of: 'tasks of jobs that have not ended',
    advice: 'wait until one of your jobs ends, or submit fewer tasks',
  },
  'blob-bytes': {
    unit: 'bytes',
    usual: 256 * gibibyte,
    enforcer: 'broker',
    of: 'uploaded blobs and outputs without a place at home',
    advice: 'write outputs to places at home, or ask the owner to remove blobs that are not needed',
  },
  'spool-bytes': {
    unit: 'bytes',
    usual: 8 * gibibyte,
    enforcer: 'provider',
    of: 'outputs that wait at a provider while your broker is away',
    advice: 'start your broker, so that it fetches what waits for it',
  },
  'reserved-hours': {
    unit: 'hours',
    usual: 168,
    enforcer: 'reservations',
    of: 'capacity reserved ahead, in hours of the whole resource',
    advice: 'ask for less, or cancel a reservation',
  },
  'reserved-ahead': {
    unit: 'hours',
    usual: 365 * 24,
    enforcer: 'reservations',
    of: 'how far ahead a reservation may end',
    advice: 'ask for a time that is nearer',
  },
  connections: {
    unit: 'count',
    usual: 200,
    enforcer: 'server',
    of: 'connections to one server',
    advice: 'close connections that you do not use',
  },
  streams: {
    unit: 'count',
    usual: 1000,
    enforcer: 'server',
    of: 'calls open at once at one server',
    advice: 'end calls that you do not need',
  },
  'requests-per-second': {
    unit: 'count',
    usual: 200,
    enforcer: 'server',
    of: 'calls begun at one server per second, on average over 10 s',
    advice: 'call less often',
  },
  'request-bytes': {
    unit: 'bytes',
    usual: gibibyte / 2,
    enforcer: 'server',
    of: 'large requests that are arriving at one server',
    advice: 'send large requests one after another',
  },
  'machine-connections': {
    unit: 'count',
    usual: 16,
    enforcer: 'server',
    holder: 'machine',
    of: 'connections of one machine to its provider',
    advice: agentAdvice,
  },
  'machine-streams': {
    unit: 'count',
    usual: 100,
    enforcer: 'server',
    holder: 'machine',
    of: 'calls of one machine that are open at once at its provider',
    advice: agentAdvice,
  },
  'machine-requests-per-second': {
    unit: 'count',
    usual: 2000,
    enforcer: 'server',
    holder: 'machine',
    of: 'calls that one machine begins per second, on average over 10 s',
    advice: agentAdvice,
  },
  'machine-attaches-per-minute': {
    unit: 'count',
    usual: 120,
    enforcer: 'server',
    holder: 'machine',
    of: 'times that one machine attaches, or tries to, to its provider per minute',
    advice: 'an agent that runs well attaches once: see what else runs with its credential',
  },
  'machine-spool-bytes': {
    unit: 'bytes',
    usual: 4 * gibibyte,
    enforcer: 'provider',
    holder: 'machine',
    of: 'outputs of one machine that wait at its provider while their broker is away',
    advice: 'start the broker, so that it fetches what waits, or have the owner of the provider raise it with --quota',
  },
  'machine-report-bytes': {
    unit: 'bytes',
    usual: gibibyte / 4,
    enforcer: 'provider',
    holder: 'machine',
    of: 'reports of one machine, with what its tasks printed, that wait at its provider while their broker is away',
    advice: 'start the broker, so that it takes them, or have the owner of the provider raise it with --quota',
  },
  'machine-bytes': {
    unit: 'bytes',
    usual: 64 * gibibyte,
    enforcer: 'broker',
    holder: 'machine',
    of: 'outputs that one machine brings, printed or as files, within its report or before, for each task that it runs',
    advice: 'write less, or have the owner of the broker raise it with --quota',
  },
} as const satisfies Readonly<Record<string, QuotaKind>>;

/** The name of something that is counted. */
export type QuotaName = keyof typeof quotaKinds;

/** All names, in the order in which they are shown. */
export const quotaNames = Object.keys(quotaKinds) as readonly QuotaName[];

/** Whether a text names something that is counted. */
export function isQuotaName(text: string): text is QuotaName {
  return Object.hasOwn(quotaKinds, text);
}

/** The kinds of which each machine has its own amount. */
export type MachineQuotaName = Extract<QuotaName, `machine-${string}`>;

/** Whether each machine has its own amount of a kind. */
export function isMachineQuota(name: QuotaName): name is MachineQuotaName {
  const kind: QuotaKind = quotaKinds[name];
  return kind.holder === 'machine';
}
