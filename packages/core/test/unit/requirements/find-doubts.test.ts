import { sayReason } from '@mutirao/api/reasons';
import { evaluate, findDoubts, findImpossible, parseRequirements, type Requirements } from '@mutirao/core/requirements';
import test from 'ava';

function read(text: string): Requirements {
  const parsed = parseRequirements(text);
  if (parsed.kind === 'error') throw new Error(text);
  return parsed;
}

test('memory may be wanted in any unit, by 1024 or by 1000 as sizes are everywhere', (t) => {
  for (const [wanted, least] of [
    ['1GiB', 1024],
    ['1G', 1024],
    ['1k', 0.001],
    ['1GB', 953.674],
    ['1.5 GiB', undefined],
    ['"1.5 GiB"', 1536],
    ['512mib', 512],
    ['1e3', 1000],
    ['2TB', 1_907_348.633],
  ] as const) {
    const parsed = parseRequirements(`mem >= ${wanted}`);
    if (least === undefined) {
      t.is(parsed.kind, 'error', wanted);
      continue;
    }
    t.deepEqual(
      [
        evaluate(read(`mem >= ${wanted}`), { mem: String(least) }),
        evaluate(read(`mem >= ${wanted}`), { mem: String(least - 0.001) }),
      ],
      ['match', 'no match'],
      wanted,
    );
  }
  t.is(evaluate(read('mem == 1GiB'), { mem: '1024' }), 'match');
});

test('a comparison that holds on no machine is found wherever it stands', (t) => {
  t.deepEqual(findImpossible(read('os == linux && not (mem >= lots)')), {
    code: 'requirement-not-number',
    requirement: 'mem >= lots',
    comparison: '>=',
    wantedValue: 'lots',
    isMemory: true,
  });
  t.like(findImpossible(read('gpumem > 16GB')), { requirement: 'gpumem > 16gb', wantedValue: '16gb', isMemory: false });
  for (const text of ['', 'mem >= 1GB', 'mem >= 1e3', 'site == 1GB', 'version java 1.4'])
    t.is(findImpossible(read(text)), undefined, text);
});

test('an attribute that no known machine states is named, with the one that was probably meant or another way to say it', (t) => {
  const known = new Set(['os', 'mem', 'Room', 'hostname', 'processorfamily', 'site']);
  const doubts = (text: string): string[] => findDoubts(read(text), known).map((doubt) => sayReason(doubt));
  t.deepEqual(doubts('processors >= 4 && os == linux'), [
    'no known machine states "processors": --processors N gives a task several processors',
  ]);
  t.deepEqual(doubts('rooom == 12'), ['no known machine states "rooom"; did you mean "room"?']);
  t.deepEqual(doubts('memory > 1'), ['no known machine states "memory": the memory of a machine, in MiB, is "mem"']);
  t.deepEqual(doubts('not gpu'), ['"gpu" alone never holds; write "gpu == VALUE"']);
  t.deepEqual(doubts('zebra == 1'), [
    'no known machine states "zebra"; machines state hostname, mem, os, processorfamily, room, site',
  ]);
  t.deepEqual(doubts('ROOM == 12 || mem < 5'), []);
});

test('a name with another meaning is an attribute nevertheless if machines state it', (t) => {
  t.deepEqual(findDoubts(read('cpus >= 4'), new Set(['cpus'])), []);
});
