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
    reasons: ['Wanted inside reservation 7.'],
    at: 5,
  };
  t.true(providerChangeCodec.isDurable(drafted));
});
