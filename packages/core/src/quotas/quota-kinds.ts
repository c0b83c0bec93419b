/** How an amount of a quota is counted. */
export type QuotaUnit = 'count' | 'bytes' | 'hours';

/** Which kind of process keeps a quota. */
export type QuotaEnforcer = 'broker' | 'provider' | 'reservations' | 'server';

/** A quantity that is limited for each user or machine. */
export interface QuotaKind {
  readonly unit: QuotaUnit;
  /** The default quota of a user other than the owner, or of any machine. */
  readonly usual: number;
  readonly enforcer: QuotaEnforcer;
  /** The holder of the quota; a user when left out. */
  readonly holder?: 'machine';
}

const gibibyte = 1024 ** 3;

/** All that is counted per user or per machine. `server` stands for each server, which counts by itself. */
export const quotaKinds = {
  jobs: {
    unit: 'count',
    usual: 1000,
    enforcer: 'broker',
  },
  tasks: {
    unit: 'count',
    usual: 2_000_000,
    enforcer: 'broker',
  },
  'blob-bytes': {
    unit: 'bytes',
    usual: 256 * gibibyte,
    enforcer: 'broker',
  },
  'spool-bytes': {
    unit: 'bytes',
    usual: 8 * gibibyte,
    enforcer: 'provider',
  },
  'reserved-hours': {
    unit: 'hours',
    usual: 168,
    enforcer: 'reservations',
  },
  'reserved-ahead': {
    unit: 'hours',
    usual: 365 * 24,
    enforcer: 'reservations',
  },
  connections: {
    unit: 'count',
    usual: 200,
    enforcer: 'server',
  },
  streams: {
    unit: 'count',
    usual: 1000,
    enforcer: 'server',
  },
  'requests-per-second': {
    unit: 'count',
    usual: 200,
    enforcer: 'server',
  },
  'request-bytes': {
    unit: 'bytes',
    usual: gibibyte / 2,
    enforcer: 'server',
  },
  'machine-connections': {
    unit: 'count',
    usual: 16,
    enforcer: 'server',
    holder: 'machine',
  },
  'machine-streams': {
    unit: 'count',
    usual: 100,
    enforcer: 'server',
    holder: 'machine',
  },
  'machine-requests-per-second': {
    unit: 'count',
    usual: 2000,
    enforcer: 'server',
    holder: 'machine',
  },
  'machine-attaches-per-minute': {
    unit: 'count',
    usual: 120,
    enforcer: 'server',
    holder: 'machine',
  },
  'machine-spool-bytes': {
    unit: 'bytes',
    usual: 4 * gibibyte,
    enforcer: 'provider',
    holder: 'machine',
  },
  'machine-report-bytes': {
    unit: 'bytes',
    usual: gibibyte / 4,
    enforcer: 'provider',
    holder: 'machine',
  },
  'machine-bytes': {
    unit: 'bytes',
    usual: 64 * gibibyte,
    enforcer: 'broker',
    holder: 'machine',
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
