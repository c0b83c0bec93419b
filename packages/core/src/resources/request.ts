import type { Bytes } from '../shared/index.ts';

/** Thousandths of a GPU: 500 is half a device, 2000 two whole ones. Above 1000 a multiple of 1000. */
export type GpuShare = number;

/** The share that is one whole device. */
export const wholeDevice: GpuShare = 1000;

/** What a task asks for in addition to processors. */
export interface ResourceRequest {
  /** 0 asks for none. */
  readonly memory: Bytes;
  /** 0 asks for none. A fraction is of one device; more than one device is a whole number of them. */
  readonly gpus: GpuShare;
  /** Only devices of this kind; left out, any. */
  readonly gpuKind?: string;
  /** Amounts of counted resources by name, each 1 or more: licences, scratch space. */
  readonly named: Readonly<Record<string, number>>;
}

/** Asks for nothing but processors. */
export const emptyRequest: ResourceRequest = { memory: 0, gpus: 0, named: {} };

/** Whether a request asks for nothing but processors. Left out is the same as empty. */
export function isEmptyRequest(request: ResourceRequest | undefined): boolean {
  if (request === undefined || request === emptyRequest) return true;
  return request.memory === 0 && request.gpus === 0 && Object.keys(request.named).length === 0;
}

/** The same text for requests that ask for the same, whatever the order of their names. */
export function keyOfRequest(request: ResourceRequest | undefined): string {
  if (request === undefined || isEmptyRequest(request)) return '';
  const { memory, gpus, gpuKind = '', named } = request;
  const names = Object.keys(named).sort();
  return JSON.stringify([memory, gpus, gpus === 0 ? '' : gpuKind, names.map((name) => [name, named[name]])]);
}

/** A whole number of devices, or a fraction of one: the shares that a task may ask for. */
export function isGpuShare(share: number): boolean {
  return Number.isSafeInteger(share) && share >= 0 && (share <= wholeDevice || share % wholeDevice === 0);
}

/** Names of counted resources: lower-case letters, digits, `-`, `_` and `.`, a letter first. */
export function isResourceName(name: string): boolean {
  return /^[a-z][a-z0-9._-]{0,63}$/.test(name) && !builtInNames.has(name);
}

/** What is asked for in a way of its own. */
const builtInNames: ReadonlySet<string> = new Set(['memory', 'mem', 'gpu', 'gpus', 'cpu', 'cpus', 'processors']);
