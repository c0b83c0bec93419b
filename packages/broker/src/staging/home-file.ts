import type { Stats } from 'node:fs';

import type { Content } from '@mutirao/core/messages';

/** A file of a source at home, with its content. */
export interface HomeFile {
  /** Where a machine puts it, given the path that the task wants for the whole source. */
  remoteName(wanted: string): string;
  readonly content: Content;
  readonly mode: number;
  /** Below the source where that is a folder; empty for a file. */
  readonly below: string;
  /** What its status was when it was listed. */
  readonly status: Pick<Stats, 'size' | 'mtimeMs'>;
}
