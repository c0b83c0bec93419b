import { createHash } from 'node:crypto';

import { MutiraoError } from '@mutirao/api/errors';
import type { MachineReport, OutputContent } from '@mutirao/core/messages';
import { describeBytes, type MachineId, type ReplicaId } from '@mutirao/core/shared';
import { toMutiraoError } from '@mutirao/runtime/rpc';
import type { Room } from '@mutirao/runtime/files';

import type { Arrivals, Origin } from '../results/arrivals.ts';
import type { UnreportedBytes } from '../results/unreported-bytes.ts';

/** Whether any replica of a report brought files. */
export function hasOutputs(report: MachineReport): boolean {
  for (const end of report.ended) {
    if (end.outputs.length > 0) return true;
  }
  return false;
}

/** The bytes that came within a report. */
export function getBytes(report: MachineReport): number {
  let bytes = 0;
  for (const end of report.ended) {
    for (const output of end.outputs) bytes += output.inline?.length ?? 0;
  }
  return bytes;
}

/** A report whose printed output is counted. */
export interface CountedReport {
  /** Without what its tasks printed, where its machine brings too much. */
  readonly report: MachineReport;
  /** It is delivered, or comes again. */
  release(): void;
}

/**
 * Counts what the tasks of a report printed among what their machine brings. What is too much is dropped, and a line of
 * standard error says so instead. `onTrouble` is called for each.
 */
export function countPrinted(
  { machineId, report }: { readonly machineId: MachineId; readonly report: MachineReport },
  unreported: UnreportedBytes,
  onTrouble: (error: unknown) => void,
): CountedReport {
  const keys: string[] = [];
  const ended = report.ended.map((end) => {
    const bytes = end.standardOutput.length + end.standardError.length;
    if (bytes === 0) return end;
    try {
      keys.push(unreported.beginPrinted(machineId, bytes));
      return end;
    } catch (error) {
      onTrouble(error);
      const { code, message } = toMutiraoError(error);
      const standardError = Buffer.from(
        `[${describeBytes(bytes)} that the task printed were not kept: ${code}: ${message}]\n`,
      );
      return { ...end, standardOutput: nothing, standardError, outputTruncated: true };
    }
  });
  return {
    report: { ...report, ended },
    release: () => {
      for (const key of keys) unreported.release(key);
    },
  };
}

const nothing = new Uint8Array(0);

/** Waits for outputs that come on streams of their own. */
export interface PushedOutputs {
  /** Resolves when the transfer is over, well or not; at once when there is none. */
  settled(machineId: MachineId, transferId: string): Promise<void>;
}

/** What is known of replicas whose outputs come. */
export interface KnownReplicas {
  /** Whether a replica's end is still to come. */
  isAwaited(replicaId: ReplicaId): boolean;
  /** Whether it is another machine's. */
  isOthers(replicaId: ReplicaId, machineId: MachineId): boolean;
  /** Whether its end is still to come, or its result is not settled. */
  isOpen(replicaId: ReplicaId): boolean;
}

/** Where outputs go. */
export interface OutputStores {
  readonly arrivals: Arrivals;
  readonly pushed: PushedOutputs;
  readonly room: Pick<Room, 'retryWhileDiskFull'>;
  readonly known: KnownReplicas;
}

/**
 * Keeps the files of a report and returns it without their bytes.
 *
 * Where there is no room it waits until there is some. A file that cannot be kept for another reason, or whose bytes
 * are not those that were announced, is left out of `arrivals`: accepting the result then says so, and the task runs
 * again. `onTrouble` is called for each. Of a replica that ended otherwise meanwhile, as when its machine is caught,
 * nothing stays.
 */
export async function keepOutputs(
  from: { readonly machineId: MachineId; readonly report: MachineReport },
  stores: OutputStores,
  onTrouble: (error: unknown) => void,
): Promise<MachineReport> {
  const kept: KeptOutputs[] = [];
  try {
    for (const { replicaId, outputs } of from.report.ended) {
      const origin = { replicaId, machineId: from.machineId };
      kept.push({ origin, outputs: await keepOutputsOf(origin, outputs, stores, onTrouble) });
    }
    await dropEnded(kept, stores, onTrouble);
  } finally {
    // What came within the report is an output of a task that has ended.
    for (const { origin, outputs } of kept)
      for (const output of outputs) stores.arrivals.unreported.release(stores.arrivals.getPath(origin, output));
  }
  return {
    ...from.report,
    ended: from.report.ended.map((end) => ({ ...end, outputs: end.outputs.map(withoutBytes) })),
  };
}

interface KeptOutputs {
  readonly origin: Origin;
  readonly outputs: readonly OutputContent[];
}

/** Answers those that it kept, or tried to. */
async function keepOutputsOf(
  origin: Origin,
  outputs: readonly OutputContent[],
  { arrivals, pushed, room, known }: OutputStores,
  onTrouble: (error: unknown) => void,
): Promise<OutputContent[]> {
  const kept: OutputContent[] = [];
  for (const output of outputs) {
    const { droppedName } = output;
    if (known.isOthers(origin.replicaId, origin.machineId)) continue;
    // Nothing of a repeated report is stored again: nobody would ever remove it.
    if (output.inline !== undefined && !known.isAwaited(origin.replicaId)) continue;
    if (droppedName === undefined && output.inline === undefined) {
      await pushed.settled(origin.machineId, output.transferId);
      if (known.isAwaited(origin.replicaId)) arrivals.unreported.release(arrivals.getPath(origin, output));
      continue;
    }
    const keep = (): Promise<void> =>
      droppedName === undefined
        ? keepInline(arrivals, origin, output)
        : arrivals.keepDropped(origin, output, droppedName);
    await room.retryWhileDiskFull(keep).catch(onTrouble);
    kept.push(output);
  }
  return kept;
}

/**
 * A replica that ended while its outputs were being stored had only the earlier ones removed; this removes the rest.
 * More may end meanwhile.
 */
async function dropEnded(
  kept: readonly KeptOutputs[],
  { arrivals, known }: OutputStores,
  onTrouble: (error: unknown) => void,
): Promise<void> {
  let left = kept.filter(({ outputs }) => outputs.length > 0);
  for (let count = -1; count !== left.length; ) {
    count = left.length;
    const ended = left.filter(({ origin }) => !known.isOpen(origin.replicaId));
    left = left.filter((one) => !ended.includes(one));
    for (const { origin, outputs } of ended) await arrivals.discard(origin, outputs).catch(onTrouble);
  }
}

async function keepInline(arrivals: Arrivals, origin: Origin, output: OutputContent): Promise<void> {
  const bytes = output.inline ?? new Uint8Array(0);
  const path = arrivals.getPath(origin, output);
  // Counted like what is pushed before a report, until the whole report is kept; once, however often it is tried.
  arrivals.unreported.release(path);
  arrivals.unreported.begin(origin.machineId, path, bytes.length);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== output.content.sha256) {
    arrivals.noteMismatch(path);
    throw new MutiraoError(
      'MUT_CONTENT_MISMATCH',
      `output ${output.outputIndex} of r${origin.replicaId} has hash ${found}; expected ${output.content.sha256}`,
    );
  }
  await arrivals.keepBytes(origin, output, bytes);
}

function withoutBytes(output: OutputContent): OutputContent {
  const { droppedName, ...rest } = output;
  if (droppedName !== undefined) return { ...rest, inline: undefined };
  return output.inline === undefined ? output : { ...output, inline: undefined };
}
