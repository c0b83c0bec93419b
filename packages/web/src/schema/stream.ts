import Type, { type Static } from 'typebox';
import { Count, InstantMs, JobId, orNull, TaskIndex } from './parts.ts';
import { JobDetail, JobList } from './job.ts';
import { Ledger } from './ledger.ts';
import { MachineOverview } from './machines.ts';
import { ProviderList } from './providers.ts';
import { Summary } from './summary.ts';

/** How the gateway and the broker get on: the first message of a stream, and one at each change. */
export const BrokerLink = Type.Object({
  connected: Type.Boolean(),
  since_unix_ms: InstantMs,
  code: Type.String({ description: 'Why not: a code of the error registry; empty while connected.' }),
  message: Type.String(),
});
export type BrokerLink = Static<typeof BrokerLink>;

/** Something that happened. */
export const GridEvent = Type.Object({
  sequence: Count,
  at_unix_ms: InstantMs,
  type: Type.String({ description: 'A lower-case fact about a noun, such as `tasks.finished`.' }),
  job_id: orNull(JobId),
  task_indexes: Type.Array(TaskIndex, { description: 'The first 20.' }),
  task_count: Count,
  machine_id: Type.String(),
  provider_id: Type.String(),
  request_id: Type.String(),
  reason: Type.String({ description: 'A code, or words of a program; may be empty.' }),
  why: Type.String({ description: 'The same for people; empty where there is nothing to say.' }),
});
export type GridEvent = Static<typeof GridEvent>;

/** Events as they came, the oldest first; while very many happen some are left out, and counted. */
export const RecentEvents = Type.Object({
  events: Type.Array(GridEvent, { description: '200 at most.' }),
  is_sampled: Type.Boolean({ description: 'Whether some that happened since the message before are left out.' }),
});
export type RecentEvents = Static<typeof RecentEvents>;

/**
 * The messages of the stream `GET /api/v1/events?topics=...`, by their name (`event:` of the message). All but `events`
 * are levels: a new one replaces the old one, is sent only when something changed, and at most some times a second. A
 * client that reconnects sends the id of the last message (`id:`) as `Last-Event-ID`: it then gets only what changed
 * since.
 */
export const streamTopics = {
  link: BrokerLink,
  summary: Summary,
  jobs: JobList,
  machines: MachineOverview,
  providers: ProviderList,
  ledger: Ledger,
  events: RecentEvents,
  /** With `job=ID` in addition to the topics. */
  job: JobDetail,
} as const;
export type StreamTopic = keyof typeof streamTopics;
export type StreamMessage<T extends StreamTopic> = Static<(typeof streamTopics)[T]>;

/** A comment line that keeps the connection alive comes so often, also while nothing changes. */
export const heartbeatMs = 10_000;
