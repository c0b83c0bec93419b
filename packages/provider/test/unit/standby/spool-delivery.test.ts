// How kept reports reach a broker that is back.
import test from 'ava';
import { ConnectResponse } from '@mutirao/api/provider';
import type { MachineFacts } from '@mutirao/core/messages';
import { quietLogger } from '@mutirao/runtime/log';
import { SpoolDelivery } from '../../../src/standby/spool-delivery.ts';
import { BrokerLink, type ByteStream } from '../../../src/relay/links.ts';
import type { SpooledOutput } from '../../../src/spool/output-spool.ts';
import { until } from '@mutirao/testkit';
import { AttachRequest } from '@mutirao/api/machine';

const facts: MachineFacts = {
  machineId: 'p/pc1',
  incarnation: 'i',
  processors: 1,
  attributes: {},
  until: undefined,
  requestId: '',
};

function anOutput(transferId: string): SpooledOutput {
  return { transferId, brokerId: 'b', machineId: 'p/pc1', content: { sha256: 'a'.repeat(64), size: 3 } };
}

/** The delivery of reports 1 and 2, of which the first names output t1; output t9 is in no report. */
function deliver(sequences: readonly number[]): {
  readonly said: string[];
  readonly done: string[];
  readonly start: () => void;
  readonly delivery: SpoolDelivery;
} {
  const said: string[] = [];
  const done: string[] = [];
  const stream = {
    write: (bytes: Buffer) => {
      const { message } = ConnectResponse.decode(bytes);
      if (message?.$case !== 'fromMachine') throw new Error("expected a machine's message");
      const inner = message.value.message;
      said.push(
        inner?.$case === 'report'
          ? `report ${inner.value.sequence}`
          : inner?.$case === 'blobUpload'
            ? `pushed ${inner.value.transferId} ${inner.value.isKept}`
            : '?',
      );
      return true;
    },
    drained: () => Promise.resolve(),
    resume: () => undefined,
    pause: () => undefined,
    onDrain: undefined,
  } as unknown as ByteStream;
  const outputs = new Map(['t1', 't9'].map((transferId) => [transferId, anOutput(transferId)]));
  const delivery = new SpoolDelivery(new BrokerLink('b', 1, stream), {
    log: quietLogger,
    bodies: {
      findReport: ({ sequence }) => ({
        bytes: AttachRequest.encode({
          message: { $case: 'report', value: { sequence, started: [], ended: [], gangMemberReady: [] } },
        }).finish(),
        transferIds: sequence === 1 ? ['t1'] : [],
      }),
      isNamed: (transferId) => transferId === 't1',
    },
    outputs: { find: (transferId) => outputs.get(transferId), list: () => [...outputs.values()] },
  });
  return {
    said,
    done,
    delivery,
    start: () => {
      delivery.deliver(facts, sequences, () => done.push('done'));
    },
  };
}

test('each output is announced before the report that names it, and those that no report names last', async (t) => {
  const { said, done, start } = deliver([1, 2]);
  start();
  await until(() => done.length > 0, 'all is on its way');
  t.deepEqual(said, ['pushed t1 true', 'report 1', 'report 2', 'pushed t9 true']);
});

test('of a machine without kept reports its outputs are announced all the same', async (t) => {
  const { said, done, start } = deliver([]);
  start();
  await until(() => done.length > 0, 'all is on its way');
  t.deepEqual(said, ['pushed t9 true']);
});

test('an output whose push ends while kept reports are delivered is announced once, whether that is before, during or after the delivery', async (t) => {
  for (const turnsBefore of [0, 1, 2, 3, 100]) {
    const { said, done, start, delivery } = deliver([1, 2]);
    start();
    for (let turn = 0; turn < turnsBefore; turn += 1) await Promise.resolve();
    delivery.announce('t9');
    await until(() => done.length > 0, 'all is on its way');
    t.deepEqual(
      said.toSorted(),
      ['pushed t1 true', 'pushed t9 true', 'report 1', 'report 2'],
      `after ${turnsBefore} turns`,
    );
  }
});

test('a delivery that is begun again on the same stream repeats the reports and announces no output again', async (t) => {
  const { said, done, start } = deliver([1, 2]);
  start();
  start();
  await until(() => done.length === 2, 'both are on their way');
  t.deepEqual(said, ['pushed t1 true', 'report 1', 'report 2', 'pushed t9 true', 'report 1', 'report 2']);
});

test('what is not kept, or is kept for another broker, is not announced', (t) => {
  const { said, delivery } = deliver([]);
  delivery.announce('t7');
  t.deepEqual(said, []);
});
