import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';

/**
 * Contents that a machine keeps, within a bound of bytes: the least recently used goes first, one that is in use never.
 */
export class RemoteContents {
  private readonly bytesMax: Bytes;
  private readonly send: (content: Content) => Promise<void>;
  /** In the order of their last use. */
  private readonly sizes = new Map<string, Bytes>();
  private readonly sending = new Map<string, Promise<void>>();
  private readonly users = new Map<string, number>();
  private bytes: Bytes = 0;

  /** @param send brings a content to the machine. */
  constructor(bytesMax: Bytes, send: (content: Content) => Promise<void>) {
    this.bytesMax = bytesMax;
    this.send = send;
  }

  /**
   * Brings contents to the machine that are not there, each once for all who want it at a time, and keeps them until
   * they are let go.
   */
  async hold(contents: readonly Content[]): Promise<void> {
    for (const { sha256 } of contents) this.users.set(sha256, (this.users.get(sha256) ?? 0) + 1);
    for (const content of contents) await this.bring(content);
  }

  /** Releases contents, also those that could not be brought. */
  letGo(contents: readonly Content[]): void {
    for (const { sha256 } of contents) {
      const count = (this.users.get(sha256) ?? 0) - 1;
      if (count > 0) this.users.set(sha256, count);
      else this.users.delete(sha256);
    }
  }

  /** Says that a content is not there after all. */
  forget(sha256: string): void {
    this.bytes -= this.sizes.get(sha256) ?? 0;
    this.sizes.delete(sha256);
  }

  /** The contents that are too many now, which the caller removes from the machine. */
  takeExcess(): string[] {
    const excess: string[] = [];
    for (const [sha256] of this.sizes) {
      if (this.bytes <= this.bytesMax) break;
      if (this.users.has(sha256)) continue;
      this.forget(sha256);
      excess.push(sha256);
    }
    return excess;
  }

  private async bring(content: Content): Promise<void> {
    const { sha256, size } = content;
    if (this.sizes.delete(sha256)) {
      this.sizes.set(sha256, size);
      return;
    }
    let sent = this.sending.get(sha256);
    if (sent === undefined) {
      sent = this.send(content)
        .then(() => {
          this.sizes.set(sha256, size);
          this.bytes += size;
        })
        .finally(() => {
          this.sending.delete(sha256);
        });
      this.sending.set(sha256, sent);
    }
    await sent;
  }
}
