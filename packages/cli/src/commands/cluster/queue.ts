import type { Command } from 'commander';

import {
  RequestStatus,
  type ClusterNode,
  type GetLimitsResponse,
  type GetQueueResponse,
  type QueuedRequest,
} from '@mutirao/api/cluster';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { findClusterAddress, listClusterAddresses } from '../../grid/addresses.ts';
import { clusterNodeJson, honouredReservationJson, queuedRequestJson } from '../../json/documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showMoment } from '../../output/units.ts';
import { describeSlot } from '@mutirao/core/resources';
import { describeBytes } from '@mutirao/core/shared';
import { getEnumName } from '../../wire/names.ts';

/** Whose queue, and how much of its past. */
export interface QueueOptions {
  readonly cluster?: string;
  readonly ended: string;
}

interface Listing {
  readonly name: string;
  readonly limits: GetLimitsResponse;
  readonly queue: GetQueueResponse;
}

export function define(command: Command, act: Act): void {
  command
    .option('--cluster <name>', 'name or address of a cluster (default: all clusters of this grid)')
    .option('--ended <count>', 'also list this many requests that ended most recently', '0')
    .action((options: QueueOptions) => act((context) => showQueues(context, options)));
}

/** Shows the queues of embedded clusters. */
export async function showQueues(context: CommandContext, options: QueueOptions): Promise<ExitStatus> {
  const wanted =
    options.cluster === undefined
      ? listClusterAddresses(context.home, (name) => {
          context.output.note(`Cluster ${name} is left out: its process has ended.`);
        })
      : [findClusterAddress(context.home, options.cluster)];
  const listings: Listing[] = [];
  for (const { name, address } of wanted) {
    const cluster = await context.cluster(address);
    listings.push({
      name,
      limits: await cluster.getLimits({ userId: '' }),
      queue: await cluster.getQueue({ endedMax: Number(options.ended), userId: '' }),
    });
  }
  printResult(context.output, {
    json: () => listings.map(queueJson),
    table: () => listings.flatMap((listing, index) => [...(index === 0 ? [] : ['']), ...queueTable(listing)]),
    quiet: () => listings.flatMap(({ queue }) => queue.requests.map((request) => request.requestId)),
  });
  return 0;
}

function queueJson({ name, limits, queue }: Listing): unknown {
  return {
    cluster: name,
    at_unix_ms: queue.atUnixMs,
    processors: limits.processors,
    processors_free: queue.processorsFree,
    requests: queue.requests.map(queuedRequestJson),
    reservations: queue.reservations.map(honouredReservationJson),
    nodes: queue.nodes.map(clusterNodeJson),
  };
}

function queueTable({ name, limits, queue }: Listing): string[] {
  const head = `${name}: ${queue.processorsFree} of ${limits.processors} processors free`;
  const walls = [...reservationLines(queue), ...nodeLines(queue)];
  if (queue.requests.length === 0) return [`${head}, nothing queued.`, ...walls];
  const positions = listPositions(queue);
  return [
    head,
    ...renderTable(
      [
        { title: 'REQUEST' },
        ...(queue.ranking === undefined ? [] : [{ title: 'RANK', right: true }]),
        { title: 'USER' },
        { title: 'STATUS' },
        { title: 'WIDTH', right: true },
        ...(hasSlots(queue) ? [{ title: 'IN SLOTS OF' }] : []),
        { title: 'WALLTIME', right: true },
        { title: 'SUBMITTED' },
        { title: 'STARTS' },
        { title: 'ENDED' },
        { title: 'REASON' },
      ],
      queue.requests.map((request) => {
        const [id = '', ...cells] = listCells(request, queue);
        return queue.ranking === undefined ? [id, ...cells] : [id, positions.get(id) ?? '-', ...cells];
      }),
    ),
    ...walls,
  ];
}

/** Of those that wait in a queue by scores, by id: 1 for the next to go. */
function listPositions({ requests }: GetQueueResponse): Map<string, string> {
  const ranked = requests
    .filter(({ rankedUnixMs }) => rankedUnixMs > 0)
    .sort((one, other) => one.rankedUnixMs - other.rankedUnixMs);
  return new Map(ranked.map(({ requestId }, index) => [requestId, String(index + 1)]));
}

function reservationLines({ reservations, atUnixMs }: GetQueueResponse): string[] {
  if (reservations.length === 0) return [];
  return [
    '',
    ...renderTable(
      [
        { title: 'RESERVATION' },
        { title: 'USER' },
        { title: 'PROCESSORS', right: true },
        { title: 'IN USE', right: true },
        { title: 'STARTS' },
        { title: 'ENDS' },
        { title: 'DELAY' },
      ],
      reservations.map((one) => [
        String(one.reservationId),
        one.userId,
        String(one.processors),
        String(one.processorsUsed),
        showMoment(one.startUnixMs, atUnixMs),
        showMoment(one.endUnixMs, atUnixMs),
        one.lateMs === 0 ? '-' : showDuration(one.lateMs),
      ]),
    ),
  ];
}

function nodeLines({ nodes }: GetQueueResponse): string[] {
  if (nodes.length === 0) return [];
  return [
    '',
    ...renderTable(
      [
        { title: 'NODE' },
        { title: 'FREE PROCESSORS', right: true },
        { title: 'FREE MEMORY', right: true },
        { title: 'FREE GPUS' },
        { title: 'STATUS' },
      ],
      nodes.map((node) => [
        node.name,
        `${node.processorsFree} of ${node.processors}`,
        node.memoryBytes === 0 ? '-' : `${describeBytes(node.memoryBytesFree)} of ${describeBytes(node.memoryBytes)}`,
        showGpus(node),
        node.isAway ? 'away' : 'up',
      ]),
    ),
  ];
}

function showGpus({ gpus }: ClusterNode): string {
  if (gpus.length === 0) return '-';
  const kinds = [...new Set(gpus.map(({ kind }) => kind))].filter((kind) => kind !== '');
  const free = gpus.filter(({ isFree }) => isFree).length;
  return [`${free} of ${gpus.length}`, ...(kinds.length === 0 ? [] : [`(${kinds.join(', ')})`])].join(' ');
}

function hasSlots({ requests }: GetQueueResponse): boolean {
  return requests.some(({ slot }) => slot !== undefined);
}

/** A whole number of these makes a request: `4 processors, 8 GiB of memory and 1 GPU`. */
function showSlot({ slot }: QueuedRequest): string {
  if (slot === undefined) return '-';
  const { processors, memoryBytes: memory, gpus, gpuKind = '' } = slot;
  return describeSlot({ processors, memory, gpus, ...(gpuKind === '' ? {} : { gpuKind }) });
}

function listCells(request: QueuedRequest, queue: GetQueueResponse): string[] {
  const { atUnixMs: now, ranking } = queue;
  const starts = showMoment(request.startsUnixMs, now);
  // In a queue by scores it is not a promise.
  const about = ranking === undefined ? 'by' : 'about';
  return [
    request.requestId,
    request.userId,
    getEnumName(RequestStatus, request.status),
    String(request.widthProcessors),
    ...(hasSlots(queue) ? [showSlot(request)] : []),
    showDuration(request.walltimeMs),
    showMoment(request.submittedUnixMs, now),
    request.status === RequestStatus.QUEUED && starts !== '-' ? `${about} ${starts}` : starts,
    showMoment(request.endedUnixMs, now),
    request.endReason,
  ];
}
