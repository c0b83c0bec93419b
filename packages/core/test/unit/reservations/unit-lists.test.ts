import test from 'ava';
import { UnitLists } from '../../../src/reservations/index.ts';

test('lists of units come back as they were put in, however many and long they are, and beyond the last there is none', (t) => {
  const lists = new UnitLists();
  const wanted = Array.from({ length: 300 }, (_none, index) =>
    Array.from({ length: index === 150 ? 1000 : index % 5 }, (_unit, unit) => index + unit),
  );
  for (const list of wanted) lists.push(list);
  t.is(lists.count, 300);
  t.deepEqual(
    wanted.map((_list, index) => lists.listAt(index)),
    wanted,
  );
  t.deepEqual([...lists.values()], wanted.flat());
  t.deepEqual(lists.listAt(300), []);
});
