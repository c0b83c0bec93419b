import { randomBytes } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import type { Content } from '@mutirao/core/messages';
import { invariant, type Bytes, type Duration, type Instant } from '@mutirao/core/shared';
import type { Clock } from '@mutirao/runtime/driver';
import { removeTree } from '@mutirao/runtime/files';
import { describeOwner, isGone } from './owner-note.ts';

/** How a content comes to one of several agents. */
export type Way =
  /** Another one has brought it; the file is looked at before it is used. */
  | { readonly kind: 'file'; readonly path: string }
  /** This agent must bring it, for all: the others wait until it has, or `release` is called. */
  | { readonly kind: 'bring' }
  /** Each gets its own. */
  | { readonly kind: 'alone' };

/** What contents of a folder need. */
export interface HostContentsOptions {
  /** The same for all agents that share contents; created if it is absent. */
  readonly folder: string;
  /** Agents of one provider share what they learn of it. */
  readonly provider: string;
  readonly clock: Clock;
  pause(delay: Duration): Promise<void>;
}

/** A content up to this size comes within a message: to coordinate would cost more. */
const smallMax: Bytes = 64 * 1024;
const firstPause: Duration = 20;
const longestPause: Duration = 500;
/** An agent that brings a content and has received nothing for this time is not waited for. */
const patience: Duration = 15_000;
const beatInterval: Duration = 5_000;
/** How long knowledge about the provider is used. */
const learntFor: Duration = 24 * 3_600_000;

interface Claim {
  readonly text: string;
  readonly stopBeating: () => void;
}

/**
 * Contents that several agents of one home folder share, so that one of them brings each over the wire and the others
 * link to it.
 *
 * A file here is a further name of one in an agent's own store; when no agent has it any more, it is removed. The agent
 * that brings a content has a claim file; one whose process is gone, or that gets nothing further, is taken over.
 * Without hard links each agent works alone.
 */
export class HostContents {
  readonly #options: HostContentsOptions;
  readonly #claims = new Map<string, Claim>();
  readonly #marker: string;
  #isUsable: boolean;

  /** Makes the folder and removes what nobody has any more. Without it each agent is alone. */
  constructor(options: HostContentsOptions) {
    this.#options = options;
    this.#marker = path.join(options.folder, `near-${Buffer.from(options.provider).toString('hex').slice(0, 200)}`);
    try {
      mkdirSync(options.folder, { recursive: true, mode: 0o700 });
      this.#isUsable = true;
    } catch {
      this.#isUsable = false;
    }
    this.sweep();
  }

  /** Whether agents agree on who brings such a content. */
  isShared({ size }: Content): boolean {
    return this.#isUsable && size > smallMax && !this.#isNear();
  }

  /** Waits until a content is here, or this agent must bring it. Undefined when it is not wanted any more. */
  async obtain(content: Content, isWanted: () => boolean): Promise<Way | undefined> {
    const seen = { stamp: '', since: this.#options.clock.now() };
    for (let delay = firstPause; isWanted(); delay = Math.min(longestPause, delay * 2)) {
      const way = this.#findWay(content);
      if (way !== undefined) return way;
      if (!this.#inherit(this.#claimPath(content.sha256), seen)) await this.#options.pause(delay);
    }
    return undefined;
  }

  #findWay(content: Content): Way | undefined {
    const file = this.#find(content);
    if (!this.isShared(content)) return { kind: 'alone' };
    if (file !== undefined) return { kind: 'file', path: file };
    if (
      this.#claims.has(content.sha256) ||
      (getStamp(this.#claimPath(content.sha256)) === '' && this.#claim(content.sha256))
    )
      return { kind: 'bring' };
    return undefined;
  }

  /**
   * Drops the claim of one who does not bring what it claimed. @param seen what was last seen of it, and since when.
   */
  #inherit(claim: string, seen: { stamp: string; since: Instant }): boolean {
    const now = this.#options.clock.now();
    const stamp = getStamp(claim);
    if (stamp !== seen.stamp) Object.assign(seen, { stamp, since: now });
    if (stamp === '' || !(isLeft(claim) || now - seen.since >= patience)) return false;
    dropClaim(claim, stamp);
    return true;
  }

  /** It begins to come: as long as more of it is there each time, the others wait. */
  beat(sha256: string, getSize: () => Bytes): void {
    const claim = this.#claims.get(sha256);
    if (claim === undefined) return;
    claim.stopBeating();
    let size = getSize();
    const timer = setInterval(() => {
      const now = getSize();
      if (now > size) this.#touch(sha256);
      size = now;
    }, beatInterval).unref();
    this.#claims.set(sha256, {
      text: claim.text,
      stopBeating: () => {
        clearInterval(timer);
      },
    });
  }

  /** Gives a content that this agent has brought to the others. */
  publish(sha256: string, file: string): void {
    if (!this.#claims.has(sha256)) return;
    try {
      linkSync(file, this.#path(sha256));
    } catch (error) {
      // Without links, or room for a name, the next one brings it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        this.#isUsable = (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
    this.release(sha256);
    this.sweep();
  }

  /** Gives a content that was written on this host to the others, where they would agree on who brings it. */
  offer(content: Content, file: string): void {
    if (!this.isShared(content) || this.#find(content) !== undefined) return;
    try {
      linkSync(file, this.#path(content.sha256));
    } catch (error) {
      // Somebody else offers it too, or there was no room to keep it.
      if (!['EEXIST', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))) this.#isUsable = false;
    }
  }

  /** This agent does not bring a content after all. Harmless where it was not to. */
  release(sha256: string): void {
    const claim = this.#claims.get(sha256);
    if (claim === undefined) return;
    claim.stopBeating();
    this.#claims.delete(sha256);
    const file = this.#claimPath(sha256);
    if (readOr(file) === claim.text) removeTree(file);
  }

  /** A file here is not what it should be, or cannot be read. */
  forget(sha256: string): void {
    removeTree(this.#path(sha256));
  }

  /** What agents want of this provider is on a file system that they read: nothing needs to be brought. */
  noteNear({ size }: Content): void {
    if (size <= smallMax || this.#isNear()) return;
    this.#try(() => {
      writeFileSync(this.#marker, '', { mode: 0o600 });
    });
  }

  /** It is not. */
  noteFar(): void {
    this.#try(() => {
      rmSync(this.#marker, { force: true });
    });
  }

  /** Removes contents that no agent's store has any more. Cost: O(files here). */
  sweep(): void {
    this.#try(() => {
      for (const name of readdirSync(this.#options.folder)) {
        const file = path.join(this.#options.folder, name);
        const status = statSync(file, { throwIfNoEntry: false });
        if (status === undefined) continue;
        const isOld = name.includes('.claim') && this.#options.clock.now() - status.mtimeMs > learntFor;
        if (isOld || (/^[0-9a-f]{64}$/.test(name) && status.nlink === 1)) rmSync(file, { force: true });
      }
    });
  }

  /** Leaves nothing that others would wait for. */
  close(): void {
    for (const sha256 of [...this.#claims.keys()]) this.release(sha256);
  }

  #find({ sha256, size }: Content): string | undefined {
    const file = this.#path(sha256);
    return lookAt(file)?.size === size ? file : undefined;
  }

  /** Whether the claim, which nobody had, is this agent's now. It is there whole or not at all. */
  #claim(sha256: string): boolean {
    const text = JSON.stringify({ ...describeOwner(), nonce: randomBytes(8).toString('hex') });
    const draft = `${this.#claimPath(sha256)}.${randomBytes(8).toString('hex')}`;
    try {
      writeFileSync(draft, text, { mode: 0o600 });
      linkSync(draft, this.#claimPath(sha256));
      this.#claims.set(sha256, { text, stopBeating: () => undefined });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') this.#isUsable = false;
      return false;
    } finally {
      this.#try(() => {
        rmSync(draft, { force: true });
      });
    }
  }

  #touch(sha256: string): void {
    const now = this.#options.clock.now() / 1000;
    try {
      utimesSync(this.#claimPath(sha256), now, now);
    } catch {
      // It was taken over: two bring the content then.
    }
  }

  #isNear(): boolean {
    const learntAt: Instant | undefined = lookAt(this.#marker)?.mtimeMs;
    return learntAt !== undefined && Math.abs(this.#options.clock.now() - learntAt) < learntFor;
  }

  #path(sha256: string): string {
    // The name becomes a path: anything but a hash here would let a peer choose a file.
    invariant(/^[0-9a-f]{64}$/.test(sha256), `not a hash: ${sha256}`);
    return path.join(this.#options.folder, sha256);
  }

  #claimPath(sha256: string): string {
    return `${this.#path(sha256)}.claim`;
  }

  /** A failure here is not worth a task: each agent brings its own contents then. */
  #try(act: () => void): void {
    try {
      act();
    } catch {
      this.#isUsable = false;
    }
  }
}

function isLeft(claim: string): boolean {
  const text = readOr(claim);
  return text !== '' && isGone(text);
}

/** Removes a claim, unless another one has come in its place since it was looked at: of several who do one does it. */
function dropClaim(claim: string, stamp: string): void {
  const aside = `${claim}.${randomBytes(8).toString('hex')}`;
  try {
    renameSync(claim, aside);
    if (getStamp(aside) !== stamp) linkSync(aside, claim);
  } catch {
    // Somebody else was quicker.
  }
  removeTree(aside);
}

/** Undefined also where a task has locked the folder. */
function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/** Another one for another file and after each beat; empty where there is none. A rename leaves it. */
function getStamp(file: string): string {
  const status = lookAt(file);
  return status === undefined ? '' : `${status.ino} ${status.mtimeMs}`;
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
