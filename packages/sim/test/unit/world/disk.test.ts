import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { DiskFullError, SimulatedDisk } from '../../../src/world/disk.ts';

interface Numbered {
  readonly n: number;
}

const rng = (name: string): Prng => new Prng(`disk ${name}`);

function replayed(disk: SimulatedDisk<Numbered>): number[] {
  const seen: number[] = [];
  disk.replay(({ n }) => {
    seen.push(n);
  });
  return seen;
}

test('a process that falls leaves all that it wrote', (t) => {
  const disk = new SimulatedDisk<Numbered>();
  disk.write([{ n: 1 }, { n: 2 }], false);
  disk.write([{ n: 3 }], false);
  t.deepEqual(replayed(disk), [1, 2, 3]);
  t.false(disk.hasFallen);
});

test('a host that falls leaves what was synced, and of the rest what chance leaves, from the front and whole transactions', (t) => {
  const kept = new Set<string>();
  for (let run = 0; run < 200; run += 1) {
    const disk = new SimulatedDisk<Numbered>();
    disk.write([{ n: 1 }], false);
    disk.write([{ n: 2 }], true);
    disk.write([{ n: 3 }, { n: 4 }], false);
    disk.write([{ n: 5 }], false);
    disk.loseUnsynced(rng(String(run)));
    kept.add(replayed(disk).join(' '));
  }
  t.deepEqual([...kept].sort(), ['1 2', '1 2 3 4', '1 2 3 4 5']);
});

test('what survived a fall survives the next one', (t) => {
  const disk = new SimulatedDisk<Numbered>();
  for (let n = 0; n < 50; n += 1) disk.write([{ n }], false);
  disk.loseUnsynced(rng('first'));
  const survived = replayed(disk);
  for (let again = 0; again < 20; again += 1) disk.loseUnsynced(rng(String(again)));
  t.deepEqual(replayed(disk), survived);
});

test('a fall is known until it is handled', (t) => {
  const disk = new SimulatedDisk<Numbered>();
  disk.loseUnsynced(rng('fall'));
  t.true(disk.hasFallen);
  disk.forgetFall();
  t.false(disk.hasFallen);
});

test('only what came after the latest snapshot is replayed, and all changes can be visited', (t) => {
  const disk = new SimulatedDisk<Numbered>();
  t.is(disk.latestSnapshot(), undefined);
  disk.write([{ n: 1 }], true);
  disk.writeSnapshot('one');
  disk.write([{ n: 2 }], true);
  disk.writeSnapshot('two');
  disk.write([{ n: 3 }], true);
  t.is(disk.latestSnapshot(), 'two');
  t.deepEqual(replayed(disk), [3]);
  const all: number[] = [];
  disk.visitAll(({ n }) => {
    all.push(n);
  });
  t.deepEqual(all, [1, 2, 3]);
});

test('a snapshot that was not synced may be lost, and what it held is then replayed', (t) => {
  const found = new Set<string>();
  for (let run = 0; run < 50; run += 1) {
    const disk = new SimulatedDisk<Numbered>();
    disk.write([{ n: 1 }], true);
    disk.writeSnapshot('one');
    disk.loseUnsynced(rng(String(run)));
    found.add(`${disk.latestSnapshot() ?? 'none'}: ${replayed(disk).join(' ')}`);
  }
  t.deepEqual([...found].sort(), ['none: 1', 'one: ']);
});

test('a full disk takes nothing, keeps what it has, and takes more when there is room', (t) => {
  const disk = new SimulatedDisk<Numbered>();
  disk.write([{ n: 1 }], true);
  disk.isFull = true;
  t.throws(
    () => {
      disk.write([{ n: 2 }], true);
    },
    { instanceOf: DiskFullError },
  );
  t.throws(
    () => {
      disk.writeSnapshot('two');
    },
    { instanceOf: DiskFullError },
  );
  disk.isFull = false;
  disk.write([{ n: 3 }], true);
  t.deepEqual(replayed(disk), [1, 3]);
});

test('what is written is a copy, and bytes are left out of it', (t) => {
  const disk = new SimulatedDisk<{ list: number[]; output: Uint8Array }>();
  const change = { list: [1], output: new Uint8Array(9) };
  disk.write([change], true);
  change.list.push(2);
  disk.replay(({ list, output }) => {
    t.deepEqual([list, output.length], [[1], 0]);
  });
});
