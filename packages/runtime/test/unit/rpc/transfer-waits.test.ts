import { EventEmitter } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import test from 'ava';
import { TransferWaits } from '../../../src/rpc/admission/transfer-waits.ts';

const waitMax = 120_000;
const messageBytes = 256 * 1024;

/** A connection with some downloads, each of which has a message that waits. */
function aReceiver(count: number) {
  const session = { destroyed: false, socket: { bytesWritten: 0 } };
  const waits = new TransferWaits<number>(waitMax);
  const streams = Array.from({ length: count }, (_, index) => {
    const stream = Object.assign(new EventEmitter(), { session, writableLength: messageBytes });
    waits.follow(index, stream as unknown as ServerHttp2Stream, 'out');
    return stream;
  });
  let now = 0;
  const slow: number[] = [];
  /** Lets this number of seconds pass, and this number of bytes in each. */
  const pass = (seconds: number, bytes: number): number[] => {
    for (let second = 0; second < seconds; second += 1) {
      now += 1000;
      session.socket.bytesWritten += bytes;
      slow.push(...waits.takeSlow(now));
    }
    return slow;
  };
  waits.takeSlow(now);
  return { pass, streams };
}

test('a slow receiver of sixteen downloads is not given up while it takes the least rate in all', (t) => {
  const { pass, streams } = aReceiver(16);
  // Each has its message after sixteen times as long as one alone.
  for (let round = 0; round < 2; round += 1) {
    t.deepEqual(pass((16 * messageBytes) / 1024, 1024), []);
    for (const stream of streams) stream.emit('drain');
  }
});

test('a receiver that takes nothing is given up after the wait, however many downloads it has', (t) => {
  const { pass } = aReceiver(16);
  t.deepEqual(pass(120, 0), []);
  t.is(pass(1, 0).length, 16);
});

test('one that takes less than the least rate is given up, though later', (t) => {
  const { pass } = aReceiver(2);
  t.deepEqual(pass(120, 512), []);
  t.is(pass(120, 512).length, 2);
});

test('a download that stands still while others go on is ended at last', (t) => {
  const { pass, streams } = aReceiver(2);
  for (let second = 0; second < 700; second += 1) {
    streams[0]?.emit('drain');
    pass(1, 4096);
  }
  t.deepEqual(pass(0, 0), [1]);
});

test('what was taken in a burst lasts for a while, and no longer than the wait', (t) => {
  const { pass } = aReceiver(1);
  pass(1, 64 * 1024 * 1024);
  t.deepEqual(pass(190, 0), []);
  t.deepEqual(pass(20, 0), [0]);
});

test('a slow sender of four uploads is not given up while it sends the least rate in all, and one that stops is', (t) => {
  const session = { destroyed: false, socket: { bytesRead: 0 } };
  const waits = new TransferWaits<number>(waitMax);
  const streams = Array.from({ length: 4 }, (_, index) => {
    const stream = Object.assign(new EventEmitter(), { session, writableLength: 0, isPaused: () => false });
    waits.follow(index, stream as unknown as ServerHttp2Stream, 'in');
    return stream;
  });
  const send = (from: number, until: number, sending: readonly EventEmitter[]): number[] => {
    const slow: number[] = [];
    for (let second = from; second < until; second += 1) {
      session.socket.bytesRead += 1024;
      for (const stream of sending) stream.emit('data', Buffer.alloc(1024 / sending.length));
      slow.push(...waits.takeSlow(second * 1000));
    }
    return slow;
  };
  t.deepEqual(send(0, 2000, streams), []);
  t.deepEqual(send(2000, 3000, streams.slice(0, 2)), [2, 3]);
});
