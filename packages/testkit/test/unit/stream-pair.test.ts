import { MutiraoError } from '@mutirao/api/errors';
import { streamPair } from '@mutirao/testkit';
import test from 'ava';

/** Notes what is heard at one end. */
function notes(): {
  readonly received: unknown[];
  onMessage(message: unknown): void;
  onEnd(): void;
  onClosed(error: MutiraoError | undefined): void;
} {
  const received: unknown[] = [];
  return {
    received,
    onMessage: (message) => {
      received.push(message);
    },
    onEnd: () => {
      received.push('end');
    },
    onClosed: (error) => {
      received.push(error?.code ?? 'peace');
    },
  };
}

const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('the other end receives what one end writes, even before it listens', async (t) => {
  const [near, far] = streamPair<string, number>();
  const [nearNotes, farNotes] = [notes(), notes()];
  near.write(1);
  far.listen(farNotes);
  near.listen(nearNotes);
  near.write(2);
  far.write('three');
  near.end();
  near.write(4);
  await settle();
  t.deepEqual(farNotes.received, [1, 2, 'end']);
  t.deepEqual(nearNotes.received, ['three']);
  t.deepEqual(near.sent, [1, 2]);
});

test('both ends are notified of closing once, after the written data', async (t) => {
  const [near, far] = streamPair<string, number>();
  const [nearNotes, farNotes] = [notes(), notes()];
  near.listen(nearNotes);
  far.listen(farNotes);
  near.write(1);
  near.close(new MutiraoError('MUT_STOPPING', 'enough'));
  near.close();
  near.write(2);
  await settle();
  t.deepEqual(farNotes.received, [1, 'MUT_STOPPING']);
  t.deepEqual(nearNotes.received, ['MUT_STOPPING']);
});

test('a listener that refuses a message closes the stream with its error', async (t) => {
  const [near, far] = streamPair<string, number>();
  const nearNotes = notes();
  near.listen(nearNotes);
  far.listen({
    onMessage: () => {
      throw new MutiraoError('MUT_BAD_REQUEST', 'no');
    },
    onClosed: () => undefined,
  });
  near.write(1);
  await settle();
  t.deepEqual(nearNotes.received, ['MUT_BAD_REQUEST']);
});

test('a paused end receives nothing until it resumes', async (t) => {
  const [near, far] = streamPair<string, number>();
  const farNotes = notes();
  far.listen(farNotes);
  far.pause();
  near.write(1);
  await settle();
  t.deepEqual(farNotes.received, []);
  far.resume();
  await settle();
  t.deepEqual(farNotes.received, [1]);
});

test('an end that is behind says so until it is drained', (t) => {
  const [near] = streamPair<string, number>();
  let drainCount = 0;
  near.onDrain = () => {
    drainCount += 1;
  };
  t.true(near.write(1));
  near.isBehind = true;
  t.false(near.write(2));
  near.drain();
  t.is(drainCount, 1);
  t.true(near.write(3));
});
