/** The records of one source: each a row of arguments, of which there are several with `--colsep`. */
export interface ArgumentSource {
  readonly rows: readonly (readonly string[])[];
  /** Taken together with the source before it. */
  readonly isLinked: boolean;
}

/** How sources go together. */
export interface CombineOptions {
  /** `--link`: all sources are taken together, and shorter ones begin again. */
  readonly link: boolean;
  readonly countMax: number;
}

/**
 * Makes the arguments of each job: every combination of the sources, of which the first varies slowest. A linked source
 * goes with the one before it, up to the shorter of the two.
 *
 * @returns undefined where there are more than `countMax`.
 */
export function combineSources(
  sources: readonly ArgumentSource[],
  { link, countMax }: CombineOptions,
): readonly (readonly string[])[] | undefined {
  if (link) return linkAll(sources, countMax);
  const groups: (readonly (readonly string[])[])[] = [];
  for (const { rows, isLinked } of sources) {
    const before = isLinked ? groups.pop() : undefined;
    if (before === undefined) groups.push(rows);
    else groups.push(before.slice(0, rows.length).map((row, index) => [...row, ...(rows[index] ?? [])]));
  }
  const count = groups.reduce((product, group) => product * group.length, 1);
  if (count > countMax) return undefined;
  return groups.reduce<readonly (readonly string[])[]>(
    (all, group) => all.flatMap((row) => group.map((more) => [...row, ...more])),
    [[]],
  );
}

function linkAll(sources: readonly ArgumentSource[], countMax: number): readonly (readonly string[])[] | undefined {
  const count = Math.max(0, ...sources.map(({ rows }) => rows.length));
  if (count > countMax) return undefined;
  if (sources.some(({ rows }) => rows.length === 0)) return [];
  return Array.from({ length: count }, (_, index) => sources.flatMap(({ rows }) => rows[index % rows.length] ?? []));
}
