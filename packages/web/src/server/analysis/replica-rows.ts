import type { ReplicaRecord, TaskRecord } from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';

import type { barKinds } from '../../schema/index.ts';

/** What a stretch of time on a machine was. */
export type BarKind = (typeof barKinds)[number];

/** One run of a task, as the views after it need it. */
export interface ReplicaRow {
  readonly taskIndex: number;
  readonly replicaId: number;
  readonly machineId: string;
  readonly placedAt: number;
  /** 0 where it never started. */
  readonly startedAt: number;
  /** 0 while it runs. */
  readonly endedAt: number;
  readonly kind: Exclude<BarKind, 'staging'>;
  readonly outcome: Outcome;
  readonly exitStatus: number;
  readonly reason: string;
  readonly detail: string;
}

/** Names that many rows share are kept once. */
export class NameTable {
  readonly #names = new Map<string, string>();

  one(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, name);
    return name;
  }
}

/** The runs of a task. */
export function rowsOf(task: TaskRecord, names: NameTable): ReplicaRow[] {
  return task.replicas.map((replica) => ({
    taskIndex: task.taskIndex, replicaId: replica.replicaId, machineId: names.one(replica.machineId), placedAt: replica.placedUnixMs, startedAt: replica.startedUnixMs, endedAt: replica.endedUnixMs,
    kind: kindOf(replica), outcome: replica.outcome, exitStatus: replica.exitStatus, reason: names.one(replica.reason), detail: names.one(replica.detail),
  }));
}

function kindOf({ accepted, endedUnixMs, outcome }: ReplicaRecord): ReplicaRow['kind'] {
  if (accepted) return 'accepted';
  if (endedUnixMs === 0) return 'running';
  switch (outcome) {
    case Outcome.FAILED: case Outcome.LIMITED: case Outcome.BROKEN: return 'failed';
    case Outcome.SUCCEEDED: case Outcome.CANCELLED: return 'loser';
    default: return 'lost';
  }
}

/** Whether a replica ran and failed by its own doing or its machine's: what the failures of a job are made of. */
export function isFailure({ kind }: ReplicaRow): boolean {
  return kind === 'failed';
}
