import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { isPrintable } from '@mutirao/core/shared';
import { aMachineRecord, runCommandLine } from '@mutirao/testkit';
import { writePrinted } from '../../../src/output/output.ts';

const hostile = '\u001b]0;title\u0007\u001b]52;c;eA==\u001b\\\u009b2J\u202e\u2028\nlab/forged  idle';
const facts = {
  machineId: `lab/${hostile}`,
  incarnation: 'x',
  processors: 2,
  attributes: { os: hostile },
  requestId: '',
  sharedTokens: [],
  homeMarks: [],
};
const broker = {
  listMachines: () => Promise.resolve({ machines: [aMachineRecord({ facts }), aMachineRecord()] }),
  listTrust: () => Promise.resolve({ records: [] }),
};

test('what a machine says of itself forges no row of a table and controls no terminal', async (t) => {
  const { out } = await runCommandLine(['machine', 'list'], { broker });
  const lines = out.split('\n');
  t.is(lines.length, 4);
  t.true(lines.every(isPrintable), out);
  t.true(out.includes(String.raw`lab/\x1b]0;title\x07\x1b]52;c;eA==\x1b\\x9b2J\u202e\u2028\nlab/forged`));
  const column = lines[0]?.indexOf('STATUS');
  for (const line of lines.slice(1, 3)) t.true(line.slice(column).startsWith('idle'), 'columns stand below each other');
});

test('nor in pairs, in identifiers or in JSON, which stays the same document', async (t) => {
  for (const argv of [
    ['machine', 'show', facts.machineId],
    ['machine', 'list', '--quiet'],
    ['machine', 'list', '--json'],
  ]) {
    const { out, status } = await runCommandLine(argv, { broker });
    t.is(status, 0);
    t.true(out.split('\n').every(isPrintable), out);
  }
  const [first] = JSON.parse((await runCommandLine(['machine', 'list', '--json'], { broker })).out) as {
    machine_id: string;
  }[];
  t.is(first?.machine_id, facts.machineId);
});

test('nor in errors and notices', async (t) => {
  const { err } = await runCommandLine(['machine', 'list'], {
    broker: { listMachines: () => Promise.reject(new MutiraoError('MUT_INTERNAL', `machine ${hostile}`)) },
  });
  t.true(err.split('\n').every(isPrintable), err);
  t.notRegex(err, /^lab\/forged/m);
});

test('what a task printed reaches files and pipes as it is, and a terminal without what controls it', (t) => {
  const bytes = Buffer.concat([Buffer.from(`\u001b[31mred\u001b[0m\n${hostile}`), Buffer.from([0xff])]);
  const written: (string | Uint8Array)[] = [];
  for (const isTerminal of [false, true])
    writePrinted(bytes, {
      isTerminal,
      write: (content) => {
        written.push(content);
      },
    });
  t.deepEqual(written[0], bytes);
  t.regex(String(written[1]), /^\u001b\[31mred\u001b\[0m\n\\x1b\]0;title\\x07/);
});
