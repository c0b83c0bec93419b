import { ReplicaDisposition, type ReplicaRecord, type TaskRecord } from '@mutirao/api/broker';
import type { Reason } from '@mutirao/api/common';
import { Outcome } from '@mutirao/api/machine';

import type { barKinds } from '../../schema/index.ts';

/** What a stretch of time on a machine was. */
export type BarKind = (typeof barKinds)[number];

/** When the files of a run were on their way, from the records; 0 if it had none. */
export interface StagingTimes {
  readonly inputsAskedAt: number;
  readonly inputsHereAt: number;
  readonly inputsPlacingAt: number;
  readonly commandEndedAt: number;
}

/** One run of a task, as the views after it need it. */
export interface ReplicaRow {
  readonly taskIndex: number;
  readonly replicaId: number;
  readonly machineId: string;
  readonly dispatchedAt: number;
  /** 0 where it never started. */
  readonly startedAt: number;
  /** 0 while it runs. */
  readonly endedAt: number;
  readonly kind: Exclude<BarKind, 'inputs' | 'outputs'>;
  /** When its files were on their way; undefined where it had none, and while it runs. */
  readonly staging: StagingTimes | undefined;
  readonly outcome: Outcome;
  readonly exitStatus: number;
  readonly reason: string;
  readonly detail: Reason | undefined;
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
export function listRows(task: TaskRecord, names: NameTable): ReplicaRow[] {
  return task.replicas.map((replica) => {
    const early = findAhead(replica);
    const at = (instant: number): number => (instant === 0 ? 0 : instant - early);
    return {
      taskIndex: task.taskIndex,
      replicaId: replica.replicaId,
      machineId: names.one(replica.machineId),
      dispatchedAt: replica.dispatchedUnixMs,
      startedAt: at(replica.startedUnixMs),
      endedAt: at(replica.endedUnixMs),
      kind: getKind(replica),
      outcome: replica.outcome,
      exitStatus: replica.exitStatus,
      reason: names.one(replica.reason),
      detail: replica.detail,
      staging: getStaging(replica, at),
    };
  });
}

/** By how much at least a machine's clock is ahead of the broker's: nothing ends after its report arrives. */
function findAhead({ endedUnixMs, takenUnixMs }: ReplicaRecord): number {
  return takenUnixMs === 0 ? 0 : Math.max(0, endedUnixMs - takenUnixMs);
}

function getStaging({ staging }: ReplicaRecord, at: (instant: number) => number): StagingTimes | undefined {
  if (staging === undefined) return undefined;
  return {
    inputsAskedAt: at(staging.inputsAskedUnixMs),
    inputsHereAt: at(staging.inputsHereUnixMs),
    inputsPlacingAt: at(staging.inputsPlacingUnixMs),
    commandEndedAt: at(staging.commandEndedUnixMs),
  };
}

const kindsOfDispositions: Readonly<Partial<Record<ReplicaDisposition, ReplicaRow['kind']>>> = {
  [ReplicaDisposition.ACCEPTED]: 'accepted',
  [ReplicaDisposition.SERVED]: 'accepted',
  [ReplicaDisposition.SURPLUS]: 'loser',
  [ReplicaDisposition.OUTVOTED]: 'loser',
  [ReplicaDisposition.FAILED]: 'failed',
  [ReplicaDisposition.CANCELLED]: 'killed',
  [ReplicaDisposition.LOST]: 'lost',
  [ReplicaDisposition.WITHDRAWN]: 'lost',
};

/** What became of it; for an older broker that does not report it, derived from the outcome. */
function getKind({ accepted, endedUnixMs, outcome, disposition }: ReplicaRecord): ReplicaRow['kind'] {
  const reported = kindsOfDispositions[disposition];
  if (reported !== undefined) return reported;
  if (accepted) return 'accepted';
  if (endedUnixMs === 0) return 'running';
  switch (outcome) {
    case Outcome.FAILED:
    case Outcome.LIMITED:
    case Outcome.BROKEN:
      return 'failed';
    case Outcome.SUCCEEDED:
    case Outcome.CANCELLED:
      return 'loser';
    default:
      return 'lost';
  }
}

/** Whether a replica failed, by its own doing or as its machine could not run it. */
export function isFailure({ kind, outcome }: ReplicaRow): boolean {
  return kind === 'failed' || (kind === 'lost' && outcome === Outcome.BROKEN);
}

/** Whether a replica was lost with its machine; what was taken back before it began was not. */
export function isLoss({ kind, outcome, startedAt }: ReplicaRow): boolean {
  return kind === 'lost' && outcome !== Outcome.BROKEN && startedAt > 0;
}
