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

test('a capture that holds all of a stream is not truncated', async (t) => {
  const stream = new PassThrough();
  const capture = captureStream(stream, 5);
  stream.end('abcde');
  await new Promise((resolve) => stream.once('end', resolve));
  t.is(capture.bytes().toString(), 'abcde');
  t.false(capture.isTruncated());
});
