/** What is wrong with a text, and where. */
export interface FormatProblem {
  /** A code of the error registry. */
  readonly code: string;
  /** The file as the user named it, or what kind of value the text is. */
  readonly subject: string;
  /** Counted from 1; 0 for a value that is not in a file. */
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  readonly found: string;
  readonly expected: string;
  /** The valid word that is nearest to what was found. */
  readonly nearest?: string | undefined;
}

/** What else is wrong with a text. */
export interface FurtherProblems {
  /** Behind the first, in the order of the text. */
  readonly further: readonly FormatError[];
  /** Whether the reader stopped at too many errors, so that there may be more. */
  readonly isCut: boolean;
}

/** A text that is not in the format that it should be in. The only error that this package throws. */
export class FormatError extends Error implements FurtherProblems {
  override readonly name = 'FormatError';
  readonly code: string;
  readonly problem: FormatProblem;
  /** Empty also where reading stops at the first thing that is wrong. */
  readonly further: readonly FormatError[];
  readonly isCut: boolean;

  constructor(problem: FormatProblem, { further, isCut }: FurtherProblems = { further: [], isCut: false }) {
    super(describe(problem));
    this.code = problem.code;
    this.problem = problem;
    this.further = further;
    this.isCut = isCut;
  }
}

function describe(problem: FormatProblem): string {
  const { subject, line, column, found, expected, nearest } = problem;
  const place = line === 0 ? `${subject}, character ${column}` : `${subject}:${line}:${column}`;
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return `${place}: found ${found}, expected ${expected}${hint}`;
}

/** Shows a piece of the text in an error: quoted, shortened, or `the end` where there is nothing. */
export function showFound(text: string): string {
  if (text === '') return 'the end';
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
