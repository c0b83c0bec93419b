import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { Host, Life } from '../../../src/world/host.ts';
import { Kernel } from '../../../src/world/kernel.ts';
import { Link } from '../../../src/world/link.ts';
import type { StreamEnd } from '../../../src/world/network.ts';

interface Message {
  readonly kind: string;
}

/** A stream as the link sees it; the test is the network. */
class FakeStream implements StreamEnd<string, Message> {
  onMessage: (message: Message) => void = () => undefined;
  onClosed: (code: string) => void = () => undefined;
  isOpen = true;
  readonly written: string[] = [];
  readonly dialledAt: number;
  closedWith: string | undefined;

  constructor(dialledAt: number) {
    this.dialledAt = dialledAt;
  }

  write(message: string): void {
    this.written.push(message);
  }

  close(code: string): void {
    this.closedWith = code;
  }
}

function setUp(onDial: (stream: FakeStream) => void = () => undefined) {
  const kernel = new Kernel(0);
  const life = new Life(new Host('here', kernel, 0));
  const streams: FakeStream[] = [];
  const received: string[] = [];
  const link = new Link<string, Message>({
    kernel,
    life,
    rng: new Prng('link'),
    backOff: { first: 100, longest: 5000 },
    dial: () => {
      const stream = new FakeStream(kernel.now);
      streams.push(stream);
      kernel.after(0, () => {
        onDial(stream);
      });
      return stream;
    },
    hello: () => 'hello',
    onConnected: ({ kind }) => {
      received.push(`connected ${kind}`);
    },
    onMessage: ({ kind }) => {
      received.push(kind);
    },
    onLost: () => {
      received.push('lost');
    },
    isFinal: (code, wasConnected) =>
      code === 'MUT_MACHINE_NAME_TAKEN_OVER' || (code === 'MUT_UNAUTHENTICATED' && !wasConnected),
    onGone: (code) => {
      received.push(`gone ${code}`);
    },
  });
  return { kernel, life, streams, received, link };
}

test('a link greets first, and is connected when it is greeted', (t) => {
  const { kernel, streams, received, link } = setUp();
  link.open();
  kernel.runUntil(10);
  link.send('too early');
  t.false(link.isConnected);
  streams[0]!.onMessage({ kind: 'welcome' });
  t.true(link.isConnected);
  link.send('news');
  streams[0]!.onMessage({ kind: 'order' });
  t.deepEqual(streams[0]!.written, ['hello', 'news']);
  t.deepEqual(received, ['connected welcome', 'order']);
});

test('pauses between tries double up to the longest, none shorter than half of it', (t) => {
  const { kernel, streams, link } = setUp((stream) => {
    stream.onClosed('MUT_UNREACHABLE');
  });
  link.open();
  kernel.runUntil(60_000);
  const pauses = streams.slice(1).map(({ dialledAt }, index) => dialledAt - streams[index]!.dialledAt);
  for (const [index, pause] of pauses.entries()) {
    const longest = Math.min(5000, 100 * 2 ** index);
    t.true(
      pause >= longest / 2 && pause <= longest + 1,
      `pause ${index} was ${pause}, expected ${longest / 2} to ${longest}`,
    );
  }
  t.true(pauses.length > 10);
});

test('a link that was connected begins again with the shortest pause', (t) => {
  const { kernel, streams, received, link } = setUp((stream) => {
    if (streams.length === 6) stream.onMessage({ kind: 'welcome' });
    stream.onClosed('MUT_UNREACHABLE');
  });
  link.open();
  kernel.runUntil(60_000);
  t.true(streams[5]!.dialledAt - streams[4]!.dialledAt > 500);
  t.true(streams[6]!.dialledAt - streams[5]!.dialledAt <= 101);
  t.deepEqual(received, ['connected welcome', 'lost']);
  t.is(link.epoch, 1);
});

test('an agent that is asked to attach again does so at once', (t) => {
  const { kernel, streams, link } = setUp((stream) => {
    stream.onMessage({ kind: 'welcome' });
    if (streams.length < 4) stream.onClosed('MUT_REATTACH');
  });
  link.open();
  kernel.runUntil(1);
  t.deepEqual(
    streams.map(({ dialledAt }) => dialledAt),
    [0, 0, 0, 0],
  );
  t.is(link.epoch, 4);
});

test('a final code ends the link for good', (t) => {
  const { kernel, streams, received, link } = setUp((stream) => {
    stream.onClosed('MUT_MACHINE_NAME_TAKEN_OVER');
  });
  link.open();
  kernel.runUntil(60_000);
  t.deepEqual([streams.length, received], [1, ['gone MUT_MACHINE_NAME_TAKEN_OVER']]);
});

test('whether a code is final may depend on whether the link was connected', (t) => {
  const { kernel, received, link } = setUp((stream) => {
    stream.onMessage({ kind: 'welcome' });
    stream.onClosed('MUT_UNAUTHENTICATED');
  });
  link.open();
  kernel.runUntil(1);
  t.deepEqual(received, ['connected welcome', 'lost']);
});

test('a greeting without an answer is given up after 10 s', (t) => {
  const { kernel, streams, received, link } = setUp();
  link.open();
  kernel.runUntil(10_000);
  t.is(streams.length, 1);
  kernel.runUntil(10_200);
  t.deepEqual([streams.length, streams[0]!.closedWith], [2, 'MUT_DEADLINE_EXCEEDED']);
  streams[0]!.onMessage({ kind: 'welcome' });
  t.deepEqual(received, [], 'what comes on a stream that was given up is not for it');
});

test('a link that closes normally does not dial again, nor does that of a process that is over', (t) => {
  const good = setUp((stream) => {
    stream.onMessage({ kind: 'welcome' });
  });
  good.link.open();
  good.kernel.runUntil(10);
  good.link.close();
  good.streams[0]!.onClosed('');
  good.kernel.runUntil(60_000);
  t.deepEqual([good.streams.length, good.streams[0]!.closedWith, good.received], [1, '', ['connected welcome']]);
  const over = setUp((stream) => {
    stream.onClosed('MUT_UNREACHABLE');
  });
  over.link.open();
  over.kernel.runUntil(10);
  over.life.end();
  over.kernel.runUntil(60_000);
  t.is(over.streams.length, 1);
});
