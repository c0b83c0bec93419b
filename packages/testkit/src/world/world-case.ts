/** What must come of the tasks of a case. */
export interface ExpectedEnd {
  readonly status: 'finished' | 'failed';
  /** Exit status of the run that decided. */
  readonly exitStatus?: number;
  /** The code of the run that decided. */
  readonly reason?: string;
  /** Exactly this, or a match; `{}` in a string and `VALUE` in a pattern stand for the task's value. */
  readonly standardOutput?: string | RegExp;
  readonly standardError?: string | RegExp;
  /**
   * Files below the folder of results at home: each path, its bytes as Latin-1 characters, with its content. No other
   * file may be there.
   */
  readonly files?: Readonly<Record<string, string>>;
}

/** An input of a case: its content, or that with the mode of its file. */
export type CaseInput = string | { readonly content: string; readonly mode?: number };

/** A small program, tree or name that an ordinary user may bring, with what must come of it. */
export interface WorldCase {
  /** A sentence about what it does and what must come of it. */
  readonly title: string;
  /** A line for the shell; `{}` stands for the task's value, which is 0, 1, ... */
  readonly command: string;
  /** How many tasks do it; 1 when left out. */
  readonly count?: number;
  /** Input files: their names in the task's folder, and what is in them. */
  readonly inputs?: Readonly<Record<string, CaseInput>>;
  /** Variables of the job. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Paths in the task's folder that come home under the same names. */
  readonly outputs?: readonly string[];
  readonly runTimeMax?: number;
  readonly memoryMax?: number;
  /** Where only one kind of account can meet it; both when left out. */
  readonly account?: 'root' | 'ordinary';
  readonly expected: ExpectedEnd;
}

/** A line that runs a Perl program, which every Debian has, on a task's machine. No single quotes in it. */
export function perl(program: string): string {
  return `perl -e '${program}'`;
}
