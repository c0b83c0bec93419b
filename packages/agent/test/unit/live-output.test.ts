import test from 'ava';
import type { LiveOutputPart, LiveOutputRequest } from '@mutirao/api/codecs';
import type { TaskTail } from '@mutirao/runtime/processes';
import { readFromProvider } from '../../src/from-provider.ts';
import { LiveOutput, type TaskTails } from '../../src/live-output.ts';

interface Bench {
  readonly live: LiveOutput;
  /** What task 7 has written to standard output. */
  readonly written: { text: string };
  /** `state requestId offset text`, in the order of sending. */
  readonly sent: string[];
  /** Lets time pass. */
  pass(duration: number): void;
  readonly held: Set<number>;
  readonly running: Set<number>;
  readonly timerCount: () => number;
}

function prepare({ isReadable = true } = {}): Bench {
  const written = { text: '' };
  const sent: string[] = [];
  const [held, running] = [new Set([7]), new Set([7])];
  let now = 0;
  const timers = new Map<number, { at: number; run(): void }>();
  let lastTimer = 0;
  const tail: TaskTail = {
    standardOutput: {
      get writtenBytes() {
        return written.text.length;
      },
      read: (offset, bytesMax) => ({ offset, bytes: Buffer.from(written.text.slice(offset, offset + bytesMax)) }),
    },
    standardError: { writtenBytes: 0, read: (offset) => ({ offset, bytes: Buffer.alloc(0) }) },
  };
  const tails: TaskTails = { tail: (replicaId) => (running.has(replicaId) ? tail : undefined) };
  const live = new LiveOutput({
    tails: isReadable ? tails : undefined,
    isHeld: (replicaId) => held.has(replicaId),
    now: () => now,
    start: (delay, run) => {
      lastTimer += 1;
      timers.set(lastTimer, { at: now + delay, run });
      return lastTimer;
    },
    cancel: (timer) => timers.delete(timer as number),
    send: ({ state, requestId, standardOutput: { offset, bytes } }: LiveOutputPart) =>
      sent.push(`${state} ${requestId} ${offset} ${Buffer.from(bytes).toString()}`),
  });
  const pass = (duration: number): void => {
    for (const end = now + duration; now < end; now += 1)
      for (const [timer, { at, run }] of timers)
        if (at <= now) {
          timers.delete(timer);
          run();
        }
  };
  return { live, written, sent, pass, held, running, timerCount: () => timers.size };
}

function ask(changes: Partial<LiveOutputRequest> = {}): LiveOutputRequest {
  return {
    requestId: 1,
    replicaId: 7,
    standardOutputOffset: 0,
    standardErrorOffset: 0,
    bytesMax: 100,
    wait: 1000,
    ...changes,
  };
}

test('a request is answered at once where something was written, and else as soon as it is', (t) => {
  const { live, written, sent, pass } = prepare();
  written.text = 'first';
  live.ask(ask());
  t.deepEqual(sent, ['running 1 0 first']);
  live.ask(ask({ requestId: 2, standardOutputOffset: 5 }));
  pass(300);
  t.is(sent.length, 1);
  written.text += ' second';
  pass(20);
  t.deepEqual(sent.slice(1), ['running 2 5  second']);
});

test('a request is answered once, without bytes when its wait is over, and then nothing is looked at', (t) => {
  const { live, sent, pass, timerCount } = prepare();
  live.ask(ask());
  pass(990);
  t.deepEqual(sent, []);
  pass(2000);
  t.deepEqual(sent, ['running 1 0 ']);
  t.is(timerCount(), 0);
});

test('a replica that waits is waited for, and one that is not here is not', (t) => {
  const { live, written, sent, pass, running } = prepare();
  running.clear();
  live.ask(ask());
  live.ask(ask({ requestId: 2, replicaId: 8 }));
  t.deepEqual(sent, ['unknown 2 0 ']);
  pass(100);
  running.add(7);
  written.text = 'begun';
  pass(20);
  t.deepEqual(sent.slice(1), ['running 1 0 begun']);
});

test('where nothing can be read before the end, that is said', (t) => {
  const { live, sent } = prepare({ isReadable: false });
  live.ask(ask());
  t.deepEqual(sent, ['unreadable 1 0 ']);
});

test('of too many requests the oldest is answered, and after a lost connection none is', (t) => {
  const { live, sent, pass, timerCount } = prepare();
  for (let requestId = 1; requestId <= 257; requestId++) live.ask(ask({ requestId }));
  t.deepEqual(sent, ['running 1 0 ']);
  live.forget();
  t.is(timerCount(), 0);
  pass(5000);
  t.is(sent.length, 1);
});

test('a request from an offset that no file has is dropped, and the stream goes on', (t) => {
  for (const name of ['standardOutputOffset', 'standardErrorOffset']) {
    const { wait: waitMs, ...wire } = ask({ [name]: 2 ** 50 + 1 });
    const said = readFromProvider({ $case: 'outputRequest', value: { ...wire, waitMs } });
    t.like(said, { kind: 'dropped', reason: { code: 'MUT_BAD_REQUEST' } });
  }
  const { wait: waitMs, ...wire } = ask({ standardOutputOffset: 2 ** 50 });
  t.is(readFromProvider({ $case: 'outputRequest', value: { ...wire, waitMs } }).kind, 'output');
});
