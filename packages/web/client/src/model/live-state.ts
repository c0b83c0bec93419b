import { saySentence, sayTimeOfDay } from './words.ts';
import { addSample, busyBySite, type GridSample } from './history.ts';
import type {
  BrokerLink,
  GridEvent,
  JobDetail,
  JobList,
  Ledger,
  MachineOverview,
  ProviderList,
  RecentEvents,
  StreamTopic,
  Summary,
} from '../../../src/schema/index.ts';

/** Everything that the stream has sent so far. */
export interface LiveState {
  /** Undefined until the first message. */
  readonly link?: BrokerLink;
  readonly summary?: Summary;
  readonly jobs?: JobList;
  readonly machines?: MachineOverview;
  readonly providers?: ProviderList;
  readonly ledger?: Ledger;
  readonly job?: JobDetail;
  /** The newest last, `eventsKept` at most. */
  readonly events: readonly GridEvent[];
  /**
   * How the grid was over the last minutes, the newest last, `samplesKept` at most; taken while somebody looks at its
   * machines.
   */
  readonly samples: readonly GridSample[];
  /** The last of the events that came with others left out among them, by its sequence; -1 before any did. */
  readonly sampledTo: number;
  /** Whether the stream itself stands; `connecting` before its first message. */
  readonly stream: 'connecting' | 'open' | 'broken';
  /** Why it broke; empty while it does not. */
  readonly trouble: string;
}

/** Most events that are kept on the page. */
export const eventsKept = 200;
/** A restarted gateway repeats at most this many changes. */
const reportedAgainMax = 100;

export const emptyLiveState: LiveState = { events: [], samples: [], sampledTo: -1, stream: 'connecting', trouble: '' };

/**
 * What changes the state: a message, the stream itself, or the clock, which ticks each `sampleMs`; `topics` are those
 * that are watched then.
 */
export type LiveInput =
  | { readonly kind: 'MessageArrived'; readonly topic: StreamTopic; readonly value: unknown }
  | { readonly kind: 'ClockTicked'; readonly at: number; readonly topics: readonly StreamTopic[] }
  | { readonly kind: 'StreamOpened' }
  | { readonly kind: 'StreamBroken'; readonly reason: string };

/** The state after an input; the same object where nothing changed. */
export function reduceLive(state: LiveState, input: LiveInput): LiveState {
  switch (input.kind) {
    case 'StreamOpened':
      return { ...state, stream: 'open', trouble: '' };
    case 'StreamBroken':
      return { ...state, stream: 'broken', trouble: input.reason };
    case 'ClockTicked':
      return takeSample(state, input);
    case 'MessageArrived':
      return input.topic === 'events'
        ? addEvents(state, input.value as RecentEvents)
        : { ...state, [input.topic]: input.value };
  }
}

function addEvents(state: LiveState, { events, is_sampled: areSampled }: RecentEvents): LiveState {
  let { events: kept, sampledTo } = state;
  let known = kept.at(-1)?.sequence ?? -1;
  let before = known;
  const news: GridEvent[] = [];
  for (const event of events) {
    // That far back lies another journal, which counts again, or the beginning of all that the gateway keeps: either
    // way that is all there is.
    if (event.sequence < before - reportedAgainMax) {
      kept = [];
      news.length = 0;
      sampledTo = known = -1;
    }
    if (event.sequence > known) news.push(event);
    before = event.sequence;
  }
  if (news.length === 0) return state;
  return { ...state, events: [...kept, ...news].slice(-eventsKept), sampledTo: areSampled ? before : sampledTo };
}

/** Whether some were left out among the events that are kept. */
export function isSampled({ events, sampledTo }: LiveState): boolean {
  return (events[0]?.sequence ?? Infinity) <= sampledTo;
}

function takeSample(
  state: LiveState,
  { at, topics }: { readonly at: number; readonly topics: readonly StreamTopic[] },
): LiveState {
  const { summary, machines, link, stream } = state;
  // Of a level that is not watched the page has an old one.
  if (summary === undefined || !topics.includes('summary') || !topics.includes('machines')) return state;
  const isAnnounced = stream === 'open' && link?.connected === true;
  const sample: GridSample = {
    at,
    finishedPerSecond: isAnnounced ? summary.finished_per_s : undefined,
    processors: summary.processors,
    busy: isAnnounced && machines !== undefined ? busyBySite(machines.sites) : undefined,
  };
  return { ...state, samples: addSample(state.samples, sample) };
}

/** Problems of the grid itself, while the page and its broker work. */
export function sayNotice({ summary, link, stream }: LiveState): string {
  if (summary === undefined || stream === 'broken' || link?.connected === false) return '';
  const names = summary.providers_away;
  if (names.length === 0) return '';
  const count = summary.provider_count - summary.providers_connected;
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return (
    `${names.length === 1 && more === '' ? `Provider ${names[0]} is` : `Providers ${names.join(', ')}${more} are`} not ` +
    'connected. Machines there get no new tasks until the broker reaches it again.'
  );
}

/** What is in the way of what the page shows, as a sentence; undefined where nothing is. */
export function findTrouble({
  stream,
  trouble,
  link,
  summary,
}: LiveState): { readonly text: string; readonly isLost: boolean } | undefined {
  if (stream === 'broken')
    return {
      text: `The page has lost the connection to its server: ${trouble} Reconnecting; what you typed is kept.`,
      isLost: true,
    };
  if (link !== undefined && !link.connected)
    return {
      text:
        `The broker has not answered since ${sayTimeOfDay(link.since_unix_ms)}. ${saySentence(link.message)} ` +
        'The page shows the last known state and reconnects.',
      isLost: true,
    };
  if (summary !== undefined && summary.trouble !== '')
    return { text: `The broker accepts no new work: ${summary.trouble}`, isLost: false };
  return undefined;
}
