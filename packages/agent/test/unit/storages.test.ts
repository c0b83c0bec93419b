import test from 'ava';
import { getFolderName } from '../../src/storages.ts';

test('each user has a storage of its own, whatever the name', (t) => {
  const long = 'é'.repeat(100);
  const names = ['ana', 'eva/ana', 'eva%2Fana', '..', '.', '', '%', `${long}1`, `${long}2`, '\ud800', 'A', 'a'];
  const folders = names.map(getFolderName);
  t.is(new Set(folders).size, names.length);
  for (const folder of folders) t.true(folder !== '' && folder.length <= 200 && !/[/.\0]/.test(folder), folder);
  t.is(getFolderName('ana'), 'ana');
});
