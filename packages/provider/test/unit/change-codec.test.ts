// What of a provider's journal survives a crash of its host.
import test from 'ava';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import { providerChangeCodec } from '../../src/change-codec.ts';

test('the number of a request is on the disk before anybody sees it, also of one that is refused without being submitted', (t) => {
  const drafted: ProviderChange = {
    kind: 'RequestDrafted',
    requestId: 'q1',
    brokerId: 'b1',
    userId: 'ana',
    width: 1,
    walltime: 60_000,
    heuristic: '',
    reasons: [{ code: 'requested-inside-reservation', reservationId: 7 }],
    at: 5,
  };
  t.true(providerChangeCodec.isDurable(drafted));
});

test('lines of earlier releases, which hold sentences in place of reasons, are read as these sentences', (t) => {
  const { decode, encode } = providerChangeCodec;
  const was = (sentence: string) => ({ code: 'unknown-reason', reasonCode: '', words: sentence });
  const read = (line: object): ProviderChange => decode(1, JSON.stringify(line));
  t.like(read({ kind: 'RequestDrafted', reasons: ['first', 'second'] }), { reasons: [was('first'), was('second')] });
  t.like(read({ kind: 'RequestReleasing', reason: 'idle' }), { reasons: [was('idle')] });
  t.like(read({ kind: 'RequestEnded', reason: 'over' }), { reason: was('over') });
  t.like(read({ kind: 'MachineLost', reason: 'MUT_MACHINE_LOST' }), { reason: 'MUT_MACHINE_LOST' });
  const ended: ProviderChange = {
    kind: 'RequestEnded',
    requestId: 'q1',
    status: 'ended',
    reason: { code: 'ended-by-manager', cause: 'TIMEOUT' },
    endedAt: 4,
    at: 5,
  };
  t.deepEqual(decode(2, encode(ended)), ended);
});
