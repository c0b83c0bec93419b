import type { QueueStatus, ResourceStatus } from '@mutirao/core/messages';

import type {
  QueueStatus as QueueStatusWire,
  ResourceStatus as ResourceStatusWire,
} from '../generated/mutirao/provider/v1/provider.ts';
import { clip } from '../limits.ts';
import { badRequest, boundList, boundNumber, boundText } from './common.ts';
import { decodeNodes, encodeNodes } from './slots.ts';

/** Writes how a resource stands for the wire. */
export function encodeResourceStatus({
  processors,
  widthMax,
  isTimeShared,
  isDraining,
  walltimeMax,
  queue,
  nodes,
}: ResourceStatus): ResourceStatusWire {
  return {
    processors,
    widthProcessorsMax: widthMax,
    timeShared: isTimeShared,
    draining: isDraining,
    queue: queue === undefined ? undefined : encodeQueue(queue),
    ...(walltimeMax === undefined ? {} : { walltimeMsMax: walltimeMax }),
    nodes: encodeNodes(nodes),
  };
}

/**
 * Reads the status of a resource.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST if its queue has another number of processors, or a sum is negative or not a
 * number.
 */
export function decodeResourceStatus(wire: ResourceStatusWire): ResourceStatus {
  boundNumber(wire.processors, 'resourceProcessors', 'resource.processors');
  const { processors, widthProcessorsMax, timeShared, draining, walltimeMsMax, queue } = wire;
  if (widthProcessorsMax > processors)
    throw badRequest(
      `resource.width_processors_max is ${widthProcessorsMax}; expected at most its ${processors} processors`,
    );
  const facts = {
    processors,
    widthMax: widthProcessorsMax,
    isTimeShared: timeShared,
    isDraining: draining,
    ...(walltimeMsMax === undefined ? {} : { walltimeMax: walltimeMsMax }),
    ...decodeNodes(wire.nodes, 'resource.nodes'),
  };
  return queue === undefined ? facts : { ...facts, queue: decodeQueue(queue, processors) };
}

function encodeQueue({ age, trouble, known, ownWork }: QueueStatus): QueueStatusWire {
  return {
    ageMs: age,
    trouble: clip(trouble),
    requests: known.count,
    widthProcessorsSum: known.widthSum,
    workProcessorMsSum: known.workSum,
    ownWorkProcessorMs: ownWork,
    free: known.free.map(({ at, processors }) => ({ inMs: at, processors })),
    lastEndMs: known.lastEnd,
    endsProcessorMsSum: known.weightedEnds,
    turnaroundsMsSum: known.turnarounds,
    turnaroundsProcessorMsSum: known.weightedTurnarounds,
    turnaroundsWorkSum: known.workedTurnarounds,
    walltimesMsSum: known.walltimes,
  };
}

function decodeQueue(wire: QueueStatusWire, processors: number): QueueStatus {
  for (const name of [
    'workProcessorMsSum',
    'ownWorkProcessorMs',
    'endsProcessorMsSum',
    'turnaroundsMsSum',
    'turnaroundsProcessorMsSum',
    'turnaroundsWorkSum',
    'walltimesMsSum',
  ] as const) {
    if (!(wire[name] >= 0 && wire[name] < Infinity))
      throw badRequest(`resource.queue.${name} is ${wire[name]}; expected 0 or more`);
  }
  return {
    age: boundNumber(wire.ageMs, 'duration', 'resource.queue.age_ms'),
    trouble: boundText(wire.trouble, 'text', 'resource.queue.trouble'),
    ownWork: wire.ownWorkProcessorMs,
    known: {
      count: wire.requests,
      widthSum: wire.widthProcessorsSum,
      workSum: wire.workProcessorMsSum,
      free: readFree(wire, processors),
      lastEnd: boundNumber(wire.lastEndMs, 'duration', 'resource.queue.last_end_ms'),
      weightedEnds: wire.endsProcessorMsSum,
      turnarounds: wire.turnaroundsMsSum,
      weightedTurnarounds: wire.turnaroundsProcessorMsSum,
      workedTurnarounds: wire.turnaroundsWorkSum,
      walltimes: wire.walltimesMsSum,
    },
  };
}

function readFree({ free }: QueueStatusWire, wanted: number): QueueStatus['known']['free'] {
  boundList(free, 'freed', 'resource.queue.free');
  let [sum, last] = [0, 0];
  for (const { inMs, processors } of free) {
    if (inMs < last) throw badRequest(`resource.queue.free has ${inMs} behind ${last}; expected them by time`);
    [sum, last] = [sum + processors, inMs];
  }
  if (sum !== wanted)
    throw badRequest(`resource.queue.free has ${sum} processors; expected the ${wanted} of the resource`);
  return free.map(({ inMs, processors }) => ({ at: inMs, processors }));
}
