/**
 * The word for a value of a wire enum, in lower case; empty for none, `unknown-N` for one that this release does not
 * know.
 */
export function getEnumName(values: Readonly<Record<string, number>>, value: number): string {
  for (const [name, known] of Object.entries(values)) if (known === value) return value === 0 ? '' : name.toLowerCase();
  return `unknown-${value}`;
}

/** The wire's 0 for "not yet" as null. */
export function instantOrNull(value: number): number | null {
  return value === 0 ? null : value;
}
