import { encodeContent } from '@mutirao/api/codecs';
import { FromMachine, type ContentPushed } from '@mutirao/api/provider';
import type { MachineFacts } from '@mutirao/core/messages';
import type { MachineId } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import type { OutputSpool } from '../spool/output-spool.ts';
import type { SpooledBodies } from '../spool/spooled-bodies.ts';
import { asBuffer } from '../relay/frames.ts';
import type { BrokerLink } from '../relay/links.ts';
import { frameFromMachine, machineIdField } from '../relay/wire.ts';

/** What a delivery needs. */
export interface KeptDeliveryOptions {
  readonly bodies: Pick<SpooledBodies, 'findReport' | 'isNamed'>;
  readonly outputs: Pick<OutputSpool, 'find' | 'list'>;
  readonly log: Logger;
}

/** The message by which a broker learns of a content that it can fetch. */
export function pushedFrame(machineId: MachineId, pushed: ContentPushed): Buffer {
  const message = FromMachine.encode({ machineId: '', message: { $case: 'contentPushed', value: pushed } }).finish();
  return frameFromMachine(machineIdField(machineId), asBuffer(message));
}

/** Brings a broker that is back the reports that were kept for it, as fast as it takes them, a machine after the other. */
export class KeptDelivery {
  readonly #options: KeptDeliveryOptions;
  readonly #broker: BrokerLink;
  #last: Promise<void> = Promise.resolve();

  constructor(broker: BrokerLink, options: KeptDeliveryOptions) {
    this.#broker = broker;
    this.#options = options;
  }

  /** Brings a machine's reports; each output is announced before the report that names it. `then` is called when all are on their way. */
  deliver(facts: MachineFacts, sequences: readonly number[], then: () => void): void {
    if (sequences.length === 0 && this.#unnamed(facts.machineId).length === 0) {
      then();
      return;
    }
    this.#last = this.#last.then(() => this.#deliver(facts, sequences)).then(then, (error: unknown) => {
      // The stream is over; the next one begins anew.
      this.#options.log.info({ err: error, machine: facts.machineId }, 'kept reports were not delivered to their end');
    });
  }

  async #deliver({ machineId, incarnation }: MachineFacts, sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) {
      const body = this.#options.bodies.findReport({ machineId, incarnation, sequence });
      if (body === undefined) {
        this.#options.log.error({ machine: machineId, sequence }, 'a kept report is not on the disk any more');
        continue;
      }
      for (const transferId of body.transferIds) await this.#announce(machineId, transferId);
      await this.#write(frameFromMachine(machineIdField(machineId), body.bytes));
    }
    // Of these the agent will report to the broker itself.
    for (const transferId of this.#unnamed(machineId)) await this.#announce(machineId, transferId);
  }

  #unnamed(machineId: MachineId): string[] {
    const { bodies, outputs } = this.#options;
    return outputs.list(machineId, this.#broker.brokerId).map(({ transferId }) => transferId).filter((transferId) => !bodies.isNamed(transferId));
  }

  /** An output that was pushed before the broker went away is not here but there. */
  async #announce(machineId: MachineId, transferId: string): Promise<void> {
    const output = this.#options.outputs.find(transferId);
    if (output !== undefined) await this.#write(pushedFrame(machineId, { transferId, content: encodeContent(output.content), isKept: true }));
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#broker.write(bytes);
    await this.#broker.stream.drained();
  }
}
