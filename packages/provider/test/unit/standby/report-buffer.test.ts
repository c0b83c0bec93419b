// What an agent says while its broker is away: nothing is lost, doubled or out of order.
import test from 'ava';
import { encodeBlobRequest, encodeReport } from '@mutirao/api/codecs';
import { AttachRequest } from '@mutirao/api/machine';
import type { Content } from '@mutirao/core/messages';
import { anEnd } from '@mutirao/testkit';
import { ReportBuffer } from '../../../src/standby/report-buffer.ts';

const content: Content = { sha256: 'a'.repeat(64), size: 7 };

function said(message: NonNullable<AttachRequest['message']>): Buffer {
  return Buffer.from(AttachRequest.encode({ message }).finish());
}

function aReport(sequence: number): Buffer {
  return said({
    $case: 'report',
    value: encodeReport({ sequence, started: [], ended: [anEnd(sequence, 'succeeded', { startedAt: 1, endedAt: 2 })] }),
  });
}

/** A buffer with space for a number of reports. */
class Bench {
  room: number;
  /** A report that is too large for the room that there is. */
  tooLarge = 0;
  readonly kept: number[] = [];
  readonly buffer: ReportBuffer;
  isPaused = false;
  offers = false;

  constructor(room: number) {
    this.room = room;
    this.buffer = new ReportBuffer({
      keep: ({ sequence }) => {
        if (this.room === 0 || sequence === this.tooLarge) return false;
        this.room -= 1;
        this.kept.push(sequence);
        return true;
      },
      offer: (contents) => (this.offers ? [] : contents),
      setPaused: (isPaused) => {
        this.isPaused = isPaused;
      },
    });
  }

  /** Sequences of the reports that are left for the broker, and how many contents are wanted of it. */
  leave(): [number[], number] {
    const messages = this.buffer.leave().map((bytes) => AttachRequest.decode(bytes).message);
    return [
      messages.flatMap((message) => (message?.$case === 'report' ? [message.value.sequence] : [])),
      messages.flatMap((message) => (message?.$case === 'blobRequest' ? message.value.contents : [])).length,
    ];
  }
}

test('reports are kept in their order, and those that are not safe go to the broker when it is back', (t) => {
  const bench = new Bench(9);
  for (const sequence of [1, 2, 3]) bench.buffer.receive(aReport(sequence));
  bench.buffer.forget(2);
  t.deepEqual(bench.kept, [1, 2, 3]);
  t.deepEqual(bench.leave(), [[3], 0]);
  t.deepEqual(bench.leave(), [[], 0]);
});

test('an agent whose report finds no room is held back, and nothing that comes after is kept before it', (t) => {
  const bench = new Bench(9);
  bench.tooLarge = 2;
  for (const sequence of [1, 2, 3]) bench.buffer.receive(aReport(sequence));
  t.deepEqual([bench.kept, bench.isPaused], [[1], true]);
  bench.tooLarge = 0;
  bench.buffer.goOn();
  t.deepEqual([bench.kept, bench.isPaused], [[1, 2, 3], false]);
});

test('where the machine had no space for one, all reports that are not safe are delivered again', (t) => {
  const bench = new Bench(9);
  for (const sequence of [1, 2, 3]) bench.buffer.receive(aReport(sequence));
  bench.buffer.forget(1);
  bench.buffer.reportAgain();
  t.deepEqual(bench.kept, [1, 2, 3, 2, 3]);
});

test('contents that are here are offered, others are wanted of the broker when it is back', (t) => {
  const bench = new Bench(9);
  const wanted = said({ $case: 'blobRequest', value: encodeBlobRequest([content]) });
  bench.offers = true;
  bench.buffer.receive(wanted);
  t.deepEqual(bench.leave(), [[], 0]);
  bench.offers = false;
  bench.buffer.receive(wanted);
  bench.buffer.receive(wanted);
  t.deepEqual(bench.leave(), [[], 1]);
});

test('an agent that says anything else has broken the rules', (t) => {
  t.throws(
    () => {
      new Bench(1).buffer.receive(
        said({ $case: 'hello', value: { hello: undefined, facts: undefined, heldReplicaIds: [] } }),
      );
    },
    { code: 'MUT_PROTOCOL' },
  );
});
