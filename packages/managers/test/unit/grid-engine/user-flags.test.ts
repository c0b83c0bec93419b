import test from 'ava';
import { readUserFlags } from '../../../src/grid-engine/user-flags.ts';

test('flags of qsub are passed on, the queue apart', (t) => {
  const { flags, queue, names } = readUserFlags(
    [
      '-P',
      'thesis',
      '-p',
      '-100',
      '-q',
      'long.q',
      '-l',
      'mem_free=2G,arch=lx-*',
      '-binding',
      'set',
      'linear:2',
      '-V',
      '-soft',
      '-r',
      'y',
    ],
    '',
  );
  t.deepEqual(flags, [
    '-P',
    'thesis',
    '-p',
    '-100',
    '-l',
    'mem_free=2G,arch=lx-*',
    '-binding',
    'set',
    'linear:2',
    '-V',
    '-soft',
    '-r',
    'y',
  ]);
  t.is(queue, 'long.q');
  t.true(names.has('r'));
  t.is(readUserFlags([], '').queue, undefined);
  t.is(readUserFlags(['-q', 'a.q'], 'a.q').queue, 'a.q');
});

test('a flag that would be of no effect or in the way is refused with the reason', (t) => {
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['-N', 'x'], /"-N" of qsub is refused: requests are found by it/],
    [['-pe', 'mpi', '4'], /--grid-engine-pe names the parallel environment/],
    [['-l', 'mem_free=1G,h_rt=60'], /"-l mem_free=1G,h_rt=60".*--walltime-max bounds it/],
    [['-l', 's_rt'], /--walltime-max/],
    [['-t', '1-10'], /one job/],
    [['-o', '/x'], /Mutirao reads that output/],
    [['-sync', 'y'], /hold up/],
    [['-ar', '7'], /reservation/],
    [['-@', 'file'], /not in a file/],
    [['-h'], /never starts/],
    [['--mem=1'], /"--mem=1" is not a flag of qsub/],
    [['x'], /"x" is not a flag/],
    [['-q', 'a.q,b.q'], /"a.q,b.q"; expected one cluster queue/],
    [['-q', 'all.q@n1'], /expected one cluster queue/],
  ];
  for (const [words, message] of refusals)
    t.throws(() => readUserFlags(words, ''), { code: 'MUT_BAD_CONFIG', message }, words.join(' '));
  t.throws(() => readUserFlags(['-q', 'b.q'], 'a.q'), { message: /"a.q" by one option and "b.q" by a flag/ });
});
