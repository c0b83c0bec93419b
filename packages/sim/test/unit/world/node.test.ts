import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { Host, Life } from '../../../src/world/host.ts';
import { Kernel } from '../../../src/world/kernel.ts';
import { Node, type NodeProcess } from '../../../src/world/node.ts';

function setUp(seed = 'node') {
  const kernel = new Kernel(0);
  const host = new Host('here', kernel, 0);
  const starts: { readonly at: number; readonly count: number }[] = [];
  const node = new Node({
    name: 'broker',
    host,
    kernel,
    rng: new Prng(seed),
    disk: undefined,
    create: (count): NodeProcess => {
      starts.push({ at: kernel.now, count });
      return {
        life: new Life(host),
        process: { name: 'broker', waitingCount: 0, fallAt: () => undefined, wakeForNothing: () => undefined },
      };
    },
  });
  return { kernel, node, starts };
}

test('a process that has ended is started again, within half a minute, and counts its starts', (t) => {
  const { kernel, node, starts } = setUp();
  node.start();
  for (let fall = 0; fall < 100; fall += 1) {
    const before = kernel.now;
    node.current?.life.end();
    t.is(node.current, undefined);
    while (node.current === undefined && kernel.now < before + 60_000) kernel.runUntil(kernel.now + 10);
    const down = starts.at(-1)!.at - before;
    t.true(down >= 100 && down < 30_100, `down for ${down} ms`);
  }
  t.deepEqual(
    starts.map(({ count }) => count),
    Array.from({ length: 101 }, (_, index) => index + 1),
  );
});

test('a start of a process that runs changes nothing', (t) => {
  const { kernel, node, starts } = setUp();
  node.start();
  node.start();
  const { current } = node;
  current?.life.end();
  node.start();
  kernel.runUntil(100_000);
  t.is(starts.length, 2, 'the supervisor finds it running again');
});

test('a process is not started before its machine is up', (t) => {
  const { kernel, node, starts } = setUp();
  node.start();
  node.downUntil = 500_000;
  node.current?.life.end();
  kernel.runUntil(499_999);
  t.is(starts.length, 1);
  kernel.runUntil(500_001);
  t.deepEqual(
    starts.map(({ at }) => at),
    [0, 500_000],
  );
});

test('a machine that goes down while its process is started again keeps it down', (t) => {
  const { kernel, node, starts } = setUp();
  node.start();
  node.current?.life.end();
  node.downUntil = 500_000;
  kernel.runUntil(499_999);
  t.is(starts.length, 1);
  kernel.runUntil(500_001);
  t.is(starts[1]?.at, 500_000);
});

test('what a life holds is let go of once, the oldest first, and nothing else comes after its end', (t) => {
  const life = new Life(new Host('here', new Kernel(0), 0));
  const seen: string[] = [];
  life.holds(() => {
    seen.push('first');
  });
  life.holds(() => {
    seen.push('second');
  });
  life.end();
  life.end();
  t.deepEqual([seen, life.isOver], [['first', 'second'], true]);
});

test("a clock shows what its host's shows, says by how much that was set since, and notifies its watchers", (t) => {
  const kernel = new Kernel(1000);
  const host = new Host('here', kernel, 50);
  const clock = host.openClock();
  let received = 0;
  clock.watch(new Life(host), () => {
    received += 1;
  });
  host.setSkew(-300);
  host.setSkew(-300);
  t.deepEqual([clock.now(), clock.trueInstantOf(1700), clock.stepped, received], [700, 2000, -350, 1]);
  t.deepEqual([host.openClock().now(), host.openClock().stepped], [700, 0]);
});
