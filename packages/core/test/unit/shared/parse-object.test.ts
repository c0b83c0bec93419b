import test from 'ava';
import { parseObject } from '@mutirao/core/shared';

test('a JSON object is read with its fields', (t) => {
  t.deepEqual(parseObject('{"a":1,"b":[2]}'), { a: 1, b: [2] });
  t.deepEqual(parseObject(' {} '), {});
});

test('a text that is not a JSON object is none', (t) => {
  for (const text of ['', '{', '{"a":1', 'null', '3', '"a"', '[]', '[{"a":1}]', '{"a":1}\n{"a":1}'])
    t.is(parseObject(text), undefined, text);
});
