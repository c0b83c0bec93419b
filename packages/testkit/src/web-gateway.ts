import { MutiraoError } from '@mutirao/api/errors';

import type { AnsweringBroker } from './answering-broker.ts';

/** A grid whose broker answers from lists, for gateways of pages in tests. A test replaces what it needs. */
export function fakePageGrid(broker: AnsweringBroker) {
  return {
    broker: () => broker,
    brokerAddress: () => '127.0.0.1:1',
    provider: (): never => {
      throw new MutiraoError('MUT_UNREACHABLE', 'no provider');
    },
    findReservations: () => undefined,
  };
}
