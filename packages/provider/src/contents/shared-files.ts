import { lstatSync } from 'node:fs';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import { fsPath } from '@mutirao/runtime/files';

/** A file of home that the provider reads itself. */
export interface SharedFile {
  readonly path: string;
  /** Nobody writes it any more. */
  readonly isLinkable: boolean;
}

/**
 * Where contents that leased tasks read are at home, for a provider that shares its file system: those need not be kept
 * a second time.
 *
 * Only paths are noted here that came with a proof of the home folder's key. What a file holds is hashed before it is
 * sent.
 */
export class SharedFiles {
  readonly #files = new Map<BrokerId, Map<string, SharedFile>>();

  /** Notes where a broker says that a content is. */
  note(brokerId: BrokerId, { sha256 }: Content, { path, isLinkable }: SharedFile): void {
    const files = this.#files.get(brokerId) ?? new Map<string, SharedFile>();
    this.#files.set(brokerId, files.set(sha256, { path, isLinkable }));
  }

  /** A regular file that exists and may hold the content; the reader must check its hash. */
  find(brokerId: BrokerId, { sha256, size }: Content): SharedFile | undefined {
    const file = this.#files.get(brokerId)?.get(sha256);
    if (file === undefined) return undefined;
    const status = lstatSync(fsPath(file.path), { throwIfNoEntry: false });
    return status?.isFile() === true && status.size === size ? file : undefined;
  }

  /** One does not hold what it was said to. */
  forget(brokerId: BrokerId, sha256: string): void {
    this.#files.get(brokerId)?.delete(sha256);
  }

  /** Forgets all of a broker but these. */
  keepOnly(brokerId: BrokerId, sha256s: ReadonlySet<string>): void {
    const files = this.#files.get(brokerId);
    for (const sha256 of files?.keys() ?? []) if (!sha256s.has(sha256)) files?.delete(sha256);
    if (files?.size === 0) this.#files.delete(brokerId);
  }
}
