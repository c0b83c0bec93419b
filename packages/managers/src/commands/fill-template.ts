/** What stands for a placeholder; several texts only where the placeholder is a word by itself. */
export type PlaceholderValues = ReadonlyMap<string, string | readonly string[]>;

const placeholder = /\{(\w+)\}/g;

/**
 * Fills `{name}` in the words of a command. A word that is one placeholder of several texts becomes as many words, or
 * none.
 */
export function fillTemplate(words: readonly string[], values: PlaceholderValues): string[] {
  return words.flatMap((word) => {
    const whole = values.get(/^\{(\w+)\}$/.exec(word)?.[1] ?? '');
    if (whole !== undefined && typeof whole !== 'string') return whole;
    return [
      word.replaceAll(placeholder, (found, name: string) => {
        const value = values.get(name);
        return typeof value === 'string' ? value : found;
      }),
    ];
  });
}

/** Calls `refuse` with what is expected when there is a placeholder of another name. */
export function refuseUnknownPlaceholders(
  words: readonly string[],
  known: readonly string[],
  refuse: (expected: string) => never,
): void {
  for (const word of words) {
    for (const [found, name = ''] of word.matchAll(placeholder)) {
      if (!known.includes(name))
        refuse(`no ${found}; the placeholders here are ${known.map((one) => `{${one}}`).join(', ')}`);
    }
  }
}
