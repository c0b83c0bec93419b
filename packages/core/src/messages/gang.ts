import type { ProcessorCount, ReplicaId } from '../shared/index.ts';

/**
 * A replica's part in its gang, as sent to its machine. All members share one gang id, and each has a replica id of its
 * own.
 */
export interface GangMembership {
  /** Never the same for two gangs of a broker. */
  readonly gangId: number;
  /** From 0; rank 0 runs the task's command. */
  readonly rank: number;
  /** How many there are; 1 where one machine has all the processors. */
  readonly members: number;
  /** Key of the channels between its members, 32 bytes. */
  readonly secret: Uint8Array;
}

/** A member of a gang has its processors, listens, and has started nothing. */
export interface GangMemberReady {
  readonly replicaId: ReplicaId;
  /** `user@host`, what `$PROCi` says; unique within the gang. */
  readonly name: string;
  /** `host:port` of its channel, the likeliest first; one or more. */
  readonly addresses: readonly string[];
}

/** A member of a gang that starts. */
export interface GangMember {
  readonly rank: number;
  /** As it said when it was held, as the next. */
  readonly name: string;
  readonly addresses: readonly string[];
  /** Processors that it has there. */
  readonly processors: ProcessorCount;
}

/** Every member is held, and the gang starts. */
export interface StartGang {
  /** The member on the machine that this is for. */
  readonly replicaId: ReplicaId;
  /** By rank, without a gap. */
  readonly members: readonly GangMember[];
}
