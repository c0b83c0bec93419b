import test from 'ava';
import { RemoteContents } from '../../../src/gridscript/remote-contents.ts';

const [a, b, c] = ['a', 'b', 'c'].map((sha256) => ({ sha256, size: 10 })) as [
  { sha256: string; size: number },
  { sha256: string; size: number },
  { sha256: string; size: number },
];

function aStore(bytesMax: number): { contents: RemoteContents; sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    contents: new RemoteContents(bytesMax, ({ sha256 }) => {
      sent.push(sha256);
      return Promise.resolve();
    }),
  };
}

test('a content goes there once for all who want it at a time, and again after it was forgotten', async (t) => {
  const { contents, sent } = aStore(100);
  await Promise.all([contents.hold([a, b]), contents.hold([a])]);
  await contents.hold([a]);
  t.deepEqual(sent, ['a', 'b']);
  contents.forget('a');
  await contents.hold([a]);
  t.deepEqual(sent, ['a', 'b', 'a']);
});

test('the least recently used goes first, one that is held never', async (t) => {
  const { contents } = aStore(10);
  await contents.hold([a, b, c]);
  contents.letGo([b]);
  t.deepEqual(contents.takeExcess(), ['b']);
  contents.letGo([a, c]);
  await contents.hold([a]);
  contents.letGo([a]);
  t.deepEqual(contents.takeExcess(), ['c']);
  t.deepEqual(contents.takeExcess(), []);
});

test('a content that could not be sent is sent again', async (t) => {
  let attempts = 0;
  const contents = new RemoteContents(10, () =>
    ++attempts === 1 ? Promise.reject(new Error('cut')) : Promise.resolve(),
  );
  await t.throwsAsync(contents.hold([a]), { message: 'cut' });
  await contents.hold([a]);
  t.is(attempts, 2);
});
