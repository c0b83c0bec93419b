/** Options of our programs that gather their values. */
const gathered: ReadonlySet<string> = new Set([
  '--provider',
  '--attribute',
  '--gang-address',
  '--node',
  '--ssh-option',
  '--registrar',
  '--quota',
]);

/**
 * Leaves out options that stand again later: those that a user gives go before those that we would give, and no program
 * takes one twice.
 *
 * @param words options of one of our programs, each flag with its value as the next word; options that gather their
 * values stay.
 */
export function keepLast(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const options = readOptions(end < 0 ? words : words.slice(0, end));
  const kept = options.filter(
    ([name = ''], index) =>
      !name.startsWith('--') || gathered.has(name) || options.findLastIndex(([other]) => other === name) === index,
  );
  return [...kept.flat(), ...(end < 0 ? [] : words.slice(end))];
}

function readOptions(words: readonly string[]): string[][] {
  const options: string[][] = [];
  for (const word of words) {
    if (word.startsWith('--') || options.length === 0) options.push([word]);
    else options.at(-1)?.push(word);
  }
  return options;
}
