import test from 'ava';

import { MutiraoError } from '@mutirao/api/errors';
import type { ConnectRequest, ConnectResponse } from '@mutirao/api/provider';
import { Backoff, type Timers } from '@mutirao/runtime/driver';
import { quietLogger } from '@mutirao/runtime/log';
import { streamPair, type StreamEnd } from '@mutirao/testkit';

import { ProviderLink } from '../../../src/providers/provider-link.ts';

type Far = StreamEnd<ConnectRequest, ConnectResponse>;

class HandTimers implements Timers {
  readonly waiting: { delay: number; run: () => void }[] = [];

  start(delay: number, run: () => void): unknown {
    const timer = { delay, run };
    this.waiting.push(timer);
    return timer;
  }

  cancel(timer: unknown): void {
    const at = this.waiting.indexOf(timer as HandTimers['waiting'][number]);
    if (at >= 0) this.waiting.splice(at, 1);
  }

  ring(): number {
    const timer = this.waiting.shift();
    timer?.run();
    return timer?.delay ?? -1;
  }
}

interface Bench {
  readonly link: ProviderLink;
  readonly timers: HandTimers;
  readonly reported: string[];
  readonly fars: Far[];
  far(): Far;
}

function prepare(): Bench {
  const timers = new HandTimers();
  const reported: string[] = [];
  const fars: Far[] = [];
  const link = new ProviderLink({
    brokerId: 'ana@home',
    instance: 'i',
    programVersion: '1',
    timers,
    log: quietLogger,
    backoff: new Backoff({ first: 100, longest: 350, random: () => 0 }),
    connect: () => {
      const [near, far] = streamPair<ConnectResponse, ConnectRequest>();
      fars.push(far);
      return near;
    },
    listener: {
      onConnected: () => reported.push('connected'),
      onMessage: (message) => reported.push(message.$case),
      onDisconnected: (reason) => reported.push(`disconnected: ${reason}`),
      onUnreachable: (reason) => reported.push(`unreachable: ${reason}`),
    },
  });
  return { link, timers, reported, fars, far: () => fars.at(-1) as Far };
}

const microtasks = async (): Promise<void> => {
  for (let round = 0; round < 10; round += 1) await Promise.resolve();
};

function hello(protocolVersion = 1): ConnectResponse {
  return {
    message: { $case: 'hello', value: { protocolVersion, programVersion: '1', capabilities: [], speakerId: 'alpha' } },
  };
}

test('it says hello first and sends nothing else before the other side has', async (t) => {
  const { link, reported, far, timers } = prepare();
  link.start();
  const received: ConnectRequest[] = [];
  far().listen({
    onMessage: (message) => {
      received.push(message);
    },
    onClosed: () => undefined,
  });
  link.sendToMachine('alpha/m', { $case: 'acknowledged', value: { sequence: 1 } });
  await microtasks();
  t.deepEqual(
    received.map(({ message }) => message?.$case),
    ['hello'],
  );
  t.deepEqual(reported, []);
  far().write(hello());
  far().write({ message: { $case: 'settled', value: {} } });
  await microtasks();
  t.deepEqual(reported, ['connected', 'settled']);
  t.is(timers.waiting.length, 0, 'the wait for a hello is over');
  link.sendToMachine('alpha/m', { $case: 'acknowledged', value: { sequence: 1 } });
  await microtasks();
  t.is(received.at(-1)?.message?.$case, 'toMachine');
});

test('a lost stream is reported once, and opened again after waits that double up to a limit, from the first again when it went well', async (t) => {
  const { link, reported, fars, far, timers } = prepare();
  link.start();
  far().write(hello());
  await microtasks();
  const delays: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    far().close(new MutiraoError('MUT_UNREACHABLE', 'gone'));
    await microtasks();
    delays.push(timers.ring());
  }
  t.deepEqual(delays, [100, 200, 350, 350]);
  t.deepEqual(reported, [
    'connected',
    'disconnected: gone',
    'unreachable: gone',
    'unreachable: gone',
    'unreachable: gone',
  ]);
  far().write(hello());
  await microtasks();
  t.is(link.epoch, 2);
  far().close();
  await microtasks();
  t.is(timers.ring(), 100);
  t.is(fars.length, 6);
});

test('nonsense costs the stream and nothing else', async (t) => {
  const nonsense: readonly (readonly [ConnectResponse, RegExp])[] = [
    [{ message: { $case: 'settled', value: {} } }, /began with settled; expected hello/],
    [{ message: undefined }, /does not know/],
    [hello(2), /protocol version is 2; expected 1/],
  ];
  for (const [message, reason] of nonsense) {
    const { link, reported, far, timers } = prepare();
    link.start();
    far().write(message);
    await microtasks();
    t.regex(reported.join(), reason);
    t.is(timers.waiting.length, 1, 'it will try again');
  }
});

test('a provider that says nothing is given up after a while', async (t) => {
  const { link, reported, timers } = prepare();
  link.start();
  t.is(timers.ring(), 10_000);
  await microtasks();
  t.regex(reported.join(), /unreachable: no hello/);
});

test('after stop nothing is opened any more', async (t) => {
  const { link, far, fars, timers } = prepare();
  link.start();
  far().write(hello());
  await microtasks();
  link.stop();
  await microtasks();
  t.is(timers.waiting.length, 0);
  t.is(fars.length, 1);
});

test('waits are shortened by chance, by a half at most', (t) => {
  const backoff = new Backoff({ first: 100, longest: 1000, random: () => 0.999 });
  t.deepEqual([backoff.next(), backoff.next()], [51, 101]);
});
