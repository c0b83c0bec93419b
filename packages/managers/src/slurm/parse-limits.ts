import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import { parseInstant, parseWalltime } from './parse-time.ts';

/** What `sinfo` is asked to write: one line for each node, with its processors as allocated/idle/other/total. */
export const nodeFormat = '%c|%C';
/** As `nodeFormat`, for a whole partition. */
export const processorsFormat = '%C';

/** What a partition allows. */
export interface Partition {
  readonly name: string;
  readonly isDefault: boolean;
  /** Undefined where there is no limit, as in the two below. */
  readonly walltimeMax: Duration | undefined;
  readonly nodesMax: number | undefined;
  readonly processorsPerNodeMax: number | undefined;
  /** Jobs hold whole nodes. */
  readonly isExclusive: boolean;
  /** Of all nodes, also those that are powered down and that `sinfo` does not list; undefined where it is not told. */
  readonly nodesTotal: number | undefined;
  readonly processorsTotal: number | undefined;
}

/** Reads what `scontrol --oneliner show partition` wrote; lines that show no partition are passed over. */
export function parsePartitions(output: string): Partition[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('PartitionName='))
    .map((line) => {
      const values = new Map(
        line.split(/\s+/).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
      );
      return {
        name: values.get('PartitionName') ?? '',
        isDefault: values.get('Default') === 'YES',
        walltimeMax: parseWalltime(values.get('MaxTime') ?? ''),
        nodesMax: parseCount(values.get('MaxNodes')),
        processorsPerNodeMax: parseCount(values.get('MaxCPUsPerNode')),
        isExclusive: values.get('OverSubscribe') === 'EXCLUSIVE',
        nodesTotal: parseCount(values.get('TotalNodes')),
        processorsTotal: parseCount(values.get('TotalCPUs')),
      };
    });
}

/** A count; undefined for `UNLIMITED` and what is none. A limit of zero is one. */
function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The processors of nodes. */
export interface Processors {
  readonly idle: ProcessorCount;
  /** Those of nodes that are down, drained or reserved left out. */
  readonly usable: ProcessorCount;
  readonly total: ProcessorCount;
}

/** Reads `allocated/idle/other/total`; undefined for anything else. */
export function parseProcessors(text: string): Processors | undefined {
  const match = /^(\d+)\/(\d+)\/(\d+)\/(\d+)$/.exec(text.trim());
  if (match === null) return undefined;
  const [allocated = 0, idle = 0, , total = 0] = match.slice(1).map(Number);
  return { idle, usable: allocated + idle, total };
}

/** Adds up what `sinfo` wrote in `processorsFormat`; undefined when a line is something else. */
export function parseIdleProcessors(output: string): ProcessorCount | undefined {
  const lines = listLines(output).map(parseProcessors);
  return lines.some((line) => line === undefined) ? undefined : lines.reduce((sum, line) => sum + (line?.idle ?? 0), 0);
}

/** What may be asked of a partition's nodes. */
export interface NodeLimits {
  readonly processors: ProcessorCount;
  readonly widthMax: ProcessorCount;
  /** Of the smallest node that may be used. */
  readonly nodeMin: ProcessorCount;
}

/**
 * Reads what `sinfo --Node` wrote in `nodeFormat`: all processors, and those that one request may have. Undefined when
 * a line is something else.
 */
export function parseNodeLimits(output: string, partition: Partition): NodeLimits | undefined {
  const nodes: Processors[] = [];
  for (const line of listLines(output)) {
    const node = parseProcessors(line.slice(line.indexOf('|') + 1));
    if (node === undefined) return undefined;
    nodes.push(node);
  }
  nodes.push(...unlistedNodes(nodes, partition));
  // Where nothing is usable now, all of it may be later; and nothing at all would never be asked for again.
  const isAllAway = nodes.every((node) => node.usable === 0);
  const perNode = nodes
    .map((node) => Math.min(isAllAway ? node.total : node.usable, partition.processorsPerNodeMax ?? Infinity))
    .sort((one, other) => other - one);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return {
    processors: sum(perNode),
    widthMax: sum(perNode.slice(0, partition.nodesMax ?? perNode.length)),
    nodeMin: perNode.findLast((count) => count > 0) ?? 1,
  };
}

/** Nodes of a cloud that are powered down are on no list of `sinfo`, and are started for whoever asks for them. */
function unlistedNodes(
  listed: readonly Processors[],
  { nodesTotal = 0, processorsTotal = 0 }: Partition,
): Processors[] {
  const count = nodesTotal - listed.length;
  const each = Math.floor((processorsTotal - listed.reduce((sum, { total }) => sum + total, 0)) / count);
  return count > 0 && each > 0
    ? Array.from({ length: Math.min(count, unlistedMax) }, () => ({ idle: 0, usable: each, total: each }))
    : [];
}

/** The largest cluster that Slurm's authors write of has some ten thousand nodes. */
const unlistedMax = 100_000;

function listLines(output: string): string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/**
 * The controller's clock, from what `scontrol show config` wrote first, under `TZ=UTC`; whole seconds. 0 when it does
 * not say.
 */
export function parseControllerClock(output: string): Instant {
  return parseInstant(/^Configuration data as of (\S+)/m.exec(output)?.[1] ?? '');
}
