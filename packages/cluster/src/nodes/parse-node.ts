import { MutiraoError } from '@mutirao/api/errors';
import type { ClusterNode } from '@mutirao/core/queue';
import type { GpuDevice } from '@mutirao/core/resources';
import { findNearestWord, type Bytes, type ProcessorCount } from '@mutirao/core/shared';
import { FormatError, parseGpuDevices, parseSize } from '@mutirao/formats';

/** A node as the configuration states it. */
export interface NodeConfig {
  readonly name: string;
  /** `user@host`, or a name of ssh's configuration; empty for a part of this host. */
  readonly destination: string;
  readonly processors: ProcessorCount;
  /** Left out where it is not stated. */
  readonly memory?: Bytes;
  /** Left out where they are not stated. */
  readonly gpus?: readonly GpuDevice[];
}

const processorsMax = 65_536;
/** 1 PiB: a profile counts mebibytes in 31 bits. */
const memoryMax: Bytes = 2 ** 50;
const example =
  'NAME=ssh:USER@HOST:PROCESSORS or NAME=local:PROCESSORS, for example n1=ssh:ana@node1:8:memory=32G:gpus=2:a100';
const keys = ['memory', 'gpus'];

/**
 * Reads `NAME=ssh:USER@HOST:PROCESSORS` or `NAME=local:PROCESSORS` each, with `:memory=SIZE` and `:gpus=GPUS` behind
 * it. @throws {MutiraoError} MUT_BAD_CONFIG
 */
export function parseNodes(texts: readonly string[]): NodeConfig[] {
  const nodes = texts.map(parseNode);
  const names = new Set<string>();
  for (const { name } of nodes) {
    if (names.has(name)) throw bad(`two nodes are named "${name}"; expected another name for each`);
    names.add(name);
  }
  if (new Set(nodes.map(({ destination }) => destination === '')).size > 1)
    throw bad('some nodes are "local" and others are reached over ssh; expected all of one kind');
  return numberDevices(nodes);
}

/** Whether the cluster gives slots of its nodes, and not only processors. */
export function haveCapacities(nodes: readonly NodeConfig[]): boolean {
  return nodes.some(
    ({ destination, memory, gpus }) => destination === '' || memory !== undefined || gpus !== undefined,
  );
}

/**
 * Nodes as the cluster plans with them. Parts of this host that state no memory share its memory by their processors;
 * of other hosts it is not known.
 */
export function planNodes(nodes: readonly NodeConfig[], hostMemory: Bytes): ClusterNode[] {
  const local = nodes.filter(({ destination }) => destination === '');
  const processorsOfHost = local.reduce((sum, { processors }) => sum + processors, 0);
  return nodes.map(({ name, destination, processors, memory, gpus = [] }) => ({
    name,
    processors,
    memory: memory ?? (destination === '' ? Math.floor((hostMemory * processors) / processorsOfHost) : 0),
    gpus,
  }));
}

function parseNode(text: string): NodeConfig {
  const [head = '', ...properties] = text.split(/:(?=[A-Za-z][\w-]*=)/);
  const [, name = '', destination = '', count = ''] =
    /^([A-Za-z0-9_][\w.-]{0,63})=(?:ssh:([^\s-]\S*)|local):(\d{1,5})$/.exec(head) ?? [];
  const processors = Number(count);
  if (name === '' || processors < 1 || processors > processorsMax) throw bad(`node is "${text}"; expected ${example}`);
  const given = readProperties(name, properties);
  return {
    name,
    destination,
    processors,
    ...readMemory(name, given.get('memory')),
    ...readGpus(name, given.get('gpus')),
  };
}

function readProperties(name: string, properties: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const property of properties) {
    const [key, value] = splitOnce(property);
    if (!keys.includes(key)) {
      const nearest = findNearestWord(key, keys);
      const advice = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
      throw bad(`node ${name} has "${key}"; expected ${keys.join(' or ')}${advice}`);
    }
    if (given.has(key)) throw bad(`node ${name} has "${key}" twice; expected it once`);
    given.set(key, value);
  }
  return given;
}

function splitOnce(property: string): [string, string] {
  const at = property.indexOf('=');
  return [property.slice(0, at), property.slice(at + 1)];
}

function readMemory(name: string, text: string | undefined): Pick<NodeConfig, 'memory'> {
  if (text === undefined) return {};
  const memory = read(name, () => parseSize(text));
  if (memory < 2 ** 20 || memory > memoryMax)
    throw bad(`node ${name} has memory=${text}; expected 1 MiB to 1 PiB, as in memory=32G`);
  return { memory };
}

/** Ids are joined by "+", since commas part nodes. */
function readGpus(name: string, text: string | undefined): Pick<NodeConfig, 'gpus'> {
  return text === undefined ? {} : { gpus: read(name, () => parseGpuDevices(text.replaceAll('+', ','))) };
}

function read<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new MutiraoError('MUT_BAD_CONFIG', `node ${name}: ${error.message}`, { cause: error });
  }
}

/** GPUs of parts of one host that are only counted are numbered on; ids that are stated must differ. */
function numberDevices(nodes: readonly NodeConfig[]): NodeConfig[] {
  if (nodes[0]?.destination !== '') return [...nodes];
  const seen = new Set<string>();
  return nodes.map((node) => {
    if (node.gpus === undefined) return node;
    const isCounted = node.gpus.every(({ id }, index) => id === String(index));
    const first = isCounted ? seen.size : 0;
    const gpus = node.gpus.map((gpu, index) => (isCounted ? { ...gpu, id: String(first + index) } : gpu));
    for (const { id } of gpus) {
      if (seen.has(id)) throw bad(`GPU ${id} is of two nodes of this host; expected other ids, as in gpus=2+3`);
      seen.add(id);
    }
    return { ...node, gpus };
  });
}

function bad(message: string): MutiraoError {
  return new MutiraoError('MUT_BAD_CONFIG', message);
}
