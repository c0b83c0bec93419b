const units: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['k', 2 ** 10],
  ['m', 2 ** 20],
  ['g', 2 ** 30],
  ['t', 2 ** 40],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
]);

/** Attributes whose value is in MiB. */
const inMebibytes: ReadonlySet<string> = new Set(['mem']);

/**
 * A wanted value in the unit of its attribute: `mem` is in MiB, so that `1GiB` is `1024`, and `1GB` (by 1000) is
 * `953.674`. Any other value comes back as it is.
 */
export function findInUnit(name: string, wanted: string): string {
  const [, digits = '', unit = ''] = inMebibytes.has(name) ? (/^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(wanted) ?? []) : [];
  const factor = units.get(unit);
  return factor === undefined ? wanted : String(Number(((Number(digits) * factor) / 2 ** 20).toFixed(3)));
}
