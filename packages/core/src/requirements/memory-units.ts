import { sizeUnits } from '../shared/index.ts';

/** Attributes whose value is in MiB. */
const inMebibytes: ReadonlySet<string> = new Set(['mem']);

/**
 * A wanted value in the unit of its attribute: `mem` is in MiB, so that `1GiB` is `1024`, and `1GB` (by 1000) is
 * `953.674`. Any other value comes back as it is.
 */
export function findInUnit(name: string, wanted: string): string {
  const [, digits = '', unit = ''] = inMebibytes.has(name) ? (/^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(wanted) ?? []) : [];
  const factor = sizeUnits.get(unit);
  return factor === undefined ? wanted : String(Number(((Number(digits) * factor) / 2 ** 20).toFixed(3)));
}
