import { listSpellings, type GpuSpellings } from '../gpu-spellings.ts';
import { groupNodes, type NodeShape } from '@mutirao/core/resources';
import type { Bytes, Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import { parseInstant, parseWalltime } from './parse-time.ts';

/**
 * What `sinfo` is asked to write: one line for each node, with its processors as allocated/idle/other/total, its memory
 * in MiB and its generic resources.
 */
export const nodeFormat = '%c|%C|%m|%G';
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
  /** Of all nodes, also those that are powered down and that `sinfo` does not list; undefined where it is not known. */
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

/** A count; undefined for `UNLIMITED` and malformed texts. A limit of zero is a limit. */
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
  /** What one request may have of each node. */
  readonly nodes: readonly NodeShape[];
  readonly gpuSpellings: GpuSpellings;
}

/**
 * Reads what `sinfo --Node` wrote in `nodeFormat`: all processors, and those that one request may have. Undefined when
 * a line is something else.
 */
export function parseNodeLimits(output: string, partition: Partition): NodeLimits | undefined {
  const nodes: ListedNode[] = [];
  const kinds: string[] = [];
  for (const line of listLines(output)) {
    const [, processors = line, memory = '', resources = ''] = line.split('|');
    const node = parseProcessors(processors);
    if (node === undefined) return undefined;
    const gpus = parseGpus(resources);
    nodes.push({ ...node, memory: parseMemory(memory), gpus: countByKind(gpus) });
    kinds.push(...gpus.map(({ kind }) => kind));
  }
  nodes.push(...unlistedNodes(nodes, partition));
  // Where nothing is usable now, all of it may be later; and nothing at all would never be asked for again.
  const isAllAway = nodes.every((node) => node.usable === 0);
  const usableOf = (node: Processors): ProcessorCount =>
    Math.min(isAllAway ? node.total : node.usable, partition.processorsPerNodeMax ?? Infinity);
  const perNode = nodes.map(usableOf).sort((one, other) => other - one);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return {
    processors: sum(perNode),
    widthMax: sum(perNode.slice(0, partition.nodesMax ?? perNode.length)),
    nodeMin: perNode.findLast((count) => count > 0) ?? 1,
    nodes: groupNodes(
      nodes
        .map((node) => ({ count: 1, processors: usableOf(node), memory: node.memory, gpus: node.gpus }))
        .filter(({ processors }) => processors > 0),
    ),
    gpuSpellings: listSpellings(kinds),
  };
}

/** A node as `sinfo` lists it. */
interface ListedNode extends Processors {
  /** 0 where it is not configured. */
  readonly memory: Bytes;
  readonly gpus: Readonly<Record<string, number>>;
}

/** GPUs of a node, as Slurm spells their type; empty where they have none. */
interface ListedGpus {
  readonly kind: string;
  readonly count: number;
}

/** Memory in MiB; Slurm says 1 where it is not configured. */
function parseMemory(text: string): Bytes {
  return /^\d+$/.test(text) && Number(text) > 1 ? Number(text) * 2 ** 20 : 0;
}

/** GPUs by their type among generic resources such as `gpu:a100:4(S:0-1),license:2`; a type may be left out. */
function parseGpus(text: string): ListedGpus[] {
  const gpus: ListedGpus[] = [];
  for (const word of text.split(/,(?![^(]*\))/)) {
    const [, kind = '', count] = /^gpu(?::([^:(]+))??:(\d+)(?:\(.*\))?$/.exec(word.trim()) ?? [];
    if (count === undefined) continue;
    gpus.push({ kind, count: Number(count) });
  }
  return gpus;
}

function countByKind(gpus: readonly ListedGpus[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, count } of gpus) {
    const name = kind.toLowerCase();
    counts[name] = (counts[name] ?? 0) + count;
  }
  return counts;
}

/**
 * Nodes of a cloud that are powered down are on no list of `sinfo`, and are started for the first job that needs them.
 */
function unlistedNodes(
  listed: readonly ListedNode[],
  { nodesTotal = 0, processorsTotal = 0 }: Partition,
): ListedNode[] {
  const count = nodesTotal - listed.length;
  const each = Math.floor((processorsTotal - listed.reduce((sum, { total }) => sum + total, 0)) / count);
  return count > 0 && each > 0
    ? Array.from({ length: Math.min(count, unlistedMax) }, () => ({
        idle: 0,
        usable: each,
        total: each,
        memory: 0,
        gpus: {},
      }))
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
