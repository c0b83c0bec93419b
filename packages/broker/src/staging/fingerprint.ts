import { createHash } from 'node:crypto';

import { bytesOfName } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';

import type { JobId } from '@mutirao/core/shared';

import type { HomeFile } from './home-file.ts';

/** What of a file a fingerprint is made of. */
export type SeenFile = Pick<HomeFile, 'below' | 'status'>;

const byStatus = 'status:';
const byContent = 'content:';

/** Sums up names and contents of the files that a path stands for. */
export function contentFingerprint(files: readonly HomeFile[]): string {
  return sum(
    byContent,
    files.map(({ below, content }) => `${below}\0${content.sha256}`),
  );
}

/** Sums up names, sizes and times of change of them: for what is too large to be read at submission. */
export function statusFingerprint(files: readonly SeenFile[]): string {
  return sum(
    byStatus,
    files.map(({ below, status }) => `${below}\0${status.size}\0${status.mtimeMs}`),
  );
}

/** What is asked of an input's files. */
export interface Fingerprinted {
  readonly jobId: JobId;
  readonly path: string;
  /** Undefined where nobody noted what was there. */
  readonly fingerprint: string | undefined;
}

/**
 * @throws {MutiraoError} MUT_INPUT_CHANGED when the files of a path are not what they were when the job was submitted,
 * or retried with what was there then.
 */
export function requireUnchanged({ jobId, path, fingerprint }: Fingerprinted, files: readonly HomeFile[]): void {
  if (fingerprint === undefined) return;
  const found = fingerprint.startsWith(byStatus) ? statusFingerprint(files) : contentFingerprint(files);
  if (found === fingerprint) return;
  const size = files.reduce((total, { status }) => total + status.size, 0);
  const writtenAt = new Date(Math.max(0, ...files.map(({ status }) => status.mtimeMs))).toISOString();
  const what = files.length === 1 ? '' : ` in ${files.length} files`;
  throw new MutiraoError(
    'MUT_INPUT_CHANGED',
    `${path} is not what it was when the job was submitted: it has ${size} bytes${what} now, last written at ` +
      `${writtenAt}. "mutirao job retry ${jobId} --current-inputs" runs what has not finished with it as it is now`,
  );
}

function sum(kind: string, lines: readonly string[]): string {
  return `${kind}${createHash('sha256')
    .update(bytesOfName(lines.join('\n')))
    .digest('hex')}`;
}
