/** Words of a command line with further options, each with a value, which replace those of the same name. */
export function withOptions(words: readonly string[], ...changes: readonly string[]): string[] {
  const changed = new Set(changes.filter((_word, index) => index % 2 === 0));
  return [...words.filter((word, index) => !changed.has(word) && !changed.has(words[index - 1] ?? '')), ...changes];
}
