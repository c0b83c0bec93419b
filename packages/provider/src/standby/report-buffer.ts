import {
  asBuffer,
  decodeReaderProofs,
  decodeReport,
  encodeBlobRequest,
  decodeBlobRequest,
  type ReaderProofs,
  type WantedContent,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { AttachRequest, BlobRequest, Report } from '@mutirao/api/machine';
import type { MachineReport } from '@mutirao/core/messages';
import { noProofs } from '@mutirao/runtime/files';
import { attachFields, decodeWith, findAlternative } from '../relay/wire.ts';

/** What keeping an agent's reports needs. */
export interface ReportBufferPort {
  /** Writes a report to the disk and notifies the machine; false without disk space. */
  keep(report: MachineReport, bytes: Buffer): boolean;
  /** Offers the agent the contents that are here; returns the rest. */
  offer(contents: readonly WantedContent[], proofs: ReaderProofs): readonly WantedContent[];
  /** Holds the agent back, or lets it go on. */
  setPaused(isPaused: boolean): void;
}

interface QueuedReport {
  readonly bytes: Buffer;
  readonly report: MachineReport;
  /** Whether the machine knows of it. */
  isAnnounced: boolean;
}

/**
 * Takes what one agent says while its broker is away: reports are kept one after the other, and stay here until they
 * are safe;
 * contents are offered from the site's store, and what is not there is wanted again when the broker is back.
 */
export class ReportBuffer {
  readonly #port: ReportBufferPort;
  #reports: QueuedReport[] = [];
  readonly #wanted = new Map<string, WantedContent>();
  #proofs: ReaderProofs = noProofs;
  #isPaused = false;

  constructor(port: ReportBufferPort) {
    this.#port = port;
  }

  /** Takes one message of the agent. @throws {MutiraoError} MUT_PROTOCOL */
  receive(bytes: Buffer): void {
    const { field, start } = findAlternative(bytes);
    if (field === attachFields.report) {
      this.#reports.push({ bytes, report: decodeReport(decodeWith(Report, bytes, start)), isAnnounced: false });
      this.goOn();
    } else if (field === attachFields.blobRequest) {
      const wanted = decodeWith(BlobRequest, bytes, start);
      this.#proofs = decodeReaderProofs(wanted);
      this.want(this.#port.offer(decodeBlobRequest(wanted), this.#proofs));
    } else if (field !== attachFields.outputPart)
      // A part of an output is dropped: who asked for it is gone, and asks again.
      throw new MutiraoError(
        'MUT_PROTOCOL',
        `alternative ${field} of an attached agent; expected a report, contents wanted or a part of an output`,
      );
  }

  /** Contents to ask the broker for when it is back. */
  want(contents: readonly WantedContent[]): void {
    for (const content of contents) this.#wanted.set(content.sha256, content);
  }

  /** Keeps what had no room before, as far as there is some now. */
  goOn(): void {
    for (const queued of this.#reports) {
      if (queued.isAnnounced) continue;
      queued.isAnnounced = this.#port.keep(queued.report, queued.bytes);
      if (!queued.isAnnounced) break;
    }
    const isBlocked = this.#reports.some(({ isAnnounced }) => !isAnnounced);
    if (isBlocked === this.#isPaused) return;
    this.#isPaused = isBlocked;
    this.#port.setPaused(isBlocked);
  }

  /**
   * Keeps all again that is not known to be safe: the machine had no room for one, and takes nothing that comes after
   * it.
   */
  reportAgain(): void {
    for (const queued of this.#reports) queued.isAnnounced = false;
    this.goOn();
  }

  /** Reports up to a sequence are safe. */
  forget(sequence: number): void {
    this.#reports = this.#reports.filter(({ report }) => report.sequence > sequence);
  }

  /** The messages that are left for the broker. */
  leave(): Buffer[] {
    const left = this.#reports.map(({ bytes }) => bytes);
    if (this.#wanted.size > 0) left.push(wantedMessage([...this.#wanted.values()], this.#proofs));
    this.#reports = [];
    this.#wanted.clear();
    return left;
  }
}

function wantedMessage(contents: readonly WantedContent[], proofs: ReaderProofs): Buffer {
  return asBuffer(
    AttachRequest.encode({
      message: { $case: 'blobRequest', value: encodeBlobRequest(contents, proofs) },
    }).finish(),
  );
}
