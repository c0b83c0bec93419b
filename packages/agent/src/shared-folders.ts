import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ReaderProofs } from '@mutirao/api/codecs';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import {
  findHomeKeys,
  freeBytes,
  fsPath,
  hashRegular,
  getHomeKey,
  isSameProof,
  makeChallenge,
  markHome,
  noProofs,
  proveDropFolder,
  provePath,
  proveReading,
  type HomeKey,
  type ProvenFile,
} from '@mutirao/runtime/files';

/** An output that was left for its broker. */
export interface DroppedFile {
  /** In the broker's folder. */
  readonly name: string;
  readonly content: Content;
}

/** A broker's proof that it has the key of a folder for outputs. */
export interface DropProof {
  /** The broker's challenge. */
  readonly challenge: string;
  readonly proof: string;
}

/** Challenges that are remembered: a provider's and those of the brokers that it serves. The oldest goes. */
const challengesMax = 4;

/**
 * What an agent shares with others by a file system: whose keys it can read, and where they take outputs.
 *
 * Keys are never sent. Both sides prove that they can read a key, for random texts of both.
 */
export class SharedFolders {
  private readonly home: string;
  private readonly incarnation: string;
  /** Others prove paths for it. */
  private readonly challenge = makeChallenge();
  private readonly challenges = new Set<string>();
  private keys: readonly HomeKey[] = [];
  private proofs: ReaderProofs = noProofs;

  /** @param home folder that may be shared; empty for an agent that shares nothing. @param incarnation of the agent. */
  constructor(home: string, incarnation: string) {
    this.home = home;
    this.incarnation = incarnation;
  }

  /**
   * A provider or broker that shares a home folder sent its challenge. Cost: reads the key files when it is a new one.
   */
  meet(challenge: string): void {
    if (challenge === '' || this.home === '' || this.challenges.has(challenge)) return;
    const [oldest] = this.challenges;
    if (this.challenges.size === challengesMax && oldest !== undefined) this.challenges.delete(oldest);
    this.challenges.add(challenge);
    this.keys = this.read();
    this.proofs = {
      challenge: this.challenge,
      homeProofs: [...this.challenges].flatMap((one) =>
        this.keys.map(({ key }) => proveReading(key, one, this.challenge)),
      ),
    };
  }

  /** Marks of the home folders whose keys it can read now, for brokers that have the same keys. */
  marks(): string[] {
    return this.read().map(({ key }) => markHome(key, this.incarnation));
  }

  /** What a process says when it asks for contents. */
  show(): ReaderProofs {
    return this.proofs;
  }

  /** Whether a path comes from a process that reads our home folder. */
  isProven(file: ProvenFile, proof: string): boolean {
    return this.keys.some(({ key }) => isSameProof(proof, provePath(key, this.challenge, file)));
  }

  /**
   * Leaves a copy of an output for the broker that has proven to have the key of a folder.
   *
   * The file itself would be cheaper to leave, but what still has it open for writing, be it the task's own daemon or a
   * container that it started, would go on changing an accepted result. File systems that can share blocks between
   * files copy nothing.
   *
   * @returns what the copy holds, whatever happens to the file meanwhile; undefined where nothing can be left.
   */
  async drop({ challenge, proof }: DropProof, file: string): Promise<DroppedFile | undefined> {
    const folder =
      this.read().find(
        ({ key, folder: place }) =>
          place !== '' && isSameProof(proof, proveDropFolder(key, challenge, this.incarnation)),
      )?.folder ?? '';
    if (folder === '') return undefined;
    const name = `drop-${randomBytes(16).toString('hex')}`;
    const target = path.join(folder, name);
    try {
      if (!(await hasRoom(folder, file))) return undefined;
      await copyFile(fsPath(file), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      return { name, content: await hashRegular(target) };
    } catch {
      await rm(target, { force: true }).catch(() => undefined);
      return undefined;
    }
  }

  /**
   * Other users of the folder may have come later than this agent; the folder's own key exists from the first one on.
   */
  private read(): HomeKey[] {
    if (this.home === '') return [];
    try {
      getHomeKey(this.home);
    } catch {
      // A folder that cannot be written to may have a key all the same.
    }
    return findHomeKeys(this.home);
  }
}

/** Left on a home's disk by copies of outputs, since journals are written there. */
const leftMin: Bytes = 256 * 1024 * 1024;

/**
 * Whether a copy fits: a file with holes may be larger than any disk, and a copy of it has none. What does not fit is
 * pushed, and then home waits for room and says so.
 */
async function hasRoom(folder: string, file: string): Promise<boolean> {
  const { size } = await stat(fsPath(file));
  return size <= leftMin || freeBytes(folder) >= size + leftMin;
}
