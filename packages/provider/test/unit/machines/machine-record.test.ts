import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type { EnrolledMachine } from '@mutirao/core/messages';
import { temporaryFolder } from '@mutirao/testkit';
import { agentOptions, getLastWords } from '../../../src/machines/agent-options.ts';
import { readMachineRecord, writeMachineRecord } from '../../../src/machines/machine-record.ts';

const machines: readonly EnrolledMachine[] = [
  {
    name: 'ana@pc',
    reach: { kind: 'ssh', destination: 'ana@pc', options: ['-Jgate'], program: ['node', 'x y'] },
    processors: 2,
    folder: '/scratch',
    attributes: { gpu: 'two of them' },
    memory: 8_000_000_000,
    gpus: '2:a100',
    resources: ['licence=2'],
  },
  {
    name: 'old',
    reach: {
      kind: 'templates',
      machine: 'old',
      remExec: 'ssh $machine $command',
      copyTo: 'a "$localfile"',
      copyFrom: 'b',
    },
    processors: 0,
    folder: '',
    attributes: {},
  },
];

test('a list that was written reads back, and only its owner can read it', (t) => {
  const file = path.join(temporaryFolder(t), 'machines.json');
  t.deepEqual(readMachineRecord(file), []);
  writeMachineRecord(file, machines);
  t.deepEqual(readMachineRecord(file), machines);
  t.is(statSync(file).mode & 0o077, 0);
});

test('a malformed list is refused with its place and a way out', (t) => {
  const file = path.join(temporaryFolder(t), 'machines.json');
  for (const text of [
    '',
    '{',
    '{}',
    '{"machines":[{}]}',
    '{"machines":[{"name":"-x","reach":{"kind":"ssh","destination":"a","options":[],"program":[]},"processors":0,"folder":"","attributes":{}}]}',
  ]) {
    writeFileSync(file, text);
    t.throws(
      () => readMachineRecord(file),
      { code: 'MUT_BAD_CONFIG', message: /machines\.json is not a list of machines: .*; correct it, or move it away/s },
      text,
    );
  }
});

test('what is known of a machine becomes options of its agent', (t) => {
  t.deepEqual(
    machines.map((machine) => agentOptions('lab', machine)),
    [
      [
        ...[
          '--provider-id',
          'lab',
          '--machine-id',
          'lab/ana@pc',
          '--processors',
          '2',
          '--attribute',
          'gpu=two of them',
        ],
        ...['--memory', '8000000000', '--gpus', '2:a100', '--resource', 'licence=2'],
      ],
      ['--provider-id', 'lab', '--machine-id', 'lab/old'],
    ],
  );
});

test('the last words of an agent are its error, else its last line', (t) => {
  t.is(getLastWords('{"level":"fatal","code":"MUT_X","msg":"gone"}\n{"level":"info","msg":"left"}\n'), 'MUT_X gone');
  t.is(getLastWords('a\nnode: not found\n'), 'node: not found');
  t.is(getLastWords('\n'), 'it printed nothing');
  t.is(getLastWords(''), 'it printed nothing');
});
