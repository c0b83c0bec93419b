// What a machine states may be a part of one name in a path, and never another folder: what the user wrote may lead
// anywhere.
import test from 'ava';
import fc from 'fast-check';
import { sayReason } from '@mutirao/api/reasons';
import { fillPath, parseTemplate, type FilledPath } from '@mutirao/core/bag';
import { runs } from '@mutirao/testkit';

function fill(
  template: string,
  attributes: Readonly<Record<string, string>>,
  value = '7',
  machineId = 'lab/m1',
): FilledPath | string {
  const filled = fillPath(parseTemplate(template), {
    value,
    index: 7,
    place: { jobId: 3, taskIndex: 7, machineId, attributes },
  });
  return 'fault' in filled ? sayReason(filled.fault) : filled;
}

test('a value of a machine is a part of a name, and the path says where it begins', (t) => {
  t.deepEqual(fill('/home/u/results-$group/out', { group: 'a b' }), {
    path: '/home/u/results-a b/out',
    machineFrom: 8,
  });
  t.deepEqual(fill('/home/u/{}/$JOB.$TASK', { group: 'a' }, '../x'), {
    path: '/home/u/../x/3.7',
    machineFrom: undefined,
  });
  t.deepEqual(fill('/r/$PROC/$os', { os: 'linux' }), { path: '/r/lab/m1/linux', machineFrom: 3 });
  t.deepEqual(fill('$os$os', { os: 'x' }), { path: 'xx', machineFrom: 0 });
  t.deepEqual(fill('/r/.$os', { os: 'x' }), { path: '/r/.x', machineFrom: 3 });
});

test('a value that is more than a part of a name is named with its fault', (t) => {
  const cases: [string, string, RegExp][] = [
    ['/r-$x', 'a/../../b', /\$x is "a\/\.\.\/\.\.\/b" on lab\/m1: it contains a "\/"/],
    ['/r/$x', '..', /another folder/],
    ['/r/$x', '.', /another folder/],
    ['/r/.$x', '.', /another folder/],
    ['/r/$x/a', '', /name in the path empty/],
    ['/r/$x', '', /name in the path empty/],
    ['/r/.$x/a', '', /makes the name "\."/],
    ['/r/.$x./a', '', /makes the name "\.\."/],
    ['/r/a$x', 'b\0', /control/],
    ['/r/a$x', 'b\n', /control/],
    ['/r/a$x', '\u001b]0;title', /control/],
    ['/r/$x', '.ssh', /hidden/],
    ['/r/$x.ssh', '', /hidden/],
    ['$x', '/etc/passwd', /contains a "\/"/],
    ['/r/$x', 'n'.repeat(256), /longer/],
  ];
  for (const [template, value, fault] of cases)
    t.regex(String(fill(template, { x: value })), fault, `${template} ${JSON.stringify(value)}`);
  t.regex(String(fill('/r/$PROC', { username: '../..', servername: 'x' })), /contains a "\/"/);
  t.regex(String(fill('/r/$PROC', {}, '7', 'lab/..')), /another folder/);
  t.regex(String(fill('/r/$x', { x: 'lab/../m' }, '7', 'lab/../m')), /another folder/);
});

const word = fc.oneof(
  fc.constantFrom('', '.', '..', '/', 'a', 'a/b', '../x', '\0', '.hidden'),
  fc.string({ maxLength: 6 }),
);
const piece = fc.oneof(
  fc.constantFrom('/', '.', '..', 'dir', '$x', '$y', '{}', '$PROC', '$JOB'),
  fc.string({ maxLength: 3 }),
);

test('whatever a machine states, it leads to no other folder than the user named', (t) => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), word, word, (pieces, x, y) => {
      const template = `/home/u/${pieces.join('')}`;
      const filled = fill(template, { x, y }, 'v');
      if (typeof filled === 'string' || filled.machineFrom === undefined) return true;
      // The names that the user wrote for a harmless machine are the same in number, and none that the machine had a
      // part in leads elsewhere.
      const harmless = fill(template, { x: 'h', y: 'h' }, 'v') as FilledPath;
      const [names, wanted] = [filled.path.split('/'), harmless.path.split('/')];
      return (
        names.length === wanted.length &&
        names.every((name, index) => name === wanted[index] || !['', '.', '..'].includes(name))
      );
    }),
    runs(11, 5000),
  );
  t.pass();
});
