import test from 'ava';
import {
  decodeEnrolledMachine,
  decodeEnrolledMachineState,
  encodeEnrolledMachine,
  encodeEnrolledMachineState,
} from '@mutirao/api/codecs';
import type { EnrolledMachineStatus } from '@mutirao/api/provider';
import type { EnrolledMachine } from '@mutirao/core/messages';

const bySsh: EnrolledMachine = {
  name: 'ana@pc',
  reach: { kind: 'ssh', destination: 'ana@pc', options: ['-Jgate'], program: ['mutirao'] },
  processors: 2,
  folder: '/x',
  attributes: { gpu: '1' },
};
const byTemplates: EnrolledMachine = {
  name: 'old',
  reach: { kind: 'templates', machine: 'old', remExec: 'a', copyTo: 'b', copyFrom: 'c' },
  processors: 0,
  folder: '',
  attributes: {},
};

test('kept machines come back as they were written, with their states', (t) => {
  for (const machine of [bySsh, byTemplates]) {
    t.deepEqual(decodeEnrolledMachine(encodeEnrolledMachine(machine)), machine);
    for (const status of ['starting', 'running', 'waiting'] as const) {
      const state = { machine, status, reason: 'r', since: 5 };
      t.deepEqual(decodeEnrolledMachineState(encodeEnrolledMachineState(state)), state);
    }
  }
});

const refused: readonly (readonly [string, EnrolledMachine, RegExp])[] = [
  ['a name that is an option', { ...bySsh, name: '-x' }, /machine name is "-x"/],
  ['a name that leads elsewhere', { ...bySsh, name: '../x' }, /machine name is/],
  ['too many processors', { ...bySsh, processors: 5000 }, /processors of ana@pc is 5000; expected at most 4096/],
  [
    'a destination that is an option',
    { ...bySsh, reach: { kind: 'ssh', destination: '-oProxyCommand=x', options: [], program: [] } },
    /ssh destination of ana@pc is "-oProxyCommand=x"/,
  ],
  [
    'a word with a NUL',
    { ...bySsh, reach: { kind: 'ssh', destination: 'a', options: ['x\0'], program: [] } },
    /has a word with a NUL/,
  ],
  ['a folder with a NUL', { ...bySsh, folder: '\0' }, /has a text with a NUL/],
  [
    'a missing template',
    { ...byTemplates, reach: { kind: 'templates', machine: 'old', remExec: 'a', copyTo: ' ', copyFrom: 'c' } },
    /lacks what \$machine stands for or one of its templates/,
  ],
  ['an attribute without a value', { ...bySsh, attributes: { gpu: '' } }, /attribute gpu of ana@pc is empty/],
  ['an attribute whose name is none', { ...bySsh, attributes: { 'g=u': '1' } }, /attribute of ana@pc is "g=u"/],
];

for (const [what, machine, message] of refused) {
  test(`${what} is refused`, (t) => {
    t.throws(() => decodeEnrolledMachine(encodeEnrolledMachine(machine)), { code: 'MUT_BAD_REQUEST', message });
  });
}

test('a machine that is reached in no way that this release knows, or is in no known state, is refused', (t) => {
  t.throws(() => decodeEnrolledMachine({ ...encodeEnrolledMachine(bySsh), reach: undefined }), {
    message: /says nothing of how it is reached/,
  });
  t.throws(
    () =>
      decodeEnrolledMachineState({
        machine: encodeEnrolledMachine(bySsh),
        status: 9 as EnrolledMachineStatus,
        reason: '',
        sinceUnixMs: 0,
      }),
    { message: /has status 9/ },
  );
});
