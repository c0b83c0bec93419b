import type { HostFiles } from './host-files.ts';

/** A device as an agent knows it. */
export interface FoundGpu {
  /** What `CUDA_VISIBLE_DEVICES` takes, or `amd:` and what `ROCR_VISIBLE_DEVICES` takes. */
  readonly id: string;
  /** Such as `a100`. */
  readonly kind: string;
}

/** Before the id of a device of AMD: both makers number theirs from 0. */
export const amdPrefix = 'amd:';

/** Slurm names devices by the node's numbers, which are not those that a process sees where Slurm hides the others. */
const managerVariables = ['SLURM_STEP_GPUS', 'SLURM_JOB_GPUS'];
const amdVariables = ['ROCR_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES'];
const query = ['--query-gpu=index,uuid,name', '--format=csv,noheader'];

/**
 * Finds the devices of this host that this process may use. What the manager set restricts what the driver shows;
 * without devices it means nothing, as on a front-end whose profile sets it.
 */
export async function findGpus(
  host: HostFiles,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<FoundGpu[]> {
  const devices = host.list('/dev').flatMap((name) => /^nvidia(\d+)$/.exec(name)?.[1] ?? []);
  const isPresent = devices.length > 0 || host.list('/dev').includes('dxg');
  const listed = isPresent ? parseQuery((await host.run('nvidia-smi', query)) ?? '') : [];
  const nvidia =
    listed.length > 0
      ? listed
      : devices.sort((a, b) => Number(a) - Number(b)).map((index) => ({ index, uuid: '', kind: 'nvidia' }));
  return [
    ...restrictBySlurm(nvidia, environment),
    ...restrict(listAmd(host), findSet(environment, amdVariables)).map(({ id, kind }) => ({
      id: amdPrefix + id,
      kind,
    })),
  ];
}

interface ListedGpu {
  readonly index: string;
  /** Empty where it is not known. */
  readonly uuid: string;
  readonly kind: string;
}

/** Parses what `nvidia-smi` answers to the query above; lines of another form are passed over. */
export function parseQuery(text: string): ListedGpu[] {
  return text.split('\n').flatMap((line) => {
    const [, index, uuid, name] = /^\s*(\d+)\s*,\s*([^,\s]+)\s*,\s*(.+?)\s*$/.exec(line) ?? [];
    return index === undefined || uuid === undefined || name === undefined
      ? []
      : [{ index, uuid, kind: nameKind(name) }];
  });
}

/**
 * Shortens a product's name to what users ask for: without the maker, the connector and the size of its memory.
 * `NVIDIA A100-SXM4-80GB` becomes `a100`, and `NVIDIA GeForce RTX 3090` becomes `rtx-3090`.
 */
export function nameKind(product: string): string {
  const words = product
    .toLowerCase()
    .replace(/^nvidia\s+/, '')
    .split(/[\s-]+/)
    .filter((word) => !noise.test(word));
  const name = words.join('-').replaceAll(/[^a-z\d.-]/g, '');
  return name === '' ? 'nvidia' : name;
}

const noise = /^(?:tesla|geforce|graphics|device|sxm\d?|pcie?|nvl|hbm\d?e?|\d+gb|)$/;

/** As many as Slurm granted, should it have hidden the others. */
function restrictBySlurm(
  listed: readonly ListedGpu[],
  environment: Readonly<Record<string, string | undefined>>,
): FoundGpu[] {
  const granted = findSet(environment, managerVariables);
  if (environment['CUDA_VISIBLE_DEVICES'] !== undefined || granted === undefined)
    return restrict(listed, environment['CUDA_VISIBLE_DEVICES']);
  const count = granted.split(',').filter((word) => word.trim() !== '').length;
  return count >= listed.length ? restrict(listed, undefined) : restrict(listed, granted);
}

/**
 * The devices that a list names, in its order: by number, by UUID or the beginning of one. As in CUDA the list ends at
 * the first entry that is not a device. Parts of a device (MIG) are taken as they are named.
 */
function restrict(listed: readonly ListedGpu[], visible: string | undefined): FoundGpu[] {
  if (visible === undefined) return listed.map(({ index, kind }) => ({ id: index, kind }));
  const found: FoundGpu[] = [];
  for (const entry of visible.split(',').map((word) => word.trim())) {
    const kind = findKind(listed, entry);
    if (kind === undefined || found.some(({ id }) => id === entry)) break;
    found.push({ id: entry, kind });
  }
  return found;
}

/** Undefined for an entry that is not a device. */
function findKind(listed: readonly ListedGpu[], entry: string): string | undefined {
  if (entry === '' || listed.length === 0) return undefined;
  if (entry.startsWith('MIG-')) return 'mig';
  return /^\d+$/.test(entry)
    ? listed.find(({ index }) => index === entry)?.kind
    : listed.find(({ uuid }) => uuid.startsWith(entry))?.kind;
}

/** AMD's, by the nodes of their driver; processors are nodes without compute units. */
function listAmd(host: HostFiles): ListedGpu[] {
  if (!host.list('/dev').includes('kfd')) return [];
  const folder = '/sys/class/kfd/kfd/topology/nodes';
  const kinds = [...host.list(folder)]
    .sort((a, b) => Number(a) - Number(b))
    .flatMap((node) => nameAmdKind(host.read(`${folder}/${node}/properties`) ?? '') ?? []);
  return kinds.map((kind, index) => ({ index: String(index), uuid: '', kind }));
}

/** Such as `gfx90a`, from a node's properties; undefined for a node that is not a GPU. */
export function nameAmdKind(properties: string): string | undefined {
  const read = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(properties)?.[1] ?? 0);
  if (read('simd_count') === 0) return undefined;
  const version = read('gfx_target_version');
  const [major, minor, step] = [Math.floor(version / 10_000), Math.floor(version / 100) % 100, version % 100];
  return version === 0 ? 'amd' : `gfx${major}${minor.toString(16)}${step.toString(16)}`;
}

/** Undefined where none is set; what is set and empty hides all devices. */
function findSet(
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): string | undefined {
  const name = names.find((candidate) => environment[candidate] !== undefined);
  return name === undefined ? undefined : environment[name];
}
