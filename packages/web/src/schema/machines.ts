import Type, { type Static } from 'typebox';
import { Count, InstantMs, JobId, orNull, TaskIndex } from './parts.ts';

/** What `status` of the columns stands for, by its index. */
export const machineStatusNames = ['idle', 'busy', 'draining', 'quarantined'] as const;

/** The machines of a provider, as columns of equal length: entry i of each is machine i. */
export const Site = Type.Object({
  provider_id: Type.String(),
  machine_count: Count,
  processors: Count,
  running_count: Count,
  idle: Count,
  busy: Count,
  draining: Count,
  quarantined: Count,
  machines: Type.Object(
    {
      machine_id: Type.Array(Type.String()),
      status: Type.Array(Count, { description: 'Index into `statuses`.' }),
      processors: Type.Array(Count),
      running: Type.Array(Count),
      until_unix_ms: Type.Array(Count, { description: 'When its allocation ends; 0 where it stays.' }),
    },
    { description: 'By name, 5,000 at most; the counts above are of all.' },
  ),
  left_out_count: Count,
});

/** All machines by provider, compact enough for thousands. */
export const MachineOverview = Type.Object({ statuses: Type.Array(Type.String()), sites: Type.Array(Site) });
export type MachineOverview = Static<typeof MachineOverview>;

/** A machine in full. */
export const Machine = Type.Object({
  machine_id: Type.String(),
  provider_id: Type.String(),
  status: Type.String(),
  processors: Count,
  running_count: Count,
  waiting_count: Count,
  finished_count: Count,
  failed_count: Count,
  joined_unix_ms: InstantMs,
  until_unix_ms: orNull(InstantMs),
  request_id: Type.String(),
  memory_bytes: Type.Integer({ description: 'What tasks may use together; 0 where that is not known.' }),
  gpus: Type.Array(Type.Object({ kind: Type.String({ description: 'Empty where nobody says.' }), count: Count })),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  credibility: orNull(Type.Number()),
});
export type Machine = Static<typeof Machine>;

/** Machines by name. */
export const MachinePage = Type.Object({
  machines: Type.Array(Machine),
  next_after: orNull(Type.String({ description: 'Pass it as `after` to go on.' })),
  machine_count: Count,
});
export type MachinePage = Static<typeof MachinePage>;

/** A machine and what it runs. */
export const MachineDetail = Type.Object({
  machine: Machine,
  running: Type.Array(
    Type.Object({
      job_id: JobId,
      task_index: TaskIndex,
      value: Type.String(),
      replica_id: Count,
      dispatched_unix_ms: InstantMs,
      started_unix_ms: orNull(InstantMs),
      processors: Type.Integer({ description: 'What it holds there, as its job asks for it.' }),
      memory_bytes: Count,
      gpu_thousandths: Count,
    }),
  ),
  is_complete: Type.Boolean({ description: 'False where more tasks run than were searched.' }),
});
export type MachineDetail = Static<typeof MachineDetail>;
