import type { ReaderProofs } from '@mutirao/api/codecs';
import type { MachineFacts } from '@mutirao/core/messages';
import { getHomeKey } from './home-keys.ts';
import { isSameProof, makeChallenge, markHome, provePath, proveReading, type ProvenFile } from './home-proofs.ts';

/** Proofs about one home folder, from the side of a process that serves files of it. */
export class HomeProver {
  /**
   * A random text of this process, for which readers prove that they read the folder; empty where there is no folder.
   */
  readonly challenge: string;
  readonly #key: string;
  /** Readers repeat their proofs with each request. */
  readonly #known = new WeakMap<ReaderProofs, boolean>();

  /** @param key of the home folder; empty where there is none. */
  constructor(key: string) {
    this.#key = key;
    this.challenge = key === '' ? '' : makeChallenge();
  }

  /** For a home folder, whose key is made if it is absent. */
  static ofHome(home: string): HomeProver {
    return new HomeProver(getHomeKey(home));
  }

  /** Whether the sender of these proofs reads the folder. Cost: an HMAC for proofs that were not seen before. */
  isReader(proofs: ReaderProofs): boolean {
    let isReader = this.#known.get(proofs);
    if (isReader === undefined) {
      const expected =
        this.#key === '' || proofs.homeProofs.length === 0
          ? undefined
          : proveReading(this.#key, this.challenge, proofs.challenge);
      isReader = expected !== undefined && proofs.homeProofs.some((proof) => isSameProof(proof, expected));
      this.#known.set(proofs, isReader);
    }
    return isReader;
  }

  /** Whether a machine says to read the folder, with a mark for its incarnation. */
  isMarked({ incarnation, homeMarks = [] }: Pick<MachineFacts, 'incarnation' | 'homeMarks'>): boolean {
    if (this.#key === '' || homeMarks.length === 0) return false;
    const expected = markHome(this.#key, incarnation);
    return homeMarks.some((mark) => isSameProof(mark, expected));
  }

  /**
   * Proof that this process reads the folder, for one that sent `challenge`; none where there is no folder or no
   * challenge.
   */
  proveReading(challenge: string, ownChallenge: string): string[] {
    return this.#key === '' || challenge === '' ? [] : [proveReading(this.#key, challenge, ownChallenge)];
  }

  /** Proof of a path, for a reader that sent `challenge`. */
  provePath(challenge: string, file: ProvenFile): string {
    return provePath(this.#key, challenge, file);
  }

  /** Whether a path was proven for `challenge` by a process that reads the folder. */
  isProvenPath(challenge: string, file: ProvenFile, proof: string): boolean {
    return this.#key !== '' && challenge !== '' && isSameProof(proof, provePath(this.#key, challenge, file));
  }
}
