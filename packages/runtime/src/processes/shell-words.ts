import { existsSync } from 'node:fs';
import { isProgram } from './search-path.ts';

/** Quotes a word so that a shell takes it as it is. */
export function quoteWord(word: string): string {
  return /^[\w./:,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Renders assignments for the front of a simple command or after `export`; names that a shell does not accept are left
 * out.
 */
export function renderAssignments(variables: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(variables)) {
    if (isVariableName(name)) parts.push(`${name}=${quoteWord(value)}`);
  }
  return parts.join(' ');
}

/** Whether a shell can have a variable of this name. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

/**
 * Renders a task's line as one simple command.
 *
 * A line of plain words runs without a shell of its own: that is a third of the cost of a short task. Any other line,
 * and one whose first word might mean something to a shell, becomes `/bin/sh -c LINE`.
 *
 * @param find where a name without a slash is, or undefined to leave it to the shell.
 */
export function renderCommand(line: string, find: (name: string) => string | undefined): string {
  const trimmed = line.trim();
  if (/^[\w./=+:,@%-]+(?:[ \t]+[\w./=+:,@%-]+)*$/.test(trimmed)) {
    const end = trimmed.search(/[ \t]|$/);
    const first = trimmed.slice(0, end);
    const program = first.includes('=') ? undefined : first.includes('/') ? first : find(first);
    if (program !== undefined) return program + trimmed.slice(end);
  }
  return `/bin/sh -c ${quoteWord(line)}`;
}

/**
 * Finds programs on a PATH as `execvp` does: in the order of its folders, and again each time, since versions come and
 * go.
 *
 * Cost: a call of the system for each folder up to the one that has it.
 */
export class ProgramFinder {
  private readonly folders: readonly string[];

  /** @param searchPath folders separated by colons. */
  constructor(searchPath: string) {
    this.folders = searchPath.split(':');
  }

  /**
   * The absolute path of a program, plain to a shell; undefined where that is left to the shell: for what is not there,
   * or it has itself, or depends on its folder.
   */
  find(name: string): string | undefined {
    if (shellNames.has(name)) return undefined;
    for (const folder of this.folders) {
      // It stands for a place below the folder that the task runs in.
      if (!folder.startsWith('/')) return undefined;
      const file = `${folder}/${name}`;
      if (!existsSync(file)) continue;
      if (isProgram(file)) return /^[\w./+:@%-]+$/.test(file) ? file : undefined;
    }
    return undefined;
  }
}

/** Words that dash or bash takes for itself when they come first. */
const shellNames = new Set(
  (
    '! . : [ [[ ]] alias bg bind break builtin caller case cd chdir command compgen complete compopt continue ' +
    'coproc declare dirs disown do done ' +
    ('echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if ' +
      'in jobs kill let local logout ') +
    ('mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test ' +
      'then time times trap true type ') +
    'typeset ulimit umask unalias unset until wait while'
  ).split(' '),
);
