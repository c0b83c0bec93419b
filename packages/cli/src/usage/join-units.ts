const withUnits: Readonly<Record<string, RegExp>> = {
  '--memory': /^(?:[kmgt]i?)?b?$/i,
  '--limit-memory': /^(?:[kmgt]i?)?b?$/i,
  '--limit-output': /^(?:[kmgt]i?)?b?$/i,
  '--limit-time': /^(?:s|m|h)$/i,
  '--task-time': /^(?:s|m|h)$/i,
};

/** Joins a number and its unit that stand as two words behind an option: `--memory 4 GB`. */
export function joinUnits(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const number = joined.at(-1) ?? '';
    const [, attached, digits] = /^(?:(--[a-z-]+)=)?(\d+(?:\.\d+)?)$/.exec(number) ?? [];
    const option = attached ?? joined.at(-2) ?? '';
    if (word !== '' && digits !== undefined && withUnits[option]?.test(word) === true)
      joined.splice(-1, 1, number + word);
    else joined.push(word);
  }
  return joined;
}
