import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { TransferExchange, type Giver, type Party, type Taker } from '../../../src/transfers/transfer-exchange.ts';

/** Timers that fire when the test says so. */
class HandTimers {
  readonly running = new Set<() => void>();

  start(_delay: number, run: () => void): unknown {
    this.running.add(run);
    return run;
  }

  cancel(timer: unknown): void {
    this.running.delete(timer as () => void);
  }

  fire(): void {
    for (const run of [...this.running]) run();
  }
}

/** A taking side with space for a number of chunks. */
class Sink implements StreamWriter<Buffer> {
  onDrain: (() => void) | undefined;
  readonly taken: Buffer[] = [];
  room = Number.POSITIVE_INFINITY;
  #wake: (() => void) | undefined;

  write(chunk: Buffer): boolean {
    this.taken.push(chunk);
    return this.taken.length < this.room;
  }

  end(): void {}

  async drained(): Promise<void> {
    while (this.taken.length >= this.room)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  widen(room: number): void {
    this.room = room;
    this.#wake?.();
  }
}

function giver(chunks: AsyncIterable<Buffer>, parts: Partial<Giver> = {}): Giver {
  return {
    chunks,
    signal: new AbortController().signal,
    requestId: '',
    party: { kind: 'user', userId: 'ana' },
    admits: () => true,
    ...parts,
  };
}

function taker(writer: Sink, parts: Partial<Taker> = {}): Taker {
  return {
    writer,
    signal: new AbortController().signal,
    requestId: '',
    party: { kind: 'machine', machineId: 'p/m' },
    admits: () => true,
    ...parts,
  };
}

async function* numbered(count: number, onRead: (index: number) => void = () => undefined): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index += 1) {
    onRead(index);
    await Promise.resolve();
    yield Buffer.from([index]);
  }
}

function anExchange(timers = new HandTimers()): TransferExchange {
  return new TransferExchange({ timers, waitMax: 60_000, transfersMax: 2, passing: { note: () => undefined } });
}

const failure = { instanceOf: MutiraoError, code: 'MUT_TRANSFER_FAILED' } as const;

test('bytes pass whichever side comes first', async (t) => {
  for (const isGiverFirst of [true, false]) {
    const exchange = anExchange();
    const sink = new Sink();
    const give = (): Promise<void> => exchange.give('t1', giver(numbered(3)));
    const take = (): Promise<void> => exchange.take('t1', taker(sink));
    const [first, second] = isGiverFirst ? [give, take] : [take, give];
    await Promise.all([first(), second()]);
    t.deepEqual(
      sink.taken.map((chunk) => chunk[0]),
      [0, 1, 2],
    );
    t.is(exchange.openCount, 0);
    t.is(exchange.byteCount, 3);
  }
});

test('the giver learns what its taker has already before anything is read', async (t) => {
  const exchange = anExchange();
  const received: string[] = [];
  const chunks = numbered(1, (index) => {
    received.push(`read ${index}`);
  });
  await Promise.all([
    exchange.take('t1', taker(new Sink(), { offset: 7 })),
    exchange.give(
      't1',
      giver(chunks, {
        onTaken: (offset) => {
          received.push(`from ${offset}`);
        },
      }),
    ),
  ]);
  t.deepEqual(received, ['from 7', 'read 0']);
});

test('no chunk is read before the taker has room', async (t) => {
  const exchange = anExchange();
  const sink = new Sink();
  sink.room = 2;
  const read: number[] = [];
  const done = Promise.all([
    exchange.take('t1', taker(sink)),
    exchange.give(
      't1',
      giver(
        numbered(5, (index) => {
          read.push(index);
        }),
      ),
    ),
  ]);
  for (let index = 0; index < 10; index += 1) await turn();
  t.deepEqual(read, [0, 1]);
  sink.widen(Number.POSITIVE_INFINITY);
  await done;
  t.is(sink.taken.length, 5);
});

test('a half that waits in vain is notified, on either side', async (t) => {
  for (const role of ['give', 'take'] as const) {
    const timers = new HandTimers();
    const exchange = anExchange(timers);
    const waiting = role === 'give' ? exchange.give('t1', giver(numbered(1))) : exchange.take('t1', taker(new Sink()));
    timers.fire();
    await t.throwsAsync(waiting, { ...failure, message: /did not come within 60000 ms/ });
    t.is(exchange.openCount, 0);
  }
});

test('when one side is gone the other is notified', async (t) => {
  const exchange = anExchange();
  const left = new AbortController();
  const sink = new Sink();
  sink.room = 1;
  const giving = exchange.give('t1', giver(numbered(5)));
  const taking = exchange.take('t1', taker(sink, { signal: left.signal }));
  await turn();
  left.abort();
  await t.throwsAsync(giving, { ...failure, message: /its taker is gone/ });
  await t.throwsAsync(taking, failure);
});

test('a giver that breaks off fails both sides', async (t) => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from([1]);
    await Promise.resolve();
    throw new Error('disk on fire');
  }
  const exchange = anExchange();
  const results = await Promise.allSettled([
    exchange.give('t1', giver(broken())),
    exchange.take('t1', taker(new Sink())),
  ]);
  t.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.regex(String((results[1] as PromiseRejectedResult).reason), /disk on fire/);
});

test('a late cancellation does not touch a new transfer of the same name', async (t) => {
  const exchange = anExchange();
  const left = new AbortController();
  await Promise.all([
    exchange.give('t1', giver(numbered(1), { signal: left.signal })),
    exchange.take('t1', taker(new Sink())),
  ]);
  const again = exchange.give('t1', giver(numbered(1)));
  left.abort();
  await Promise.all([again, exchange.take('t1', taker(new Sink()))]);
  t.pass();
});

test('a second giver or taker is refused and the first goes on', async (t) => {
  const exchange = anExchange();
  const first = exchange.take('t1', taker(new Sink()));
  await t.throwsAsync(exchange.take('t1', taker(new Sink())), { ...failure, message: /has a taker already/ });
  await Promise.all([first, exchange.give('t1', giver(numbered(1)))]);
});

test('transfers of a request that is over fail, others go on', async (t) => {
  const exchange = anExchange();
  const over = exchange.take('t1', taker(new Sink(), { requestId: 'q1' }));
  const other = exchange.take('t2', taker(new Sink(), { requestId: 'q2' }));
  exchange.failRequest('q1', new MutiraoError('MUT_ALLOCATION_ENDED', 'request q1 is over'));
  await t.throwsAsync(over, { code: 'MUT_ALLOCATION_ENDED' });
  await Promise.all([other, exchange.give('t2', giver(numbered(1)))]);
});

test('the number of open transfers is limited', async (t) => {
  const exchange = anExchange();
  const open = ['t1', 't2'].map((name) => exchange.take(name, taker(new Sink())));
  await t.throwsAsync(exchange.take('t3', taker(new Sink())), { code: 'MUT_OVERLOADED' });
  await Promise.all([...open, exchange.give('t1', giver(numbered(0))), exchange.give('t2', giver(numbered(0)))]);
});

test('the giver of a transfer that nobody takes is notified at once, whether it is connected or comes later, and one that has a taker goes on', async (t) => {
  const timers = new HandTimers();
  const exchange = new TransferExchange({ timers, waitMax: 100, transfersMax: 10, passing: { note: () => undefined } });
  const waiting = exchange.give('t1', giver(numbered(1)));
  exchange.decline('t1');
  await t.throwsAsync(waiting, { code: 'MUT_TRANSFER_FAILED', message: /nobody takes it/ });
  exchange.decline('t2');
  await t.throwsAsync(exchange.give('t2', giver(numbered(1))), {
    code: 'MUT_TRANSFER_FAILED',
    message: /nobody takes it/,
  });
  const sink = new Sink();
  const taking = exchange.take('t3', taker(sink));
  exchange.decline('t3');
  await Promise.all([taking, exchange.give('t3', giver(numbered(2)))]);
  t.is(sink.taken.length, 2);
  t.is(exchange.openCount, 0);
  t.is(timers.running.size, 0);
});

test('a taker that went away before its giver came is not waited for', async (t) => {
  const exchange = new TransferExchange({
    timers: new HandTimers(),
    waitMax: 100,
    transfersMax: 10,
    passing: { note: () => undefined },
  });
  const gone = new AbortController();
  const taking = exchange.take('t1', taker(new Sink(), { signal: gone.signal }));
  gone.abort();
  await t.throwsAsync(taking, { code: 'MUT_TRANSFER_FAILED' });
  await t.throwsAsync(exchange.give('t1', giver(numbered(1))), {
    code: 'MUT_TRANSFER_FAILED',
    message: /nobody takes it/,
  });
});

test('a transfer joins only parties that both halves admit; for anybody else it does not exist', async (t) => {
  const unknown = { code: 'MUT_CONTENT_NOT_FOUND', message: 'transfer t1: nobody brings it, or not any more' };
  const fromAna = (other: Party): boolean => other.kind === 'user' && other.userId === 'ana';
  const exchange = anExchange();
  const giving = exchange.give('t1', giver(numbered(1), { admits: ({ kind }) => kind === 'machine' }));
  await t.throwsAsync(exchange.take('t1', taker(new Sink(), { party: { kind: 'user', userId: 'eva' } })), unknown);
  await t.throwsAsync(
    exchange.take('t1', taker(new Sink(), { admits: (other) => other.kind === 'user' && other.userId === 'eva' })),
    unknown,
  );
  await Promise.all([giving, exchange.take('t1', taker(new Sink(), { admits: fromAna }))]);
  const taking = exchange.take('t1', taker(new Sink(), { admits: fromAna }));
  await t.throwsAsync(exchange.give('t1', giver(numbered(1), { party: { kind: 'user', userId: 'eva' } })), unknown);
  await Promise.all([taking, exchange.give('t1', giver(numbered(1)))]);
});
