import type { RequestOrder } from '../../messages/index.ts';
import type { Fault, Refusal } from '../../reasons/index.ts';
import { countSlots, plainSlot, type NodeShape, type Slot } from '../../resources/index.ts';
import type { ProcessorCount } from '../../shared/index.ts';
import { roundWalltime, type ClusterOptions, type ClusterState } from './state.ts';

/**
 * Finds the first reason not to take an order; undefined when there is none.
 *
 * @source costa2005, Table 5.1: the limits maxPR (running and queued together), maxP and maxT_r of one user.
 * Departs from the source: walltimes are rounded up to the granularity before they are compared.
 */
export function findRefusal(state: ClusterState, order: RequestOrder): Refusal | undefined {
  return (
    findNonsense(order) ??
    (order.reservationId === undefined ? findExcess(state, order) : findMisfit(state, order, order.reservationId)) ??
    findCrowd(state, order)
  );
}

function findNonsense({ userId, width, walltime, command }: RequestOrder): Refusal | undefined {
  if (userId === '') return bad({ code: 'request-user-empty' });
  if ((command[0] ?? '') === '') return bad({ code: 'request-command-empty' });
  if (!Number.isInteger(width) || width < 1) return bad({ code: 'request-width-invalid', processors: width });
  if (!Number.isInteger(walltime) || walltime < 1)
    return bad({ code: 'request-walltime-invalid', walltimeMs: walltime });
  return undefined;
}

function findExcess({ options }: ClusterState, { width, walltime, slot }: RequestOrder): Refusal | undefined {
  const widest = Math.min(options.widthMax, options.processors);
  if (width > widest)
    return {
      code: 'MUT_WIDTH_MAX',
      fault: { code: 'request-too-wide', processors: width, processorsMax: widest },
    };
  const misshape = findMisshape(options, width, slot);
  if (misshape !== undefined) return misshape;
  const rounded = roundWalltime(walltime, options.walltimeGranularity);
  if (rounded > options.walltimeMax) {
    return {
      code: 'MUT_WALLTIME_MAX',
      fault: { code: 'request-too-long', walltimeMs: rounded, walltimeMsMax: options.walltimeMax },
    };
  }
  return undefined;
}

/** Why no nodes hold the slots of a request, were they all free. */
export function findMisshape(
  { nodes }: Pick<ClusterOptions, 'nodes'>,
  width: ProcessorCount,
  slot: Slot | undefined,
): Refusal | undefined {
  if (nodes === undefined) return slot === undefined ? undefined : bad({ code: 'request-slots-unsupported' });
  const { processors, memory, gpus, gpuKind } = slot ?? plainSlot;
  if (processors < 1 || width % processors > 0)
    return bad({ code: 'request-width-not-in-slots', processors: width, slotProcessors: processors });
  const count = countSlots(nodes, slot ?? plainSlot);
  if (count === 0)
    return bad({
      code: 'request-slot-too-large',
      processors,
      memoryBytes: memory,
      gpus,
      gpuKind: gpuKind ?? '',
      ...findLargest(nodes, gpuKind),
    });
  if (width <= count * processors) return undefined;
  return {
    code: 'MUT_WIDTH_MAX',
    fault: { code: 'request-too-wide', processors: width, processorsMax: count * processors },
  };
}

/** The most of each resource that a node has. */
function findLargest(
  nodes: readonly NodeShape[],
  gpuKind: string | undefined,
): { readonly processorsMax: ProcessorCount; readonly memoryBytesMax: number; readonly gpusMax: number } {
  const countGpus = ({ gpus }: NodeShape): number =>
    Object.entries(gpus).reduce((sum, [kind, count]) => sum + (kind === (gpuKind ?? kind) ? count : 0), 0);
  return {
    processorsMax: Math.max(...nodes.map((node) => node.processors)),
    memoryBytesMax: Math.max(...nodes.map((node) => node.memory)),
    gpusMax: Math.max(...nodes.map(countGpus)),
  };
}

/** Inside a reservation its count and its time are the limits: its owner has agreed to them. */
function findMisfit(
  { reservations }: ClusterState,
  { userId, width, walltime }: RequestOrder,
  reservationId: number,
): Refusal | undefined {
  const reservation = reservations.get(reservationId);
  if (reservation === undefined)
    return { code: 'MUT_RESERVATION_OVER', fault: { code: 'request-reservation-unknown', reservationId } };
  const { count, startsAt, endsAt } = reservation;
  if (reservation.userId !== userId)
    return {
      code: 'MUT_CLAIM_NOT_YOURS',
      fault: {
        code: 'request-reservation-of-another-user',
        reservationId,
        ownerId: reservation.userId,
        userId,
      },
    };
  if (width > count)
    return {
      code: 'MUT_RESERVATION_EXCEEDED',
      fault: {
        code: 'request-wider-than-reservation',
        reservationId,
        processors: width,
        reservedProcessors: count,
      },
    };
  if (walltime <= endsAt - startsAt) return undefined;
  return {
    code: 'MUT_RESERVATION_EXCEEDED',
    fault: {
      code: 'request-longer-than-reservation',
      reservationId,
      walltimeMs: walltime,
      reservedMs: endsAt - startsAt,
    },
  };
}

function findCrowd({ options, livingCounts }: ClusterState, { userId }: RequestOrder): Refusal | undefined {
  const living = livingCounts.get(userId) ?? 0;
  if (living < options.requestsMax) return undefined;
  return {
    code: 'MUT_REQUESTS_MAX',
    fault: { code: 'request-count-reached', userId, requests: living, requestsMax: options.requestsMax },
  };
}

function bad(fault: Fault): Refusal {
  return { code: 'MUT_BAD_REQUEST', fault };
}
