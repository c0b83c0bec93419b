import test from 'ava';

import { findOpenQuote } from '../../src/server/bag-spec.ts';

test('a quote that is not closed is found, as a shell reads the line', (t) => {
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["echo it's {}", "'"],
    ['echo "{}', '"'],
    ['echo `date', '`'],
    ["echo 'a\\'", undefined],
    ["echo 'it'\\''s'", undefined],
    ['echo "it\'s" {}', undefined],
    ['echo "a \\" b"', undefined],
    ["echo it\\'s", undefined],
    ["true # it's a comment", undefined],
    ["true # it's\necho 'x", "'"],
    ['echo a#b"', '"'],
    ["cat <<END\nit's\nEND", undefined],
    ['', undefined],
  ];
  for (const [line, quote] of lines) t.is(findOpenQuote(line), quote, line);
});
