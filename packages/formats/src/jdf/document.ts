import type { Root } from '@mutirao/core/messages';
import type { RequestSections } from './requests.ts';

/** A put, store or get as the file has it, its paths resolved. */
export interface Transfer {
  readonly verb: 'put' | 'store' | 'get';
  /** The playpen also for a `store` that names it: such a one is a put. */
  readonly root: Root;
  /** On the machine, below the root; a template. */
  readonly remotePath: string;
  /** At home, absolute; a template. */
  readonly localPath: string;
  /** A requirements expression; empty holds everywhere. */
  readonly condition: string;
}

/** What a job or a task states; undefined where it says nothing, an empty list for `none`. */
export interface Definitions extends Partial<RequestSections> {
  /** Offset of its `job` or `task` word. */
  readonly offset: number;
  requirements: string | undefined;
  init: readonly Transfer[] | undefined;
  remote: string | undefined;
  final: readonly Transfer[] | undefined;
  check: string | undefined;
  /** What it may state all the same: it could not be read. */
  readonly unread: Set<'remote' | 'requirements'>;
}

/** A job file as it was read, before defaults go into its tasks. */
export interface JdfDocument {
  label: string | undefined;
  'site-selection': string | undefined;
  /** The defaults of its tasks. */
  readonly job: Definitions;
  readonly tasks: Definitions[];
}

/** Definitions that state nothing yet. */
export function emptyDefinitions(offset: number): Definitions {
  return {
    offset,
    requirements: undefined,
    init: undefined,
    remote: undefined,
    final: undefined,
    check: undefined,
    unread: new Set(),
  };
}
