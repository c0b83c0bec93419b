/** The formats that are recognized in a text. */
export type Format =
  /** OurGrid's job file, generations 2 to 4. */
  | 'jdf'
  /** MyGrid's first drafts of it: `INIT = ... ;`. */
  | 'jdf-g1'
  /** Arrebol's: commands directly in a task. */
  | 'jdf-arrebol'
  /** gLite's ClassAd job. */
  | 'jdl'
  /** A ClassAd list of workers. */
  | 'sdf-classad'
  | 'gdf'
  | 'gdf-g1'
  | 'gdf-g2'
  | 'sdf'
  /** Our YAML of tasks that wait for each other. */
  | 'workflow'
  | 'wfformat'
  | 'json'
  | 'dax'
  | 'xml'
  | 'swf'
  | 'unknown';

/** A format, and the place of the mark that gave it away. */
export interface Detection {
  readonly format: Format;
  /** Offset in the text, counted from 0. */
  readonly offset: number;
}

/** Marks in the order in which they are tried, each at the start of a line. */
const marks: readonly (readonly [Format, RegExp])[] = [
  ['workflow', /^tasks[ \t]*:/m],
  ['jdf-arrebol', /^[ \t]*schedpath[ \t]*:/im],
  ['gdf-g1', /^[ \t]*(?:gump?|worker|peer)[ \t]*(?::[ \t]*\n\s*\w+[ \t]*=|\{)/im],
  ['jdf-g1', /^[ \t]*(?:requirements|init|input|remote|output|final)[ \t]*=/im],
  ['jdf-g1', /^[ \t]*if\b[^\n]*\bthen[ \t]*\{/im],
  ['jdl', /^[ \t]*(?:Executable|JobType|InputSandbox|OutputSandbox|StdOutput)[ \t]*=/im],
  ['jdf', /^[ \t]*job[ \t]*:/im],
  ['sdf', /^[ \t]*worker(?:defaults)?[ \t]*:/im],
  ['gdf-g2', /^[ \t]*(?:gumdefaults|mygump|gum)[ \t]*:/im],
  ['gdf', /^[ \t]*peer[ \t]*:/im],
  ['jdf', /^[ \t]*(?:task|remote)[ \t]*:/im],
  ['swf', /^[ \t]*(?:-?\d+(?:\.\d+)?[ \t]+){17}-?\d+(?:\.\d+)?[ \t]*$/m],
];

/** Detects the format of a text by its content; file names do not count. Cost: linear. */
export function detectFormat(text: string): Format {
  return findFormat(text).format;
}

/** Detects the format and where its mark is. */
export function findFormat(text: string): Detection {
  const start = skipRemarks(text);
  const enclosed = findEnclosed(text, start);
  if (enclosed !== undefined) return { format: enclosed, offset: start };
  for (const [format, mark] of marks) {
    const match = mark.exec(text);
    if (match !== null) return { format, offset: match.index + (match[0].length - match[0].trimStart().length) };
  }
  return { format: 'unknown', offset: start };
}

/** Where the text begins, after blank space and lines that begin with # or //. */
function skipRemarks(text: string): number {
  const remark = /[\s\uFEFF]+|(?:#|\/\/)[^\n]*/y;
  let start = 0;
  while (remark.test(text)) start = remark.lastIndex;
  return start;
}

/** The formats that are one bracketed whole: JSON, XML and ClassAds. */
function findEnclosed(text: string, start: number): Format | undefined {
  switch (text[start]) {
    case '{':
      return /"workflow"\s*:/.test(text) && /"schemaVersion"\s*:/.test(text) ? 'wfformat' : 'json';
    case '<':
      return /^<(?:[^\s<>/:]+:)?adag[\s/>]/.test(text.slice(findFirstElement(text, start))) ? 'dax' : 'xml';
    case '[':
      return findClassAd(text.slice(start));
    default:
      return undefined;
  }
}

/** Where the first element of an XML text begins, behind declarations and comments. Cost: linear. */
function findFirstElement(text: string, start: number): number {
  const other = /\s+|<\?[^]*?\?>|<!--[^]*?-->|<![^>]*>/y;
  let at = start;
  for (other.lastIndex = at; other.test(text); other.lastIndex = at) at = other.lastIndex;
  return at;
}

function findClassAd(text: string): Format {
  if (/\bworkers\s*=|\bservername\s*=/i.test(text)) return 'sdf-classad';
  return /\b\w+\s*=/.test(text) ? 'jdl' : 'json';
}
