import type { ReplicaEnding, ReplicaDisposition } from '@mutirao/core/machines/broker';
import type { Cause, Reason } from '@mutirao/core/reasons';
import type { Outcome, OutputContent, ReplicaUsage, StagingTimes, TaskStatus } from '@mutirao/core/messages';

import { numberAt, packNumbers, packTexts, textAt, type NumberColumn, type TextColumn } from './columns.ts';

/** The ends of many replicas by columns: most columns of most batches are a single value. */
export interface PackedEndings {
  /** How many. */
  readonly n: number;
  readonly replica: NumberColumn;
  readonly task: NumberColumn;
  readonly disposition: TextColumn<ReplicaDisposition>;
  readonly task_status: TextColumn<TaskStatus>;
  /** `''` if the machine never reported one. */
  readonly outcome: TextColumn<Outcome | ''>;
  readonly exit: NumberColumn;
  readonly placed: NumberColumn;
  readonly started: NumberColumn;
  readonly ended: NumberColumn;
  /** Absent when empty for all, as the four below. */
  readonly reason?: TextColumn;
  /** Words of others; `''` for a typed reason. */
  readonly detail?: TextColumn;
  /** Typed reasons as JSON; `''` where there is none. */
  readonly detail_reason?: TextColumn;
  /** `''` for those that are not the last of many losses. */
  readonly last_loss?: TextColumn;
  /** Rows whose output was cut, by position. */
  readonly truncated?: readonly number[];
  /** Files of the rows that brought any, by position. */
  readonly files?: readonly (readonly [number, readonly OutputContent[]])[];
  readonly staging?: PackedStaging;
  readonly usage?: PackedUsage;
  /** What tasks of rows ask for next, by position. */
  readonly memory_next?: readonly (readonly [number, number])[];
}

/** What rows used; entry i of each column is of the row at entry i of `rows`. */
interface PackedUsage {
  readonly rows: readonly number[];
  readonly memory: NumberColumn;
  readonly processor: NumberColumn;
}

/** When the files of rows were on their way; entry i of each column is of the row at entry i of `rows`. */
interface PackedStaging {
  readonly rows: readonly number[];
  readonly asked: NumberColumn;
  readonly here: NumberColumn;
  readonly placing: NumberColumn;
  readonly command: NumberColumn;
}

const nothing = new Uint8Array(0);

/** Packs endings without their standard output and error, which are kept apart. */
export function packEndings(endings: readonly ReplicaEnding[]): PackedEndings {
  const reason = packTexts(endings, (ending) => ending.reason);
  const detail = packTexts(endings, (ending) => (typeof ending.detail === 'string' ? ending.detail : ''));
  const detailReason = packTexts(endings, (ending) =>
    typeof ending.detail === 'string' ? '' : JSON.stringify(ending.detail),
  );
  const lastLoss = packTexts(endings, (ending) => ending.lastLoss ?? '');
  const truncated = listPositions(endings, (ending) => ending.outputTruncated);
  const files = listPositions(endings, (ending) => ending.outputs.length > 0);
  return {
    n: endings.length,
    replica: packNumbers(endings, (ending) => ending.replicaId),
    task: packNumbers(endings, (ending) => ending.taskIndex),
    disposition: packTexts(endings, (ending) => ending.disposition),
    task_status: packTexts(endings, (ending) => ending.taskStatus),
    outcome: packTexts(endings, (ending) => ending.outcome ?? ''),
    exit: packNumbers(endings, (ending) => ending.exitStatus),
    placed: packNumbers(endings, (ending) => ending.dispatchedAt),
    started: packNumbers(endings, (ending) => ending.startedAt),
    ended: packNumbers(endings, (ending) => ending.endedAt),
    ...(reason === '' ? {} : { reason }),
    ...(detail === '' ? {} : { detail }),
    ...(detailReason === '' ? {} : { detail_reason: detailReason }),
    ...(lastLoss === '' ? {} : { last_loss: lastLoss }),
    ...(truncated.length === 0 ? {} : { truncated }),
    ...(files.length === 0
      ? {}
      : { files: files.map((at) => [at, (endings[at] as ReplicaEnding).outputs.map(withoutBytes)] as const) }),
    ...packStaging(endings),
    ...packUsage(endings),
    ...packMemoryNext(endings),
  };
}

function packMemoryNext(endings: readonly ReplicaEnding[]): Pick<PackedEndings, 'memory_next'> {
  const rows = listPositions(endings, ({ memoryNext }) => memoryNext !== undefined);
  if (rows.length === 0) return {};
  return { memory_next: rows.map((row) => [row, endings[row]?.memoryNext ?? 0] as const) };
}

function unpackDetail(packed: PackedEndings, index: number): Cause {
  const reason = textAt(packed.detail_reason ?? '', index);
  return reason === '' ? textAt(packed.detail ?? '', index) : (JSON.parse(reason) as Reason);
}

function packUsage(endings: readonly ReplicaEnding[]): Pick<PackedEndings, 'usage'> {
  const rows = listPositions(endings, ({ usage }) => usage !== undefined);
  if (rows.length === 0) return {};
  const memory = packNumbers(rows, (row) => endings[row]?.usage?.memoryPeak ?? 0);
  const processor = packNumbers(rows, (row) => endings[row]?.usage?.processorTime ?? 0);
  return { usage: { rows, memory, processor } };
}

function unpackUsage(packed: PackedUsage | undefined): ReadonlyMap<number, ReplicaUsage> {
  const usages = new Map<number, ReplicaUsage>();
  for (const [index, row] of (packed?.rows ?? []).entries()) {
    if (packed === undefined) break;
    usages.set(row, {
      memoryPeak: numberAt(packed.memory, index),
      processorTime: numberAt(packed.processor, index),
    });
  }
  return usages;
}

function packStaging(endings: readonly ReplicaEnding[]): Pick<PackedEndings, 'staging'> {
  const rows = listPositions(endings, ({ staging }) => staging !== undefined);
  if (rows.length === 0) return {};
  const pack = (name: keyof StagingTimes): NumberColumn =>
    packNumbers(rows, (row) => endings[row]?.staging?.[name] ?? 0);
  return {
    staging: {
      rows,
      asked: pack('inputsAskedAt'),
      here: pack('inputsHereAt'),
      placing: pack('inputsPlacingAt'),
      command: pack('commandEndedAt'),
    },
  };
}

function unpackStaging(packed: PackedStaging | undefined): Map<number, StagingTimes> {
  const { rows, asked, here, placing, command } = packed ?? { rows: [], asked: 0, here: 0, placing: 0, command: 0 };
  return new Map(
    rows.map((row, at) => [
      row,
      {
        inputsAskedAt: numberAt(asked, at),
        inputsHereAt: numberAt(here, at),
        inputsPlacingAt: numberAt(placing, at),
        commandEndedAt: numberAt(command, at),
      },
    ]),
  );
}

/** Reads all endings back, in their order; standard output and error are empty. */
export function unpackEndings(packed: PackedEndings): ReplicaEnding[] {
  const truncated = new Set(packed.truncated);
  const files = new Map(packed.files);
  const stagings = unpackStaging(packed.staging);
  const usages = unpackUsage(packed.usage);
  const memories = new Map(packed.memory_next);
  const endings: ReplicaEnding[] = [];
  for (let index = 0; index < packed.n; index += 1) {
    const outcome = textAt(packed.outcome, index);
    const lastLoss = textAt(packed.last_loss ?? '', index);
    const staging = stagings.get(index);
    const usage = usages.get(index);
    const memoryNext = memories.get(index);
    endings.push({
      replicaId: numberAt(packed.replica, index),
      taskIndex: numberAt(packed.task, index),
      disposition: textAt(packed.disposition, index),
      taskStatus: textAt(packed.task_status, index),
      outcome: outcome === '' ? undefined : outcome,
      exitStatus: numberAt(packed.exit, index),
      dispatchedAt: numberAt(packed.placed, index),
      startedAt: numberAt(packed.started, index),
      endedAt: numberAt(packed.ended, index),
      reason: textAt(packed.reason ?? '', index),
      ...(lastLoss === '' ? {} : { lastLoss }),
      detail: unpackDetail(packed, index),
      standardOutput: nothing,
      standardError: nothing,
      outputTruncated: truncated.has(index),
      outputs: (files.get(index) ?? []).map((file) => ({ ...file, inline: undefined })),
      ...(staging === undefined ? {} : { staging }),
      ...(usage === undefined ? {} : { usage }),
      ...(memoryNext === undefined ? {} : { memoryNext }),
    });
  }
  return endings;
}

function listPositions(endings: readonly ReplicaEnding[], holds: (ending: ReplicaEnding) => boolean): number[] {
  const positions: number[] = [];
  for (let index = 0; index < endings.length; index += 1) {
    if (holds(endings[index] as ReplicaEnding)) positions.push(index);
  }
  return positions;
}

function withoutBytes(output: OutputContent): OutputContent {
  return { ...output, inline: undefined };
}
