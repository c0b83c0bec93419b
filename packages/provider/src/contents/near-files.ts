import { statSync } from 'node:fs';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';

/** A file of home that the provider reads itself. */
export interface NearFile {
  readonly path: string;
  /** Nobody writes it any more. */
  readonly isLinkable: boolean;
}

/** Where contents that leased tasks read are at home, for a provider that shares its file system: those need not be kept a second time. */
export class NearFiles {
  readonly #files = new Map<BrokerId, Map<string, NearFile>>();

  /** Notes where a broker says that a content is. */
  note(brokerId: BrokerId, { sha256 }: Content, file: NearFile): void {
    const files = this.#files.get(brokerId) ?? new Map<string, NearFile>();
    this.#files.set(brokerId, files.set(sha256, file));
  }

  /** A file that is there and may hold the content; whoever reads it has to look. */
  find(brokerId: BrokerId, { sha256, size }: Content): NearFile | undefined {
    const file = this.#files.get(brokerId)?.get(sha256);
    return file === undefined || statSync(file.path, { throwIfNoEntry: false })?.size !== size ? undefined : file;
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
