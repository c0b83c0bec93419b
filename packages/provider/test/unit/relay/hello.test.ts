import test from 'ava';
import { onlyUserOf } from '../../../src/relay/hello.ts';

test('whose tasks a machine runs that takes those of its owner only is for its provider to say', (t) => {
  t.deepEqual(
    [undefined, '', 'eva'].map((onlyUser) => onlyUserOf(onlyUser === undefined ? {} : { onlyUser }, 'ana')),
    [{}, { onlyUser: 'ana' }, { onlyUser: 'ana' }],
  );
});
