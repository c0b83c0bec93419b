// Words for a command on another host reach it as they are, whatever they hold and whatever the login shell there is.
import fc from 'fast-check';
import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { remoteCommand } from '@mutirao/runtime/ssh';

/** What a shell gives the command, word by word. */
async function received(words: readonly string[]): Promise<string[]> {
  const line = remoteCommand(['printf', '%s\\0', ...words]);
  const { stdout, status } = await runCommand({ command: '/bin/sh', args: ['-c', line], deadlineMs: 20_000 });
  if (status !== 0) throw new Error(`status ${status}`);
  return stdout.toString().split('\0').slice(0, -1);
}

const nasty = fc.string({
  unit: fc.constantFrom(...'ab \t\n\r\'"\\!$`*?[]{}()<>|&;#~=%^-', 'é', '日', '😀', '\u0001', '\u007f', '\\0', '%s'),
});
const word = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), nasty).filter((text) => !text.includes('\0'));

test('any words come through a shell as they were', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 60 }), async (words) => {
      t.deepEqual(
        await received(words),
        words.map((text) => Buffer.from(text).toString()),
      );
    }),
    { seed: 20_250_101, numRuns: 60 },
  );
});

test('a line end at the end of the last word stays', async (t) => {
  t.deepEqual(await received(['a', 'b\n\n']), ['a', 'b\n\n']);
});

test('plain words are sent plain, and what is quoted holds nothing on which login shells differ', (t) => {
  t.is(remoteCommand(['ls', '-l', '/home/ana']), 'ls -l /home/ana');
  t.is(remoteCommand(['echo', 'a b', '']), "echo 'a b' ''");
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      // Between single quotes fish reads a backslash before a quote or another backslash, csh an exclamation mark and a
      // line end.
      t.notRegex(remoteCommand(words), /\\['\\]|!|\n|[\u0080-\uffff].*printf/);
    }),
    { seed: 20_250_102 },
  );
});

test('no words, a zero byte and far too many words are refused', (t) => {
  t.throws(() => remoteCommand([]), { code: 'MUT_BAD_REQUEST' });
  t.throws(() => remoteCommand(['a\0b']), { code: 'MUT_BAD_REQUEST', message: /"a\\u0000b"/ });
  t.throws(() => remoteCommand(['x'.repeat(200_000)]), { code: 'MUT_BAD_REQUEST', message: /200000 bytes/ });
});
