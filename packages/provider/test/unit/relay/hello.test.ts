import test from 'ava';
import { findOnlyUser } from '../../../src/relay/hello.ts';

test('whose tasks a machine runs that takes those of its owner only is for its provider to say', (t) => {
  t.deepEqual(
    [undefined, '', 'eva'].map((onlyUser) => findOnlyUser(onlyUser === undefined ? {} : { onlyUser }, 'ana')),
    [{}, { onlyUser: 'ana' }, { onlyUser: 'ana' }],
  );
});
