import { MutiraoError } from '@mutirao/api/errors';
import { isDurable, type BrokerChange } from '@mutirao/core/machines/broker';
import { readSavedReason, readSavedReasons } from '@mutirao/core/reasons';
import type { JobId } from '@mutirao/core/shared';
import type { ChangeCodec } from '@mutirao/runtime/journal';

import { numberAt, packNumbers, type NumberColumn } from './columns.ts';
import { packEndings, unpackEndings, type PackedEndings } from './endings.ts';
import { projectChange, projectionSchema } from './projection.ts';

type GetKind<K extends BrokerChange['kind']> = Extract<BrokerChange, { kind: K }>;

/** The changes whose lists are packed by columns; every other change is plain JSON. */
type PackedChange =
  | (Omit<GetKind<'ReplicasDispatched'>, 'taskIndexes'> & { readonly n: number; readonly tasks: NumberColumn })
  | (Omit<GetKind<'ReplicasStarted'>, 'started'> & {
      readonly n: number;
      readonly replicas: NumberColumn;
      readonly times: NumberColumn;
    })
  | (Omit<GetKind<'ReplicaVerifying'>, 'ending'> & { readonly endings: PackedEndings })
  | (Omit<GetKind<'ReplicasEnded'>, 'endings'> & { readonly endings: PackedEndings })
  | Exclude<BrokerChange, { kind: 'ReplicasDispatched' | 'ReplicasStarted' | 'ReplicaVerifying' | 'ReplicasEnded' }>;

/** The version of the lines that this codec writes; it reads all versions up to it. */
export const changeVersion = 4;

/** The codec of the broker's journal; the records of replicas are written in the same transaction as the change. */
export const changeCodec: ChangeCodec<BrokerChange> = {
  version: changeVersion,
  encode: encodeChange,
  decode: decodeChange,
  deriveJob,
  isDurable,
  project: projectChange,
  schema: projectionSchema,
};

/** The line of a change: JSON, with long lists packed by columns. Standard output and error are not in it. */
export function encodeChange(change: BrokerChange): string {
  return JSON.stringify(pack(change));
}

/** Reads a line back. @throws {MutiraoError} MUT_JOURNAL_NEWER when a later release wrote it. */
export function decodeChange(version: number, body: string): BrokerChange {
  if (version > changeVersion) {
    throw new MutiraoError(
      'MUT_JOURNAL_NEWER',
      `the journal holds a change of version ${version}; this release reads up to ${changeVersion}`,
    );
  }
  const change = unpack(JSON.parse(body) as PackedChange);
  return version > 1 ? change : readSentences(change);
}

/** Lines of version 1 hold sentences where later ones hold reasons. */
function readSentences(change: BrokerChange): BrokerChange {
  if (change.kind === 'ReservationLeft') return { ...change, reason: readSavedReason(change.reason) };
  if (change.kind !== 'RequestsChanged') return change;
  const requests = change.requests.map((request) => ({ ...request, reasons: readSavedReasons(request.reasons) }));
  return { ...change, requests };
}

function pack(change: BrokerChange): PackedChange {
  switch (change.kind) {
    case 'ReplicasDispatched': {
      const { taskIndexes, ...rest } = change;
      return { ...rest, n: taskIndexes.length, tasks: packNumbers(taskIndexes, (index) => index) };
    }
    case 'ReplicasStarted': {
      const { started, ...rest } = change;
      const replicas = packNumbers(started, (one) => one.replicaId);
      return { ...rest, n: started.length, replicas, times: packNumbers(started, (one) => one.startedAt) };
    }
    case 'ReplicaVerifying': {
      const { ending, ...rest } = change;
      return { ...rest, endings: packEndings([ending]) };
    }
    case 'ReplicasEnded': {
      const { endings, ...rest } = change;
      return { ...rest, endings: packEndings(endings) };
    }
    default:
      return change;
  }
}

function unpack(packed: PackedChange): BrokerChange {
  switch (packed.kind) {
    case 'ReplicasDispatched': {
      const { n, tasks, ...rest } = packed;
      return { ...rest, taskIndexes: Array.from({ length: n }, (_, index) => numberAt(tasks, index)) };
    }
    case 'ReplicasStarted': {
      const { n, replicas, times, ...rest } = packed;
      const started = Array.from({ length: n }, (_, index) => ({
        replicaId: numberAt(replicas, index),
        startedAt: numberAt(times, index),
      }));
      return { ...rest, started };
    }
    case 'ReplicaVerifying': {
      const { endings, ...rest } = packed;
      return { ...rest, ending: onlyOne(unpackEndings(endings)) };
    }
    case 'ReplicasEnded': {
      const { endings, ...rest } = packed;
      return { ...rest, endings: unpackEndings(endings) };
    }
    // JSON drops what is undefined; the types promise that the field is there.
    case 'JobAccepted':
      return { ...packed, spec: { ...packed.spec, deadline: packed.spec.deadline } };
    case 'MachineJoined':
      return { ...packed, facts: { ...packed.facts, until: packed.facts.until } };
    default:
      return packed;
  }
}

function onlyOne<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined)
    throw new MutiraoError('MUT_JOURNAL_CORRUPT', 'the journal holds a verified replica without its end');
  return first;
}

/** Which job's events a change belongs to; undefined for what concerns no single job. */
export function deriveJob(change: BrokerChange): JobId | undefined {
  return 'jobId' in change ? change.jobId : undefined;
}
