import type { EventMessage } from '@mutirao/api/events';

import type { ChangeCodec, JournalEntry } from '../../../src/journal/index.ts';

/** A change with this number of events. */
export interface ReportedChange {
  readonly events: number;
}

export const changeCodec: ChangeCodec<ReportedChange> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as ReportedChange,
  deriveJob: () => undefined,
  isDurable: () => false,
};

/** Messages with the ids that a broker's have: `17`, `17.1`, ... */
export function encodeEntry(source: string, { sequence, change }: JournalEntry<ReportedChange>): EventMessage[] {
  return Array.from({ length: change.events }, (_, part) => {
    const id = part === 0 ? String(sequence) : `${sequence}.${part}`;
    return {
      subject: `mutirao.events.test.${part}`,
      messageId: `${source}#${id}`,
      headers: { 'ce-id': id, 'ce-source': source },
      data: new Uint8Array(),
    };
  });
}
