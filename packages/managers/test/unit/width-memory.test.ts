import test from 'ava';
import { WidthMemory } from '../../src/width-memory.ts';

const hour = 3_600_000;
const start = 1_000_000 * hour;

test('half of the least width that was refused is the most to ask for, until it is forgotten six hours after the last refusal', (t) => {
  const memory = new WidthMemory();
  t.is(memory.bound(64, start), 64);
  memory.refuse(40, start);
  t.is(memory.bound(64, start), 20);
  t.is(memory.bound(8, start), 8, 'less is promised');
  memory.refuse(50, start + hour);
  t.is(memory.bound(64, start + 7 * hour), 20);
  t.is(memory.bound(64, start + 7 * hour + 1), 64);
  memory.refuse(60, start + 8 * hour);
  t.is(memory.bound(64, start + 8 * hour), 30, 'what is forgotten bounds nothing');
});

test('a refused width of one leaves one', (t) => {
  const memory = new WidthMemory();
  memory.refuse(1, start);
  t.is(memory.bound(64, start), 1);
});

test('it says whether a width was refused since it was asked', (t) => {
  const memory = new WidthMemory();
  t.false(memory.hasChanged);
  memory.refuse(4, start);
  t.true(memory.hasChanged);
  memory.bound(64, start);
  t.false(memory.hasChanged);
});
