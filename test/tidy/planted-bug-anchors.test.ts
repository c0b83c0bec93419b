// Proves that an anchor of a planted bug survives what a formatter and a rename do, and nothing else.
import test from 'ava';
import { enclosingSymbol, findPlaces, plant, readSource, renameBug } from '../../scripts/planted-bugs/anchors.ts';

const oneLine = `import { a } from './a.ts';
export class Relay {
  #open = (peer: string): void => { this.send(peer, { first: 1, second: 2 }); };
  greet(peer: string): void { if (peer !== '' && !this.#seen.has(peer)) this.send(peer, { first: 1, second: 2 }); }
}
export const limits = { width: 4 };
`;
const broken = `import { a } from './a.ts';
export class Relay {
  #open = (peer: string): void => {
    this.send(peer, {
      first: 1,
      second: 2,
    });
  };
  greet(peer: string): void {
    if (peer !== '' && !this.#seen.has(peer))
      this.send(peer, {
        first: 1,
        second: 2,
      });
  }
}
export const limits = {
  width: 4,
};
`;
const bug = {
  file: 'relay.ts',
  symbol: 'Relay.greet',
  find: 'this.send(peer, { first: 1, second: 2 });',
  replace: 'return;',
  layer: 'handler',
  tests: ['t.ts'],
};

test('an anchor holds when a formatter breaks its line, and its symbol separates it from its twin', (t) => {
  for (const text of [oneLine, broken]) {
    const source = readSource('relay.ts', text);
    t.is(findPlaces(source, { find: bug.find }).length, 2);
    t.is(findPlaces(source, bug).length, 1);
    const planted = plant(source, bug);
    t.regex(planted, /has\(peer\)\)\s+return;\s+\}/);
    t.regex(planted, /#open[^;]*second: 2/);
  }
});

test('an anchor does not fit other tokens, nor a part of a word', (t) => {
  const source = readSource('relay.ts', broken);
  for (const find of ['first: 1, second: 3', 'second: 2, first: 1', 'irst: 1', ''])
    t.deepEqual(findPlaces(source, { find }), [], find);
});

test('a symbol is the path of names around a place', (t) => {
  const { symbols, text } = readSource('relay.ts', broken);
  const symbolAt = (word: string): string =>
    enclosingSymbol(symbols, { start: text.lastIndexOf(word), end: text.lastIndexOf(word) + 1 });
  t.is(symbolAt('has('), 'Relay.greet');
  t.is(enclosingSymbol(symbols, { start: text.indexOf('first'), end: text.indexOf('first') + 1 }), 'Relay.#open');
  t.is(symbolAt('4'), 'limits');
  t.is(symbolAt('import'), '');
});

test('a rename changes whole words of the line, its replacement and its symbol, and paths of files', (t) => {
  const renames = {
    identifiers: { Relay: 'Router', peer: 'client', first: 'one' },
    files: { 'relay.ts': 'router.ts', 't.ts': 'u.ts' },
  };
  t.deepEqual(renameBug({ ...bug, replace: 'peers(peer);' }, renames), {
    ...bug,
    file: 'router.ts',
    symbol: 'Router.greet',
    find: 'this.send(client, { one: 1, second: 2 });',
    replace: 'peers(client);',
    tests: ['u.ts'],
  });
});
