import { MutiraoError } from '@mutirao/api/errors';

import type { SiteState } from './site-record.ts';
import type { UpSite } from './bring-up.ts';

/** A connection to a site's host. */
export interface SiteLink {
  /** Makes the site work; nothing is done that is done already. */
  bringUp(): Promise<UpSite>;
  /**
   * Resolves when something of the site is gone or must be replaced. @throws {MutiraoError} when the connection is
   * gone.
   */
  untilGone(up: UpSite): Promise<void>;
  close(): void;
}

/** What a connector works with; a test gives it fakes. */
export interface ConnectorParts {
  /** The site has worked before: its troubles are waited for. */
  readonly isSynced: boolean;
  open(): Promise<SiteLink>;
  /** Called when the site works, each time. */
  onUp(up: UpSite): void;
  onState(status: SiteState['status'], trouble: MutiraoError | undefined, pauseMs: number): void;
  now(): number;
  /** Waits, or until the signal fires. */
  sleep(durationMs: number): Promise<void>;
  /** In [0, 1). */
  random(): number;
  readonly signal: AbortSignal;
}

const pauseMin = 1_000;
const pauseMax = 60_000;
/** After what time does not mend: a host that locks out who knocks too often should not be knocked at. */
const hopelessPause = 10 * 60_000;
const hopeless: ReadonlySet<string> = new Set(['MUT_SSH_DENIED', 'MUT_SSH_HOST_KEY', 'MUT_BAD_CONFIG']);
/** A connection that has lasted this long counts as stable. */
const steadyAfter = 30_000;

/**
 * Keeps one site connected until the signal fires: connects, makes it work, waits until something breaks, and begins
 * again after a
 * growing pause. What runs at the site is not touched when the connection goes.
 *
 * @throws {MutiraoError} when a site that never worked cannot be made to work.
 */
export async function keepSite(parts: ConnectorParts): Promise<void> {
  const pauses = new Pauses(parts);
  let isSynced = parts.isSynced;
  let upAt: number | undefined;
  const lived = (): number => (upAt === undefined ? 0 : parts.now() - upAt);
  while (!parts.signal.aborted) {
    parts.onState('connecting', undefined, 0);
    upAt = undefined;
    try {
      const link = await parts.open();
      try {
        for (;;) {
          const up = await link.bringUp();
          isSynced = true;
          upAt = parts.now();
          parts.onUp(up);
          await link.untilGone(up);
          if (lived() < steadyAfter) await pauses.wait(undefined, lived());
        }
      } finally {
        link.close();
      }
    } catch (error) {
      if (parts.signal.aborted) return;
      const trouble = asTrouble(error);
      if (!isSynced) {
        parts.onState('failed', trouble, 0);
        throw trouble;
      }
      await pauses.wait(trouble, lived());
    }
  }
}

/** The pauses of a connector: short after what lasted, longer and longer after what did not. */
class Pauses {
  readonly #parts: ConnectorParts;
  #next = pauseMin;

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
  }

  /** Waits before the next try. @param livedMs how long all was well before. */
  async wait(trouble: MutiraoError | undefined, livedMs: number): Promise<void> {
    if (livedMs >= steadyAfter) this.#next = pauseMin;
    const length = trouble !== undefined && hopeless.has(trouble.code) ? hopelessPause : this.#next;
    const pause = Math.round(length * (0.75 + this.#parts.random() / 2));
    this.#next = Math.min(pauseMax, this.#next * 2);
    this.#parts.onState('waiting', trouble, pause);
    await this.#parts.sleep(pause);
  }
}

function asTrouble(error: unknown): MutiraoError {
  if (error instanceof MutiraoError) return error;
  throw error;
}
