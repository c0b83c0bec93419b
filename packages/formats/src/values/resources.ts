import {
  emptyRequest,
  type GpuDevice,
  type GpuShare,
  isResourceName,
  type ResourceRequest,
  wholeDevice,
} from '@mutirao/core/resources';
import { parseSize } from './size.ts';
import { parseWhole, type ValueContext, valueError } from './number.ts';

/** Most GPUs of a task or of a machine. */
const gpusMax = 1024;
/** Largest amount of a named resource. */
const amountMax = 2 ** 50;

/** GPUs that a task asks for; `gpuKind` is left out for any kind. */
export type GpuRequest = Pick<ResourceRequest, 'gpus' | 'gpuKind'>;

/**
 * Reads how many GPUs a task asks for: `2`, `0.5` (half of one), `2:a100` (of that kind); `0` for none.
 *
 * @throws {FormatError} MUT_BAD_RESOURCE.
 */
export function parseGpus(text: string): GpuRequest {
  const context = { code: 'MUT_BAD_RESOURCE', kind: 'number of GPUs', text };
  const [, count = '', kind] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const gpus = parseShare(context, count);
  if (kind === undefined) return { gpus };
  if (gpus === 0) throw valueError(context, 0, 'a number above 0 before a kind of GPU');
  return { gpus, gpuKind: parseKind(context, count.length + 1) };
}

function parseShare(context: ValueContext, count: string): GpuShare {
  if (!/^\d{1,9}(\.\d+)?$/.test(count)) throw valueError(context, 0, 'a number of GPUs, as in 1, 0.5 or 2:a100');
  const share = Number(count) * wholeDevice;
  if (share > gpusMax * wholeDevice) throw valueError(context, 0, `at most ${gpusMax} GPUs`);
  // Written with decimals, a share is rarely exact in binary: 0.29 * 1000 is a little more than 290.
  const thousandths = Math.round(share);
  if (Math.abs(share - thousandths) > 1e-6) throw valueError(context, 0, 'a fraction with at most three decimals');
  if (thousandths > wholeDevice && thousandths % wholeDevice !== 0)
    throw valueError(context, 0, 'a whole number of GPUs, or a fraction of a single one');
  return thousandths;
}

function parseKind(context: ValueContext, offset: number): string {
  const kind = context.text.slice(offset).toLowerCase();
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(kind))
    throw valueError(context, offset, 'a kind of GPU of letters, digits, "-", "_" and ".", as in a100');
  return kind;
}

/**
 * Reads the GPUs that a machine has: `2` (ids 0 and 1), `2:a100`, or their ids as their driver names them, as in
 * `0,3` with a comma, or `GPU-8a1f,GPU-33bc:a100`. A single id is written with a comma behind it: `3,`.
 *
 * @throws {FormatError} MUT_BAD_RESOURCE.
 */
export function parseGpuDevices(text: string): GpuDevice[] {
  const context = { code: 'MUT_BAD_RESOURCE', kind: 'GPUs', text };
  const [, listed = '', hasKind] = /^([^:]*)(:.*)?$/s.exec(text) ?? [];
  const kind = hasKind === undefined ? '' : parseKind(context, listed.length + 1);
  return listIds(context, listed).map((id) => ({ id, kind }));
}

function listIds(context: ValueContext, listed: string): string[] {
  if (!listed.includes(',')) {
    const count = parseWhole(context, 0, listed);
    if (count > gpusMax) throw valueError(context, 0, `at most ${gpusMax} GPUs`);
    return Array.from({ length: count }, (_, index) => String(index));
  }
  const ids = listed.replace(/,$/, '').split(',');
  if (ids.length > gpusMax || new Set(ids).size !== ids.length || !ids.every((id) => /^[\w./-]{1,64}$/.test(id)))
    throw valueError(context, 0, `up to ${gpusMax} different ids of GPUs, as in 0,1 or GPU-8a1f,GPU-33bc`);
  return ids;
}

/**
 * Reads an amount of a counted resource: `licence=2`, `scratch=200G` (a unit is one of sizes). A name alone is 1 of it.
 *
 * @throws {FormatError} MUT_BAD_RESOURCE, or MUT_BAD_SIZE for its unit.
 */
export function parseNamedResource(text: string): { readonly name: string; readonly amount: number } {
  const context = { code: 'MUT_BAD_RESOURCE', kind: 'resource', text };
  const [, given = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const name = given.toLowerCase();
  if (!isResourceName(name)) {
    const expected = 'a name of letters, digits, "-", "_" and "." that is not memory, gpus or cpus, as in licence=2';
    throw valueError(context, 0, expected);
  }
  if (value === undefined) return { name, amount: 1 };
  const amount = /^\d+$/.test(value) ? parseWhole(context, given.length + 1, value) : parseSize(value);
  if (amount < 1 || amount > amountMax) throw valueError(context, given.length + 1, `an amount of 1 to ${amountMax}`);
  return { name, amount };
}

/** The parts of a request as a user writes them, each left out where it was not given. */
export interface ResourceTexts {
  readonly memory?: string | undefined;
  readonly gpus?: string | undefined;
  /** Each `NAME=AMOUNT`; of a name that is given twice the last counts. */
  readonly named?: readonly string[] | undefined;
}

/**
 * Reads what a task asks for in addition to processors; undefined where nothing was given.
 *
 * @throws {FormatError} MUT_BAD_RESOURCE or MUT_BAD_SIZE.
 */
export function parseResources({ memory, gpus, named = [] }: ResourceTexts): ResourceRequest | undefined {
  if (memory === undefined && gpus === undefined && named.length === 0) return undefined;
  const amounts = named.map(parseNamedResource);
  return {
    ...emptyRequest,
    ...(memory === undefined ? {} : { memory: parseSize(memory) }),
    ...(gpus === undefined ? {} : parseGpus(gpus)),
    named: Object.fromEntries(amounts.map(({ name, amount }) => [name, amount])),
  };
}
