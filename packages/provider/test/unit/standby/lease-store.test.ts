// What brokers lease: bodies on the disk, and contents that leased tasks will read.
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { encodeLease, type WantedContent } from '@mutirao/api/codecs';
import { AttachResponse } from '@mutirao/api/machine';
import { ConnectResponse, Lease } from '@mutirao/api/provider';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import { noProofs } from '@mutirao/runtime/files';
import { quietLogger } from '@mutirao/runtime/log';
import { aTemplate, HandTimers } from '@mutirao/testkit';
import { LeaseStore } from '../../../src/standby/lease-store.ts';
import { SpooledBodies } from '../../../src/spool/spooled-bodies.ts';

const contents = [1, 2].map((digit): Content => ({ sha256: String(digit).repeat(64), size: digit }));

/** A lease of two groups: ids 11 and 12 read a content each, 21 reads nothing. */
function aLease(sequence: number): Uint8Array {
  const inputs = contents.map((content) => [{ content, root: 'playpen' as const, path: 'in', mode: 0o644 }]);
  return Lease.encode(
    encodeLease({
      sequence,
      horizon: 1000,
      groups: [
        {
          start: {
            template: aTemplate('one'),
            replicas: [11, 12].map((replicaId, at) => ({
              replicaId,
              taskIndex: at,
              value: '',
              inputs: inputs[at] ?? [],
              outputs: [],
            })),
          },
          requirements: '',
          taskTime: 0,
        },
        {
          start: {
            template: aTemplate('other'),
            replicas: [{ replicaId: 21, taskIndex: 2, value: '', inputs: [], outputs: [] }],
          },
          requirements: '',
          taskTime: 5,
        },
      ],
    }),
  ).finish();
}

class Bench {
  readonly inputs: ProviderInput[] = [];
  /** Contents that the broker was asked for. */
  readonly asked: string[] = [];
  readonly here = new Set<string>();
  readonly pinned: string[][] = [];
  readonly timers = new HandTimers();
  readonly database = new DatabaseSync(':memory:');
  now = 0;

  open(): LeaseStore {
    return new LeaseStore({
      bodies: new SpooledBodies(this.database),
      clock: { now: () => this.now },
      timers: this.timers,
      log: quietLogger,
      deliver: (input) => this.inputs.push(input),
      report: (_brokerId, message) => {
        const reported = ConnectResponse.decode(message).message;
        if (reported?.$case !== 'fromMachine' || reported.value.message?.$case !== 'blobRequest')
          throw new Error('expected a content');
        this.asked.push(
          ...reported.value.message.value.contents.map(({ sha256 }) => Buffer.from(sha256).toString('hex')),
        );
      },
      contents: {
        proofsFor: () => noProofs,
        has: (_brokerId, { sha256 }) => this.here.has(sha256),
        pin: (_brokerId, sha256s) => {
          this.pinned.push([...sha256s]);
        },
        wantOwn: (_brokerId, wanted): WantedContent[] => [...wanted],
      },
    });
  }

  stocked(): number[][] {
    return this.inputs.flatMap((input) => (input.kind === 'InputsStaged' ? [[...input.replicaIds]] : []));
  }
}

test('a lease is on the disk before the machine receives it, and its missing contents are requested', (t) => {
  const bench = new Bench();
  const store = bench.open();
  store.take('b', 7, aLease(1));
  t.deepEqual(
    bench.inputs.map(({ kind }) => kind),
    ['LeaseGranted'],
  );
  t.not(new SpooledBodies(bench.database).findLease('b', 1), undefined);
  t.deepEqual(
    bench.asked,
    contents.map(({ sha256 }) => sha256),
  );
  t.is(bench.pinned.at(-1)?.length, 2);
  t.is(store.unstockedCount('b'), 2);
});

test('replicas are stocked when all that they read has come, and the look-out ends with the last', (t) => {
  const bench = new Bench();
  const store = bench.open();
  store.take('b', 7, aLease(1));
  bench.here.add(contents[1]?.sha256 ?? '');
  t.true(bench.timers.ring() > 0);
  t.deepEqual(bench.stocked(), [[12]]);
  bench.here.add(contents[0]?.sha256 ?? '');
  bench.timers.ring();
  t.deepEqual(bench.stocked(), [[12], [11]]);
  t.is(bench.timers.waiting.length, 0);
  t.is(bench.asked.length, 2, 'what was asked for is not asked for at each look');
});

test('what did not come for long is asked for again', (t) => {
  const bench = new Bench();
  bench.open().take('b', 7, aLease(1));
  bench.now = 90_000;
  bench.timers.ring();
  t.is(bench.asked.length, 4);
});

test('leased replicas start in the order that the machine says, a message for each run of one template, also after a restart', (t) => {
  const bench = new Bench();
  bench.open().take('b', 7, aLease(1));
  const store = bench.open();
  store.resume('b', 1);
  const batches = store
    .startMessages('b', 1, [12, 11, 21])
    .messages.map((bytes) => AttachResponse.decode(bytes).message);
  t.deepEqual(
    batches.map((batch) =>
      batch?.$case === 'start'
        ? [batch.value.template?.command, batch.value.replicas.map(({ replicaId }) => replicaId)]
        : [],
    ),
    [
      ['one', [12, 11]],
      ['other', [21]],
    ],
  );
  t.deepEqual(store.startMessages('b', 2, [11]), { messages: [], missing: [11] });
  t.like(store.startMessages('b', 1, [11, 13, 21]), { messages: { length: 2 }, missing: [13] });
});

test('a lease that was replaced can be started from until its follower is taken', (t) => {
  const bench = new Bench();
  const store = bench.open();
  store.take('b', 7, aLease(1));
  store.take('b', 7, aLease(2));
  t.is(store.startMessages('b', 1, [21]).messages.length, 1);
  store.replace('b', 2);
  t.is(store.startMessages('b', 1, [21]).messages.length, 0);
  t.is(store.startMessages('b', 2, [21]).messages.length, 1);
});

test('what a broker leased before it lost its journal is forgotten, and what it leased since is not', (t) => {
  const bench = new Bench();
  const store = bench.open();
  store.take('b', 7, aLease(3));
  store.forget('b', 8);
  t.is(store.startMessages('b', 3, [21]).messages.length, 0);
  t.is(store.unstockedCount('b'), 0);
  t.deepEqual(bench.pinned.at(-1), []);
  store.take('b', 8, aLease(1));
  store.forget('b', 8);
  t.is(store.startMessages('b', 1, [21]).messages.length, 1);
  const restarted = bench.open();
  restarted.resume('b', 1);
  restarted.forget('b', 1);
  t.is(restarted.startMessages('b', 1, [21]).messages.length, 0, 'one of before the start is of a former connection');
});
