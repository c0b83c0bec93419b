import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { Host, Life } from '../../../src/world/host.ts';
import { Kernel } from '../../../src/world/kernel.ts';
import { Network, type NetworkConditions, type StreamEnd } from '../../../src/world/network.ts';

const fine: NetworkConditions = { delayMax: 10, lossProbability: 0, duplicateProbability: 0 };

/** A stream between two lives, and what each side hears. */
function setUp(conditions: Partial<NetworkConditions> = {}, seed = 'network') {
  const kernel = new Kernel(0);
  const network = new Network(kernel, new Prng(seed), { ...fine, ...conditions });
  const hosts = [new Host('client', kernel, 0), new Host('server', kernel, 0)] as const;
  const [client, server] = [new Life(hosts[0]), new Life(hosts[1])];
  const received: string[] = [];
  const atServer: { end: StreamEnd<string, string> | undefined } = { end: undefined };
  const listen = (name: string, end: StreamEnd<string, string>): void => {
    end.onMessage = (message) => {
      received.push(`${kernel.now} ${name} ${message}`);
    };
    end.onClosed = (code) => {
      received.push(`${kernel.now} ${name} closed ${code}`);
    };
  };
  const open = (isUp = true): StreamEnd<string, string> => {
    const end = network.open<string, string>(
      client,
      { host: hosts[1], findServer: () => (isUp ? server : undefined) },
      (other) => {
        atServer.end = other;
        listen('server', other);
      },
    );
    listen('client', end);
    return end;
  };
  /** Without their instants. */
  const said = (): string[] => received.map((line) => line.slice(line.indexOf(' ') + 1));
  return { kernel, network, hosts, client, server, received, said, atServer, open };
}

const numbers = Array.from({ length: 50 }, (_, index) => String(index));

test('messages of a stream come in the order in which they were sent, each after a delay of its own', (t) => {
  const { kernel, open, received, said } = setUp({ delayMax: 100 });
  const end = open();
  for (const [index, number] of numbers.entries())
    kernel.after(20 * index, () => {
      end.write(number);
    });
  kernel.runUntil(2000);
  t.deepEqual(
    said(),
    numbers.map((number) => `server ${number}`),
  );
  const delays = received.map((line, index) => Number(line.split(' ')[0]) - 20 * index);
  // The first ones wait until the connection is there.
  t.true(
    delays.every((delay) => delay >= 0 && delay <= 200),
    delays.join(' '),
  );
  t.true(new Set(delays).size > 20, delays.join(' '));
});

test('both sides of a stream receive messages', (t) => {
  const { kernel, open, said, atServer } = setUp();
  open().write('ping');
  kernel.runUntil(100);
  atServer.end?.write('pong');
  kernel.runUntil(200);
  t.deepEqual(said(), ['server ping', 'client pong']);
});

test('the code of a side that ends a stream comes after all that it wrote, and it receives nothing more itself', (t) => {
  const { kernel, open, said, atServer } = setUp({ delayMax: 100 });
  const end = open();
  kernel.runUntil(200);
  for (const number of numbers) atServer.end?.write(number);
  end.write('never read');
  atServer.end?.close('MUT_REATTACH');
  atServer.end?.write('too late');
  t.false(end.isOpen);
  kernel.runUntil(1000);
  t.deepEqual(said(), [...numbers.map((number) => `client ${number}`), 'client closed MUT_REATTACH']);
});

test('a stream that breaks loses what is on its way, and each side is notified once', (t) => {
  const { kernel, network, open, said } = setUp({ delayMax: 100 });
  const end = open();
  kernel.runUntil(200);
  end.write('lost');
  network.openStreams[0]?.break();
  end.write('never sent');
  kernel.runUntil(1000);
  t.deepEqual(said().sort(), ['client closed MUT_UNREACHABLE', 'server closed MUT_UNREACHABLE']);
  t.deepEqual(network.openStreams, []);
});

test('a stream breaks with either life, and the one that is over receives nothing', (t) => {
  for (const who of ['client', 'server'] as const) {
    const world = setUp();
    const end = world.open();
    world.kernel.runUntil(100);
    end.write('lost');
    world[who].end();
    world.kernel.runUntil(1000);
    t.deepEqual(world.said(), [`${who === 'client' ? 'server' : 'client'} closed MUT_UNREACHABLE`]);
  }
});

test('a process that is paused gets its messages when it goes on, in their order', (t) => {
  const { kernel, open, received, server } = setUp();
  const end = open();
  kernel.runUntil(100);
  server.pausedUntil = 5000;
  for (const number of numbers) end.write(number);
  kernel.runUntil(5000);
  t.deepEqual(received, []);
  kernel.runUntil(5001);
  t.deepEqual(
    received,
    numbers.map((number) => `5000 server ${number}`),
  );
});

test('a short cut delays what is said, either way', (t) => {
  const { kernel, network, hosts, open, received, atServer } = setUp();
  const end = open();
  kernel.runUntil(100);
  network.cut(hosts[1], hosts[0], 5000);
  end.write('ping');
  atServer.end?.write('pong');
  kernel.runUntil(10_000);
  t.deepEqual(received.sort(), ['5100 client pong', '5100 server ping']);
  t.true(end.isOpen);
});

test('a connection that a cut keeps silent for 15 s breaks', (t) => {
  const { kernel, network, hosts, open, said } = setUp();
  const end = open();
  kernel.runUntil(100);
  network.cut(...hosts, 16_000);
  end.write('lost');
  kernel.runUntil(15_100);
  t.true(end.isOpen);
  kernel.runUntil(30_000);
  t.deepEqual(said().sort(), ['client closed MUT_UNREACHABLE', 'server closed MUT_UNREACHABLE']);
});

test('a cut that is healed breaks nothing, and others are as before', (t) => {
  const { kernel, network, hosts, open, said } = setUp();
  const end = open();
  kernel.runUntil(100);
  network.cut(...hosts, 60_000);
  network.heal(fine);
  end.write('ping');
  kernel.runUntil(100_000);
  t.deepEqual(said(), ['server ping']);
});

test('a host that is down or cut off cannot be dialled', (t) => {
  const down = setUp();
  const end = down.open(false);
  end.write('never read');
  down.kernel.runUntil(100);
  t.deepEqual(down.said(), ['client closed MUT_UNREACHABLE']);
  t.false(end.isOpen);
  const cut = setUp();
  cut.network.cut(...cut.hosts, 1000);
  cut.open();
  cut.kernel.runUntil(100);
  t.deepEqual(cut.said(), ['client closed MUT_UNREACHABLE']);
});

test('only the server learns of a client that gives up while it dials', (t) => {
  const { kernel, open, said } = setUp();
  const end = open();
  end.write('hello');
  end.close('');
  kernel.runUntil(100);
  t.deepEqual(said(), ['server hello', 'server closed ']);
});

test('messages may come twice, one right after the other, and a greeting never does', (t) => {
  const { kernel, open, said } = setUp({ duplicateProbability: 0.5 });
  const end = open() as unknown as StreamEnd<unknown, string>;
  for (let count = 0; count < 20; count += 1) end.write({ kind: 'hello', toString: () => 'hello' });
  for (const number of numbers) end.write(number);
  kernel.runUntil(1000);
  const received = said().map((line) => line.replace('server ', ''));
  t.is(received.filter((message) => message === 'hello').length, 20);
  t.deepEqual([...new Set(received)], ['hello', ...numbers]);
  const twice = received.length - 20 - numbers.length;
  t.true(twice > 10 && twice < 40, `${twice} came twice`);
});

/** Asks the same again and again; what came to the server, and what was heard. */
function callOften(conditions: Partial<NetworkConditions>, { isUp = true, count = 400 } = {}) {
  const { kernel, network, client, server, hosts } = setUp(conditions);
  const [asked, replies]: [number[], unknown[]] = [[], []];
  for (let call = 0; call < count; call += 1) {
    const find = () =>
      isUp
        ? {
            life: server,
            handle: (answer: (reply: unknown) => void) => {
              asked.push(call);
              answer(call);
            },
          }
        : undefined;
    network.call(client, { host: hosts[1], find }, 1000, (reply) => {
      replies.push(reply);
    });
  }
  kernel.runUntil(2000);
  return { asked, replies };
}

test('a call is answered once, also where its question comes twice', (t) => {
  const { asked, replies } = callOften({ duplicateProbability: 0.3 });
  t.deepEqual(
    [...replies].sort((one, other) => Number(one) - Number(other)),
    Array.from({ length: 400 }, (_, call) => call),
  );
  t.true(asked.length > 450 && asked.length < 600, `${asked.length} questions came`);
});

test('calls pass each other', (t) => {
  const { asked } = callOften({ delayMax: 100 });
  t.notDeepEqual(
    asked,
    [...asked].sort((one, other) => one - other),
  );
});

test('a question or an answer that is lost is nothing after the deadline', (t) => {
  const { asked, replies } = callOften({ lossProbability: 0.3 });
  t.is(replies.length, 400);
  const unanswered = replies.filter((reply) => reply === undefined).length;
  t.true(asked.length > 230 && asked.length < 330, `${asked.length} questions came`);
  // Where the question came and the answer did not, the caller cannot know.
  t.true(unanswered > 400 - asked.length + 50, `${unanswered} calls came to nothing`);
});

test('a call of one that is down, or over a cut, is nothing after the deadline', (t) => {
  t.deepEqual(callOften({}, { isUp: false, count: 3 }).replies, [undefined, undefined, undefined]);
  const { kernel, network, client, server, hosts } = setUp();
  network.cut(...hosts, 500);
  const received: unknown[] = [];
  network.call(
    client,
    {
      host: hosts[1],
      find: () => ({
        life: server,
        handle: (answer) => {
          answer('pong');
        },
      }),
    },
    1000,
    (reply) => {
      received.push(reply);
    },
  );
  kernel.runUntil(2000);
  t.deepEqual(received, [undefined]);
});

test('a process that is over receives no answer', (t) => {
  const { kernel, network, client, server, hosts } = setUp();
  const received: unknown[] = [];
  network.call(
    client,
    {
      host: hosts[1],
      find: () => ({
        life: server,
        handle: (answer) => {
          answer('pong');
        },
      }),
    },
    1000,
    (reply) => {
      received.push(reply);
    },
  );
  client.end();
  kernel.runUntil(2000);
  t.deepEqual(received, []);
});
