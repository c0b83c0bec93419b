import test from 'ava';
import fc from 'fast-check';
import {
  commandFromWords,
  escapeTemplate,
  keepInside,
  parseCommand,
  parseTemplate,
  renderCommand,
  renderPath,
} from '@mutirao/core/bag';
import { runs } from '@mutirao/testkit';

const anyText = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom('{', '}', '#', '{}', '{#}', "'", '"', '\\', ' ', 'a', '$', ';', '\n'), { maxLength: 20 })
    .map((parts) => parts.join('')),
);

/** Reads words as a POSIX shell does, as far as single quotes and backslashes go; all that `quoteForShell` writes. */
function shellWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const letter = line.charAt(at);
    if (letter === ' ') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (letter === "'") {
      const end = line.indexOf("'", at + 1);
      word = (word ?? '') + line.slice(at + 1, end);
      at = end;
    } else if (letter === '\\') {
      word = (word ?? '') + line.charAt(++at);
    } else {
      word = (word ?? '') + letter;
    }
  }
  return word === undefined ? words : [...words, word];
}

test('an escaped text renders to itself, whatever the value', (t) => {
  fc.assert(
    fc.property(anyText, anyText, (text, value) => renderPath(parseTemplate(escapeTemplate(text)), value, 1) === text),
    runs(21, 3000),
  );
  t.pass();
});

test('the shell reads back the words after --, with the value put in each', (t) => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), anyText, fc.nat(99), (words, value, index) => {
      const line = renderCommand(parseCommand(commandFromWords(words)), value, index);
      t.deepEqual(
        shellWords(line),
        words.map((word) => renderPath(parseTemplate(word), value, index)),
      );
    }),
    runs(22, 2000),
  );
});

test('a path that is kept inside has no way out', (t) => {
  const anyPath = fc
    .array(fc.constantFrom('..', '.', '', 'a', 'b', '...'), { maxLength: 8 })
    .map((names) => names.join('/'));
  fc.assert(
    fc.property(anyPath, (path) => {
      const kept = keepInside(path);
      return (
        kept === undefined ||
        kept === '.' ||
        kept.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
      );
    }),
    runs(23, 2000),
  );
  t.pass();
});
