import { describeBytes } from '../shared/index.ts';
import type { Shortage } from './free-resources.ts';
import { type GpuShare, isEmptyRequest, type ResourceRequest, wholeDevice } from './request.ts';

/** A share of GPUs for people: `2 GPUs`, `0.5 GPU`, `1 a100 GPU`. */
export function describeGpus(share: GpuShare, kind = ''): string {
  const noun = share > wholeDevice || share === 0 ? 'GPUs' : 'GPU';
  return `${share / wholeDevice} ${kind === '' ? '' : `${kind} `}${noun}`;
}

/** An amount of one resource for people: `40 GiB of memory`, `2 GPUs`, `2 licence`. */
export function describeAmount({ kind, name }: Pick<Shortage, 'kind' | 'name'>, amount: number): string {
  switch (kind) {
    case 'memory':
      return `${describeBytes(amount)} of memory`;
    case 'gpus':
      return describeGpus(amount, name);
    case 'named':
      return `${amount} ${name}`;
  }
}

/** How much of a whole: `1 of 4 GPUs`, `8 GiB of 64 GiB of memory`. */
export function describePart(
  of: Pick<Shortage, 'kind' | 'name'>,
  { free, total }: Pick<Shortage, 'free' | 'total'>,
): string {
  const part = { memory: describeBytes(free), gpus: `${free / wholeDevice}`, named: `${free}` }[of.kind];
  return `${part} of ${describeAmount(of, total)}`;
}

/** The parts of a request for people, in a fixed order; none for the empty one. */
export function listAmounts(request: ResourceRequest | undefined): string[] {
  if (request === undefined || isEmptyRequest(request)) return [];
  const { memory, gpus, gpuKind, named } = request;
  return [
    ...(memory > 0 ? [describeAmount({ kind: 'memory', name: '' }, memory)] : []),
    ...(gpus > 0 ? [describeGpus(gpus, gpuKind)] : []),
    ...Object.keys(named)
      .sort()
      .map((name) => `${named[name]} ${name}`),
  ];
}
