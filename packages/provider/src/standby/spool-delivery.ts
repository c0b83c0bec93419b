import { asBuffer, encodeContent } from '@mutirao/api/codecs';
import { FromMachine, type BlobUpload } from '@mutirao/api/provider';
import type { MachineFacts } from '@mutirao/core/messages';
import type { MachineId } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import type { OutputSpool } from '../spool/output-spool.ts';
import type { SpooledBodies } from '../spool/spooled-bodies.ts';
import type { BrokerLink } from '../relay/links.ts';
import { frameFromMachine, machineIdField } from '../relay/wire.ts';

/** What a delivery needs. */
export interface SpoolDeliveryOptions {
  readonly bodies: Pick<SpooledBodies, 'findReport' | 'isNamed'>;
  readonly outputs: Pick<OutputSpool, 'find' | 'list'>;
  readonly log: Logger;
}

/** The message by which a broker learns of a content that it can fetch. */
export function pushedFrame(machineId: MachineId, pushed: BlobUpload): Buffer {
  const message = FromMachine.encode({ machineId: '', message: { $case: 'blobUpload', value: pushed } }).finish();
  return frameFromMachine(machineIdField(machineId), asBuffer(message));
}

/**
 * Brings a broker that is back the reports that were kept for it, as fast as it takes them, a machine after the other.
 *
 * Each output is announced once on a broker's stream, by whichever comes first: the end of its push, the report that
 * names it, or the end
 * of the delivery. A broker that fetches it twice would find nothing the second time.
 */
export class SpoolDelivery {
  readonly #options: SpoolDeliveryOptions;
  readonly #broker: BrokerLink;
  /** Transfers that were announced to the broker on this stream. */
  readonly #announced = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  constructor(broker: BrokerLink, options: SpoolDeliveryOptions) {
    this.#broker = broker;
    this.#options = options;
  }

  /**
   * Brings a machine's reports; each output is announced before the report that names it. `then` is called when all are
   * on their way.
   */
  deliver(facts: MachineFacts, sequences: readonly number[], then: () => void): void {
    if (sequences.length === 0 && this.#listUnnamed(facts.machineId).length === 0) {
      then();
      return;
    }
    this.#last = this.#last
      .then(() => this.#deliver(facts, sequences))
      .then(then, (error: unknown) => {
        // The stream is over; the next one begins again.
        this.#options.log.info({ err: error, machine: facts.machineId }, 'delivery of stored reports was interrupted');
      });
  }

  async #deliver({ machineId, incarnation }: MachineFacts, sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) {
      const body = this.#options.bodies.findReport({ machineId, incarnation, sequence });
      if (body === undefined) {
        this.#options.log.error({ machine: machineId, sequence }, 'the file of a stored report is missing');
        continue;
      }
      for (const transferId of body.transferIds) await this.#announceInTurn(transferId);
      await this.#write(frameFromMachine(machineIdField(machineId), body.bytes));
    }
    // Of these the agent will report to the broker itself.
    for (const transferId of this.#listUnnamed(machineId)) await this.#announceInTurn(transferId);
  }

  /**
   * Announces an output to the broker that it is kept for. Idempotent.
   *
   * An output that was pushed before the broker went away is not here but there, and an output of another broker does
   * not concern it.
   */
  announce(transferId: string): void {
    const output = this.#options.outputs.find(transferId);
    if (output === undefined || output.brokerId !== this.#broker.brokerId || this.#announced.has(transferId)) return;
    this.#announced.add(transferId);
    this.#broker.write(
      pushedFrame(output.machineId, { transferId, content: encodeContent(output.content), isKept: true }),
    );
  }

  /** Kept outputs that no kept report names. */
  #listUnnamed(machineId: MachineId): string[] {
    const { bodies, outputs } = this.#options;
    return outputs
      .list(machineId, this.#broker.brokerId)
      .map(({ transferId }) => transferId)
      .filter((transferId) => !bodies.isNamed(transferId));
  }

  async #announceInTurn(transferId: string): Promise<void> {
    this.announce(transferId);
    await this.#broker.stream.drained();
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#broker.write(bytes);
    await this.#broker.stream.drained();
  }
}
