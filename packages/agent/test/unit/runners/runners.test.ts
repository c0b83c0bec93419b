import {
  existsSync,
  openSync,
  closeSync,
  constants,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import { temporaryFolder, until } from '@mutirao/testkit';
import type { ContentCache } from '../../../src/content-cache.ts';
import { Playpens } from '../../../src/playpens.ts';
import { Runners, type RunnerPlace } from '../../../src/runners/runners.ts';

/** A field, or a frame, with its length before it. */
function sized(body: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  return Buffer.concat([size, body]);
}

/** A frame of a runner: its kind and its fields. */
function frame(kind: string, ...fields: readonly string[]): Buffer {
  return sized(Buffer.concat([Buffer.from(kind), ...fields.map((field) => sized(Buffer.from(field)))]));
}

/** A process that was started for a runner, as the test plays it. */
class FakeProcess {
  readonly place: RunnerPlace;
  readonly #calls: number;
  readonly #answers: number;

  constructor(place: RunnerPlace) {
    this.place = place;
    const [calls = '', answers = ''] = [...place.redirections.matchAll(/[<>]('[^']*'|\S+)/g)].map(([, word = '']) =>
      word.replaceAll("'", ''),
    );
    this.#calls = openSync(calls, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#answers = openSync(answers, constants.O_WRONLY);
    writeSync(this.#answers, frame('R', '1', 'fake'));
  }

  /** What was sent and not read yet; undefined for nothing. */
  read(): string | undefined {
    const bytes = Buffer.alloc(4096);
    try {
      return bytes.toString('utf8', 0, readSync(this.#calls, bytes)) || undefined;
    } catch {
      return undefined;
    }
  }

  begin(number: number): void {
    writeSync(this.#answers, frame('B', String(number)));
  }

  answer(number: number): void {
    this.begin(number);
    this.send(frame('E', String(number), '0', ''));
  }

  send(bytes: Buffer): void {
    writeSync(this.#answers, bytes);
  }

  close(): void {
    closeSync(this.#calls);
    closeSync(this.#answers);
  }
}

class Rig {
  readonly runners: Runners;
  readonly processes: FakeProcess[] = [];
  readonly killed: number[] = [];
  readonly idleEnds: number[] = [];
  readonly left: number[] = [];
  #callEnded = Promise.withResolvers<number>();

  constructor(t: ExecutionContext) {
    const folder = temporaryFolder(t);
    const playpens = new Playpens({ folder: path.join(folder, 'playpens'), onLeft: t.fail });
    this.runners = new Runners({
      folder: path.join(folder, 'runners'),
      playpens,
      variablesOf: () => ({}),
      start: (_replica, place) => {
        this.processes.push(new FakeProcess(place));
      },
      beginOutput: () => undefined,
      endOutput: () => ({
        standardOutput: new Uint8Array(),
        standardError: new Uint8Array(),
        writtenBytes: 0,
        isCut: false,
      }),
      kill: (slot) => {
        this.killed.push(slot);
      },
      onCallEnded: (slot) => {
        this.#callEnded.resolve(slot);
      },
      onIdleEnded: (slot) => {
        this.idleEnds.push(slot);
      },
      onLeft: (slot) => {
        this.left.push(slot);
      },
    });
    t.teardown(() => {
      this.runners.close();
      for (const process of this.processes) process.close();
    });
  }

  /** The process that was started last. */
  get process(): FakeProcess {
    const process = this.processes.at(-1);
    if (process === undefined) throw new Error('no process was started');
    return process;
  }

  /** Has a call run on a runner, which is idle afterwards. */
  async run(replica: HeldReplica, number = 1): Promise<void> {
    this.#callEnded = Promise.withResolvers();
    this.runners.launch(replica);
    this.process.answer(number);
    await this.#callEnded.promise;
    this.runners.release(replica.slots[0] ?? -1);
  }
}

const memory = { memory: 60, devices: [], named: {} };

/** What runners read of a replica. */
function replicaOn(
  slots: readonly number[],
  { assignment, inputs = [] }: { readonly assignment?: typeof memory; readonly inputs?: readonly string[] } = {},
): HeldReplica {
  return {
    slots,
    assignment,
    start: {
      replicaId: 1,
      value: 'a value',
      inputs: inputs.map((name) => ({
        root: 'playpen',
        path: name,
        content: { sha256: name, size: 1 },
        mode: 0o644,
      })),
    },
  } as unknown as HeldReplica;
}

async function isPending(promise: Promise<unknown> | undefined): Promise<boolean> {
  const turn = new Promise((resolve) => setImmediate(resolve, 'pending'));
  return promise !== undefined && (await Promise.race([promise, turn])) === 'pending';
}

test('a task waits for the end of each runner that held one of its processors', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0, 1]));
  await rig.run(replicaOn([2]));
  t.is(rig.runners.whenFree(replicaOn([1])), undefined, 'idle runners hold up nobody until they are ended');
  rig.runners.end(0);
  rig.runners.end(2);
  t.is(rig.runners.whenFree(replicaOn([3])), undefined);
  const first = rig.runners.whenFree(replicaOn([1]));
  const both = rig.runners.whenFree(replicaOn([1, 2]));
  t.true(await isPending(first));
  rig.runners.finish(0);
  t.false(await isPending(first));
  t.true(await isPending(both));
  rig.runners.finish(2);
  t.false(await isPending(both));
  t.is(rig.runners.whenFree(replicaOn([1, 2])), undefined);
  t.deepEqual(rig.idleEnds, [], 'ends that were asked for are not reported');
});

test('a task with memory or GPUs waits for runners that held some, on whatever processor', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0], { assignment: memory }));
  await rig.run(replicaOn([1]));
  rig.runners.end(0);
  rig.runners.end(1);
  t.is(rig.runners.whenFree(replicaOn([2])), undefined);
  const free = rig.runners.whenFree(replicaOn([2], { assignment: memory }));
  t.true(await isPending(free));
  rig.runners.finish(0);
  t.false(await isPending(free));
});

/** Contents that are their own names, each brought when the test lets it. */
function cacheOf(wait: Promise<unknown> = Promise.resolve()): ContentCache {
  return {
    copyTo: async ({ sha256 }: { sha256: string }, target: string) => {
      await wait;
      writeFileSync(target, sha256);
    },
  } as unknown as ContentCache;
}

test('a runner that ends while its next call is staged is replaced by another with the same files', async (t) => {
  const rig = new Rig(t);
  const first = replicaOn([0], { inputs: ['one'] });
  await rig.runners.stage(first, '', cacheOf());
  await rig.run(first);
  const arrival = Promise.withResolvers<undefined>();
  const next = replicaOn([0], { inputs: ['one', 'two'] });
  const staged = rig.runners.stage(next, '', cacheOf(arrival.promise));
  t.deepEqual(rig.runners.finish(0), { fault: '' });
  arrival.resolve(undefined);
  const { playpen } = await staged;
  rig.runners.launch(next);
  t.is(rig.processes.length, 2);
  t.is(rig.process.place.folder, playpen);
  t.deepEqual(readdirSync(playpen).sort(), ['one', 'two']);
  t.is(readFileSync(path.join(playpen, 'one'), 'utf8'), 'one');
  t.regex(rig.process.read() ?? '', /a value/);
});

test('a runner that ends while its next call is staged is gone once that call is cancelled', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0]));
  await rig.runners.stage(replicaOn([0], { inputs: ['one'] }), '', cacheOf());
  rig.runners.finish(0);
  t.true(rig.runners.release(0));
  t.deepEqual(rig.left, [0]);
  t.is(rig.runners.folderOf(0), undefined);
});

test('a cancelled call whose files were staged leaves the runner to the next one', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0]));
  await rig.runners.stage(replicaOn([0], { inputs: ['one'] }), '', cacheOf());
  rig.runners.release(0);
  await rig.run(replicaOn([0]), 3);
  t.is(rig.processes.length, 1);
  await rig.runners.stage(replicaOn([0], { inputs: ['one'] }), '', cacheOf());
  rig.runners.release(0);
  rig.runners.finish(0);
  t.deepEqual(rig.idleEnds, [0]);
  t.deepEqual(rig.left, [0]);
});

test('a runner that ends with its call keeps the files of that until they were read', async (t) => {
  const rig = new Rig(t);
  const replica = replicaOn([0]);
  rig.runners.launch(replica);
  const { folder } = rig.process.place;
  t.deepEqual(rig.runners.finish(0), { replica, fault: '' });
  t.true(existsSync(folder));
  t.true(rig.runners.release(0));
  t.deepEqual(rig.left, [0]);
  await rig.run(replicaOn([0]));
  t.is(rig.processes.length, 2);
});

test('an idle runner may hold the memory that was set aside for its tasks, or 2 GiB', async (t) => {
  const rig = new Rig(t);
  t.false(rig.runners.areIdle);
  await rig.run(replicaOn([0], { assignment: memory }));
  await rig.run(replicaOn([1]));
  t.true(rig.runners.areIdle);
  t.is(rig.runners.idleMemoryMaxOf(0), 60);
  t.is(rig.runners.idleMemoryMaxOf(1), 2 ** 31);
  t.is(rig.runners.idleMemoryMaxOf(2), undefined);
  rig.runners.launch(replicaOn([0], { assignment: memory }));
  await rig.runners.stage(replicaOn([1], { inputs: ['one'] }), '', cacheOf());
  t.is(rig.runners.idleMemoryMaxOf(0), undefined, 'one with a call has the limit of that');
  t.is(rig.runners.idleMemoryMaxOf(1), undefined, 'one whose next call is staged is needed');
  rig.runners.evict(0);
  rig.runners.evict(1);
  t.deepEqual(rig.idleEnds, []);
});

test('an idle runner that is evicted is reported once, and the next task waits for its end', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0]));
  rig.runners.evict(0);
  rig.runners.evict(0);
  t.deepEqual(rig.idleEnds, [0]);
  const free = rig.runners.whenFree(replicaOn([0]));
  t.true(await isPending(free));
  rig.runners.finish(0);
  t.false(await isPending(free));
  t.deepEqual(rig.idleEnds, [0]);
  await rig.run(replicaOn([0]));
  t.is(rig.processes.length, 2);
});

test('a call that an idle runner left unread when it ended goes to another process, in the same folder', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0]));
  const replica = replicaOn([0]);
  rig.runners.launch(replica);
  t.deepEqual(rig.runners.finish(0), { fault: '' });
  t.is(rig.processes.length, 2);
  t.regex(rig.process.read() ?? '', /a value/);
  t.deepEqual(rig.left, []);
  t.deepEqual(rig.runners.finish(0), { replica, fault: '' }, 'one that has served none is not tried a second time');
});

test('a call that was begun is not begun again, also where its frame came with the end of the process', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0]));
  const replica = replicaOn([0]);
  rig.runners.launch(replica);
  rig.process.begin(2);
  t.deepEqual(rig.runners.finish(0), { replica, fault: '' });
  t.is(rig.processes.length, 1);
});

test('an answer that comes with the end of the process counts', async (t) => {
  const rig = new Rig(t);
  rig.runners.launch(replicaOn([0]));
  rig.process.answer(1);
  t.deepEqual(rig.runners.finish(0), { fault: '' });
  t.deepEqual(rig.idleEnds, [0]);
});

test('a call that was signalled is not begun again, and an answer to it does not count', async (t) => {
  const rig = new Rig(t);
  await rig.run(replicaOn([0]));
  const replica = replicaOn([0]);
  rig.runners.launch(replica);
  rig.runners.doom(0);
  t.deepEqual(rig.runners.finish(0), { replica, fault: '' });
  const answered = new Rig(t);
  answered.runners.launch(replica);
  answered.runners.doom(0);
  answered.process.answer(1);
  t.deepEqual(answered.runners.finish(0), { replica, fault: '' });
});

test('a runner that breaks the protocol is killed once, and its call fails with the reason', async (t) => {
  for (const [sent, fault] of [
    [frame('R', '2', 'fake'), 'the runner sent frames of version 2; expected 1'],
    [frame('E', '7', '0', ''), 'the runner sent the end of call 7, which it does not run'],
  ] as const) {
    const rig = new Rig(t);
    const replica = replicaOn([0]);
    rig.runners.launch(replica);
    rig.process.send(Buffer.concat([sent, sent]));
    await until(() => rig.killed.length > 0, 'the runner is killed');
    t.deepEqual(rig.killed, [0]);
    t.deepEqual(rig.runners.finish(0), { replica, fault });
  }
});
