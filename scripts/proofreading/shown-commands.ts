// The commands that a Markdown page shows its readers to copy: its code blocks fenced as `sh`.
import type { Code, Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';

/** A block of commands. */
export interface ShownCommands {
  /** The line of its first command, counted from 1. */
  readonly line: number;
  readonly commands: string;
  /** Why it cannot be run in a test: the comment `<!-- not run: reason -->` directly before it. Undefined where it can. */
  readonly notRun: string | undefined;
}

export interface ShownBlocks {
  readonly commands: readonly ShownCommands[];
  /** Lines of code blocks that do not say in which language they are. */
  readonly unnamed: readonly number[];
}

const getReason = (node: Nodes | undefined): string | undefined =>
  node?.type === 'html' ? /^<!-- not run: (.*\S) -->$/.exec(node.value)?.[1] : undefined;

export function readShownBlocks(markdown: string): ShownBlocks {
  const commands: ShownCommands[] = [];
  const unnamed: number[] = [];
  const addCode = (code: Code, before: Nodes | undefined): void => {
    const line = code.position?.start.line ?? 1;
    // The language is null of a fence that names none and of an indented block.
    if (code.lang === 'sh') commands.push({ line: line + 1, commands: code.value, notRun: getReason(before) });
    else if (typeof code.lang !== 'string') unnamed.push(line);
  };
  const visit = (node: Nodes): void => {
    if (!('children' in node)) return;
    for (const [index, child] of node.children.entries()) {
      if (child.type === 'code') addCode(child, node.children[index - 1]);
      else visit(child);
    }
  };
  visit(fromMarkdown(markdown));
  return { commands, unnamed };
}

/**
 * One program for bash that runs the blocks one after the other, as a reader does in one terminal. It stops at the first
 * command that fails, after it has printed `line N: status S` as the last line of standard error.
 */
export function getProgram(blocks: readonly ShownCommands[]): string {
  return [
    'set -eEo pipefail',
    `trap 'status=$?; echo "line $shown_line: status $status" >&2; exit $status' ERR`,
    ...blocks.flatMap(({ line, commands }) => [`shown_line=${line}`, commands]),
    '',
  ].join('\n');
}
