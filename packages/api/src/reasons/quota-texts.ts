import type { QuotaName } from '@mutirao/core/quotas';

/** What people read about a quota. */
export interface QuotaText {
  /** What is counted. */
  readonly of: string;
  /** What can be done once it is reached. */
  readonly advice: string;
}

const agentAdvice = 'an agent stays far below it: see what else runs with its credential';

/** What each quota counts, and what to do. */
export const quotaTexts: Readonly<Record<QuotaName, QuotaText>> = {
  jobs: {
    of: 'jobs that have not ended',
    advice: 'wait until one of your jobs ends, or cancel one',
  },
  tasks: {
    of: 'tasks of jobs that have not ended',
    advice: 'wait until one of your jobs ends, or submit fewer tasks',
  },
  'blob-bytes': {
    of: 'uploaded blobs and outputs without a place at home',
    advice: 'write outputs to places at home, or ask the owner to remove blobs that are not needed',
  },
  'spool-bytes': {
    of: 'outputs that wait at a provider while your broker is away',
    advice: 'start your broker, so that it fetches what waits for it',
  },
  'reserved-hours': {
    of: 'capacity reserved ahead, in hours of the whole resource',
    advice: 'ask for less, or cancel a reservation',
  },
  'reserved-ahead': {
    of: 'how far ahead a reservation may end',
    advice: 'ask for a time that is nearer',
  },
  connections: {
    of: 'connections to one server',
    advice: 'close connections that you do not use',
  },
  streams: {
    of: 'calls open at once at one server',
    advice: 'end calls that you do not need',
  },
  'requests-per-second': {
    of: 'calls begun at one server per second, on average over 10 s',
    advice: 'call less often',
  },
  'request-bytes': {
    of: 'large requests that are arriving at one server',
    advice: 'send large requests one after another',
  },
  'machine-connections': {
    of: 'connections of one machine to its provider',
    advice: agentAdvice,
  },
  'machine-streams': {
    of: 'calls of one machine that are open at once at its provider',
    advice: agentAdvice,
  },
  'machine-requests-per-second': {
    of: 'calls that one machine begins per second, on average over 10 s',
    advice: agentAdvice,
  },
  'machine-attaches-per-minute': {
    of: 'times that one machine attaches, or tries to, to its provider per minute',
    advice: 'an agent that runs well attaches once: see what else runs with its credential',
  },
  'machine-spool-bytes': {
    of: 'outputs of one machine that wait at its provider while their broker is away',
    advice: 'start the broker, so that it fetches what waits, or have the owner of the provider raise it with --quota',
  },
  'machine-report-bytes': {
    of: 'reports of one machine, with what its tasks printed, that wait at its provider while their broker is away',
    advice: 'start the broker, so that it takes them, or have the owner of the provider raise it with --quota',
  },
  'machine-bytes': {
    of: 'outputs that one machine brings, printed or as files, within its report or before, for each task that it runs',
    advice: 'write less, or have the owner of the broker raise it with --quota',
  },
};
