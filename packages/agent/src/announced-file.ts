import { statSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import { fsPath, hashFile } from '@mutirao/runtime/files';

const gone = 'gone';

/** A file whose content is announced, and which something may still be writing to. */
export class AnnouncedFile {
  readonly path: string;
  readonly content: Content;
  /** Its status when it was known to be as announced. */
  #stamp: string;

  private constructor(path: string, content: Content, stamp: string) {
    this.path = path;
    this.content = content;
    this.#stamp = stamp;
  }

  /** Reads a file to announce. @throws {MutiraoError} MUT_FILE_NOT_FOUND */
  static async read(path: string): Promise<AnnouncedFile> {
    const stamp = getStamp(path);
    return new AnnouncedFile(path, await hashFile(path), stamp);
  }

  /**
   * Reads it again if its status has changed. Bytes appended to the announced content do not matter.
   *
   * @throws {MutiraoError} MUT_OUTPUT_CHANGED when it does not hold what was announced: it would be sent in vain.
   */
  async requireUnchanged(): Promise<void> {
    const stamp = getStamp(this.path);
    if (stamp === this.#stamp) return;
    const found = await hashFile(this.path, this.content.size).catch(() => undefined);
    if (found?.sha256 !== this.content.sha256) {
      throw new MutiraoError(
        'MUT_OUTPUT_CHANGED',
        `${this.path} was ${stamp === gone ? 'removed' : 'written to'} while it was sent, after the command had ended`,
      );
    }
    this.#stamp = stamp;
  }
}

function getStamp(path: string): string {
  const status = statSync(fsPath(path), { throwIfNoEntry: false });
  return status === undefined ? gone : `${status.ino} ${status.size} ${status.mtimeMs} ${status.ctimeMs}`;
}
