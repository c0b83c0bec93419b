import { PassThrough } from 'node:stream';
import test from 'ava';
import { captureStream } from '../../../src/processes/capture.ts';

test('a capture keeps the beginning of a stream and says that there was more', async (t) => {
  const stream = new PassThrough();
  const capture = captureStream(stream, 5);
  stream.write('abc');
  stream.write('defg');
  stream.end('h');
  await new Promise((resolve) => stream.once('end', resolve));
  t.is(capture.bytes().toString(), 'abcde');
  t.true(capture.isTruncated());
});

test('words are seen once, also in pieces and beyond what is kept', async (t) => {
  for (const pieces of [
    ['abcdef'],
    ['x'.repeat(20), 'xxab', 'c', 'def'],
    ['abcd', 'efabcdef', 'abcdef'],
    ['ababcababcdef'],
    ['abcde', 'abcdef'],
  ]) {
    const stream = new PassThrough();
    const capture = captureStream(stream, 3);
    let count = 0;
    capture.onceIncludes('abcdef', () => {
      count += 1;
    });
    for (const piece of pieces) stream.write(piece);
    stream.end();
    await new Promise((resolve) => stream.once('end', resolve));
    t.is(count, 1, pieces.join('|'));
    t.is(capture.receivedBytes(), pieces.join('').length);
  }
  const stream = new PassThrough();
  captureStream(stream, 3).onceIncludes('abcdef', () => {
    t.fail();
  });
  for (const piece of ['abcde', 'bcdef', 'abcdE']) stream.write(piece);
  stream.end();
  await new Promise((resolve) => stream.once('end', resolve));
});

test('a capture that holds all of a stream is not truncated', async (t) => {
  const stream = new PassThrough();
  const capture = captureStream(stream, 5);
  stream.end('abcde');
  await new Promise((resolve) => stream.once('end', resolve));
  t.is(capture.bytes().toString(), 'abcde');
  t.false(capture.isTruncated());
});
