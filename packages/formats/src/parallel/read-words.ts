/** Where the arguments of GNU parallel's jobs come from. */
export interface InputSource {
  /** Arguments after `:::`, or the names of files after `::::`. */
  readonly kind: 'values' | 'file';
  readonly texts: readonly string[];
  /** Taken together with the source before it, as `:::+` says. */
  readonly isLinked: boolean;
}

/** The words of a command line of GNU parallel, without its options. */
export interface ParallelWords {
  readonly command: readonly string[];
  readonly sources: readonly InputSource[];
}

const separators: Readonly<Record<string, Pick<InputSource, 'kind' | 'isLinked'>>> = {
  ':::': { kind: 'values', isLinked: false },
  ':::+': { kind: 'values', isLinked: true },
  '::::': { kind: 'file', isLinked: false },
  '::::+': { kind: 'file', isLinked: true },
};

/** Splits the words at `:::`, `::::`, `:::+` and `::::+`. Each file of `::::` is a source of its own. */
export function readParallelWords(words: readonly string[]): ParallelWords {
  const first = words.findIndex(isSeparator);
  if (first === -1) return { command: words, sources: [] };
  const sources: InputSource[] = [];
  for (let at = first; at < words.length; ) {
    const separator = separators[words[at] ?? ''];
    const next = words.findIndex((word, index) => index > at && isSeparator(word));
    const end = next === -1 ? words.length : next;
    const texts = words.slice(at + 1, end);
    if (separator?.kind === 'values') sources.push({ ...separator, texts });
    else if (separator !== undefined)
      for (const [index, text] of texts.entries())
        sources.push({ kind: 'file', isLinked: separator.isLinked && index === 0, texts: [text] });
    at = end;
  }
  return { command: words.slice(0, first), sources };
}

function isSeparator(word: string): boolean {
  return Object.hasOwn(separators, word);
}
