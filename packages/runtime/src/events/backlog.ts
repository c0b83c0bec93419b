import type { EventMessage } from '@mutirao/api/events';

import type { Journal, JournalEntry } from '../journal/index.ts';

/**
 * Changes read from the journal at a time: what publishing costs in memory, and for how long one read holds up the
 * process.
 */
const readMax = 32;

/** A message to publish, and how far the journal is published after it. */
interface Waiting {
  readonly message: EventMessage;
  /** The last change that is fully published once this message is stored. */
  readonly completes: number;
}

/** The messages of one line of a journal, in order; the same, byte for byte, at any time. */
export type EncodeEntry<Change> = (entry: JournalEntry<Change>) => EventMessage[];

/** Messages of a journal that no stream has stored yet. At most a page is in memory; the rest stays in the journal. */
export class EventBacklog<Change> {
  readonly #journal: Pick<Journal<Change>, 'read' | 'lastSequence'>;
  readonly #encode: EncodeEntry<Change>;
  #waiting: Waiting[] = [];
  #readUpTo: number;
  #publishedUpTo: number;

  /** @param publishedUpTo the last change of which all events are known to be kept. */
  constructor(
    journal: Pick<Journal<Change>, 'read' | 'lastSequence'>,
    encode: EncodeEntry<Change>,
    publishedUpTo: number,
  ) {
    this.#journal = journal;
    this.#encode = encode;
    // After a power cut the journal may end before what was published of it; those sequences come again, under another
    // source.
    this.#publishedUpTo = Math.min(publishedUpTo, journal.lastSequence());
    this.#readUpTo = this.#publishedUpTo;
  }

  /** The last change of which all events are kept. */
  get publishedUpTo(): number {
    return this.#publishedUpTo;
  }

  /** Changes in the journal of which something is still to be published, or that were not looked at yet. */
  get lag(): number {
    return this.#journal.lastSequence() - this.#publishedUpTo;
  }

  /**
   * The next messages in order, at most `max`; none when all is published. Asked again, it gives the same until
   * `settle` says that some are kept.
   */
  next(max: number): EventMessage[] {
    while (this.#waiting.length === 0 && this.#readPage());
    return this.#waiting.slice(0, max).map(({ message }) => message);
  }

  /** The first `count` of the messages are kept. */
  settle(count: number): void {
    for (const { completes } of this.#waiting.splice(0, count))
      this.#publishedUpTo = Math.max(this.#publishedUpTo, completes);
  }

  /** Whether there was anything to read. */
  #readPage(): boolean {
    const entries = this.#journal.read({ after: this.#readUpTo, limit: readMax });
    for (const entry of entries) {
      const { sequence } = entry;
      const messages = this.#encode(entry);
      // A change without messages is complete when all changes before it are.
      messages.forEach((message, index) => {
        this.#waiting.push({ message, completes: index === messages.length - 1 ? sequence : sequence - 1 });
      });
      if (this.#waiting.length === 0) this.#publishedUpTo = sequence;
      this.#readUpTo = sequence;
    }
    return entries.length > 0;
  }
}
