import type { Command } from 'commander';

import type { Act } from '../context.ts';
import type { ShapeName } from '../json/shapes.ts';

/** The exports of a command's module. */
export interface CommandModule {
  /** Adds arguments, options and the action. */
  define(command: Command, act: Act): void;
}

/** A command: its words, and how its module is loaded once it is wanted. */
export interface CommandEntry {
  readonly path: readonly [string] | readonly [string, string];
  readonly summary: string;
  /** What `--json` prints; one line per document where `stream` is set. Undefined where there is nothing to print. */
  readonly json?: { readonly shape: ShapeName; readonly form: 'one' | 'array' | 'stream' };
  readonly hidden?: true;
  /** Takes the options of another program, and none of those that all commands have. */
  readonly ownOptions?: true;
  load(): Promise<CommandModule>;
}
