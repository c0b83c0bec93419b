import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';

import { temporaryFolder } from '@mutirao/testkit';

import { PipeStock, type ReadPipe } from '../../../src/processes/pipe-stock.ts';
import { openStreams, TaskStream } from '../../../src/processes/task-stream.ts';

test('a stream is read as it is written to, also where somebody has removed the names of its pipes', async (t) => {
  const stock = new PipeStock(temporaryFolder(t), 1);
  stock.keepNames();
  const stream = new TaskStream(stock);
  stream.begin(1000);
  const writer = openSync(stream.word, constants.O_WRONLY | constants.O_NONBLOCK);
  rmSync(stream.word);
  writeSync(writer, 'before ');
  t.true(stream.follow());
  writeSync(writer, 'after');
  for (let turn = 0; turn < 1000 && stream.writtenBytes < 12; turn++) await setImmediate();
  t.is(stream.writtenBytes, 12);
  closeSync(writer);
  t.true(stream.drain());
  t.is(Buffer.from(stream.bytes()).toString(), 'before after');
  stream.close();
});

test('where the second stream of a task cannot be opened the first is closed again', (t) => {
  const taken: ReadPipe[] = [{ file: 7, path: '/pipe' }];
  const released: ReadPipe[] = [];
  const take = (): ReadPipe => {
    const pipe = taken.pop();
    if (pipe === undefined) throw new Error('too many open files');
    return pipe;
  };
  t.throws(
    () =>
      openStreams({
        take,
        release: (pipe) => {
          released.push(pipe);
        },
      }),
    { message: 'too many open files' },
  );
  t.deepEqual(released, [{ file: 7, path: '/pipe' }]);
});
