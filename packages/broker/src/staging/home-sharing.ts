import type { MachineFacts, TaskTemplate } from '@mutirao/core/messages';
import { HomeProver, offerHomeKey, proveDropFolder } from '@mutirao/runtime/files';

/** How a machine proves that it reads the home folder, and where it may leave outputs. */
export type SharingHints = Pick<TaskTemplate, 'homeChallenge' | 'dropProof'>;

/** Where keys of the home folder are, and for what. */
export interface HomeSharingOptions {
  readonly home: string;
  /** Names the key of the folder for outputs. */
  readonly brokerId: string;
  /** Where machines that share the file system leave outputs. */
  readonly dropFolder: string;
}

/**
 * How a broker and the machines that share its file system find each other: with proofs, so that no secret is in a
 * message or a record.
 */
export class HomeSharing {
  readonly prover: HomeProver;
  readonly #dropKey: string;
  /** Proofs are for one incarnation each, and repeated with each batch. */
  readonly #hints = new WeakMap<MachineFacts, SharingHints>();

  /** Takes the keys of the home folder, which are made if they are absent. @throws Error of the file system. */
  constructor({ home, brokerId, dropFolder }: HomeSharingOptions) {
    this.prover = HomeProver.ofHome(home);
    this.#dropKey = offerHomeKey(home, `broker-${brokerId}`, dropFolder);
  }

  /** The hints for one machine. */
  report(facts: MachineFacts): SharingHints {
    let hints = this.#hints.get(facts);
    if (hints === undefined) {
      const { challenge } = this.prover;
      hints =
        challenge === ''
          ? {}
          : { homeChallenge: challenge, dropProof: proveDropFolder(this.#dropKey, challenge, facts.incarnation) };
      this.#hints.set(facts, hints);
    }
    return hints;
  }

  /** The hints for a provider that starts tasks on machines which are not known yet. */
  reportAnybody(): SharingHints {
    const { challenge } = this.prover;
    return challenge === '' ? {} : { homeChallenge: challenge };
  }
}
