import { createHash } from 'node:crypto';

import { MutiraoError } from '@mutirao/api/errors';
import type { MachineReport, OutputContent } from '@mutirao/core/messages';
import type { MachineId, ReplicaId } from '@mutirao/core/shared';
import type { Room } from '@mutirao/runtime/files';

import type { Arrivals, Origin } from '../results/arrivals.ts';

/** Whether any replica of a report brought files. */
export function hasOutputs(report: MachineReport): boolean {
  for (const end of report.ended) {
    if (end.outputs.length > 0) return true;
  }
  return false;
}

/** The bytes that came within a report. */
export function bytesOf(report: MachineReport): number {
  let bytes = 0;
  for (const end of report.ended) {
    for (const output of end.outputs) bytes += output.inline?.length ?? 0;
  }
  return bytes;
}

/** Who waits for outputs that come on streams of their own. */
export interface PushedOutputs {
  /** Resolves when the transfer is over, well or not; at once when there is none. */
  settled(machineId: MachineId, transferId: string): Promise<void>;
}

/**
 * Keeps the files of a report and returns it without their bytes.
 *
 * Where there is no room it waits until there is some. A file that cannot be kept for another reason, or whose bytes are not those that were announced, is left out of `arrivals`: accepting the
 * result then says so, and the task runs again. `onTrouble` hears of each.
 */
export async function keepOutputs(
  from: { readonly machineId: MachineId; readonly report: MachineReport },
  stores: { readonly arrivals: Arrivals; readonly pushed: PushedOutputs; readonly room: Pick<Room, 'patiently'>; isAwaited(replicaId: ReplicaId): boolean },
  onTrouble: (error: unknown) => void,
): Promise<MachineReport> {
  for (const end of from.report.ended) {
    const origin = { replicaId: end.replicaId, machineId: from.machineId };
    for (const output of end.outputs) {
      // Of a report that is told again nothing is kept twice: nobody would ever remove it.
      if (output.inline !== undefined && !stores.isAwaited(end.replicaId)) continue;
      if (output.droppedName !== undefined) {
        const { droppedName } = output;
        await stores.room.patiently(() => stores.arrivals.keepDropped(origin, output, droppedName)).catch(onTrouble);
      } else if (output.inline === undefined) await stores.pushed.settled(from.machineId, output.transferId);
      else await stores.room.patiently(() => keepInline(stores.arrivals, origin, output)).catch(onTrouble);
    }
  }
  return { ...from.report, ended: from.report.ended.map((end) => ({ ...end, outputs: end.outputs.map(withoutBytes) })) };
}

async function keepInline(arrivals: Arrivals, origin: Origin, output: OutputContent): Promise<void> {
  const bytes = output.inline ?? new Uint8Array(0);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== output.content.sha256) {
    arrivals.noteMismatch(arrivals.pathOf(origin, output));
    throw new MutiraoError('MUT_CONTENT_MISMATCH', `output ${output.outputIndex} of r${origin.replicaId} has hash ${found}; want ${output.content.sha256}`);
  }
  await arrivals.keepBytes(origin, output, bytes);
}

function withoutBytes(output: OutputContent): OutputContent {
  const { droppedName, ...rest } = output;
  if (droppedName !== undefined) return { ...rest, inline: undefined };
  return output.inline === undefined ? output : { ...output, inline: undefined };
}
