/**
 * Kinds of GPUs as a manager spells them, by what they are called here: in small letters. A manager may take no other
 * spelling than its own.
 */
export type GpuSpellings = ReadonlyMap<string, string>;

/** The spellings among kinds; of two of one kind the first. */
export function listSpellings(kinds: Iterable<string>): GpuSpellings {
  const spellings = new Map<string, string>();
  for (const kind of kinds) if (!spellings.has(kind.toLowerCase())) spellings.set(kind.toLowerCase(), kind);
  return spellings;
}
