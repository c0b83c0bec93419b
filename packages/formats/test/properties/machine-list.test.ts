import test from 'ava';
import fc from 'fast-check';
import { FormatError, parseMachineList } from '@mutirao/formats';
import { runs } from '@mutirao/testkit';

// Whatever is written as a list of machines is read back as it was meant; anything else is read or refused with a
// place.

const anyName = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}[a-z0-9]$/);
const anyKey = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/).map((key) => `x_${key}`);
const anyValue = fc
  .string({ unit: fc.constantFrom(...'aé: =#"\\$;\u2028{}'), minLength: 1, maxLength: 12 })
  .filter((value) => value.trim() === value && value !== '');
const anyAttributes = fc.dictionary(anyKey, anyValue, { maxKeys: 4, noNullPrototype: true });
const anyWorkers = fc.tuple(
  anyAttributes,
  fc.uniqueArray(fc.record({ username: anyName, servername: anyName, attributes: anyAttributes }), {
    maxLength: 5,
    minLength: 1,
    selector: ({ username, servername }) => `${username}@${servername}`,
  }),
);

const quote = (value: string): string => `"${value.replace(/["\\]/g, '\\$&')}"`;
const print = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([key, value]) => `  ${key.toUpperCase()} :${quote(value)}\n`)
    .join('');

test('workers that are written down read back with their defaults', (t) => {
  fc.assert(
    fc.property(anyWorkers, fc.constantFrom('', '\n# remark: none\n'), ([defaults, workers], remark) => {
      const text = `workerdefaults:\n${print(defaults)}${remark}${workers.map(({ username, servername, attributes }) => `worker:\n${print({ username, servername, ...attributes })}${remark}`).join('')}`;
      t.deepEqual(
        parseMachineList(text, 'a.sdf').machines.map(({ name, attributes }) => ({ name, attributes })),
        workers.map(({ username, servername, attributes }) => ({
          name: `${username}@${servername}`,
          attributes: { ...defaults, username, servername, ...attributes },
        })),
      );
    }),
    runs(41, 500),
  );
  t.pass();
});

const pieces = [
  'worker',
  'worker:',
  'workerdefaults:',
  'gum:',
  'GUMDEFAULTS :',
  'mygump:',
  'peer:',
  'username',
  'username: a',
  'servername: b',
  'name: c',
  'label:',
  'gateway: d',
  'type: GRIDSCRIPT',
  'remExec: $command',
  'copyTo: $localfile $remotefile',
  'copyFrom: $localfile $remotefile',
  'processors: 2',
  'os: linux',
  ':',
  '=',
  ';',
  '"',
  '\\',
  '#',
  ' ',
  '\n',
  '\n',
  '\n',
  '\r\n',
  '\t',
  '{',
  '[',
  'é',
  '\0',
  '\u2028',
];

function isReadOrRefused(text: string): boolean {
  try {
    const { machines, peers } = parseMachineList(text, 'a.gdf');
    return machines.length === 0 || peers.length === 0;
  } catch (error) {
    return (
      error instanceof FormatError &&
      error.problem.column >= 1 &&
      error.problem.line >= 1 &&
      error.problem.line <= text.split('\n').length
    );
  }
}

test('nonsense is either read as machines or refused with a place', (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join('')),
        fc.string(),
      ),
      isReadOrRefused,
    ),
    runs(42, 5000),
  );
  t.pass();
});
