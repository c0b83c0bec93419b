import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { quietLogger } from '@mutirao/runtime/log';
import { NodeRunner, type RunnerNode } from '../../../src/nodes/node-runner.ts';
import { parseNodes } from '../../../src/nodes/parse-node.ts';
import type { NodeProcess } from '../../../src/nodes/ssh-node.ts';

interface FakeNode extends RunnerNode {
  isUp: boolean;
  readonly started: NodeProcess[];
  readonly signals: string[];
}

function aNode(name: string, processors: number, start: () => Promise<void> = () => Promise.resolve()): FakeNode {
  const started: NodeProcess[] = [];
  const signals: string[] = [];
  return {
    name,
    processors,
    isUp: true,
    started,
    signals,
    close: () => Promise.resolve(),
    start: (process) => {
      started.push(process);
      return start();
    },
    signal: (key, signal) => {
      signals.push(`${signal} ${key}`);
      return Promise.resolve();
    },
  };
}

function aRunner(...nodes: readonly FakeNode[]): { runner: NodeRunner; exits: string[]; away: number[] } {
  const exits: string[] = [];
  const away: number[] = [];
  const runner = new NodeRunner({
    nodes,
    killGraceMs: 1,
    log: quietLogger,
    onExit: (requestId, index, status, { reason = '' } = {}) => {
      exits.push(`${requestId}.${index} ${status} ${reason}`.trim());
    },
    onAway: (count) => {
      away.push(count);
    },
  });
  return { runner, exits, away };
}

const aRequest = (requestId: number, width: number) => ({
  kind: 'StartProcesses' as const,
  requestId,
  width,
  command: ['work', 'a b'],
  environment: { SECRET: 'x' },
  workingDirectory: '',
  walltimeEnd: 9000,
});
const getKeys = (node: FakeNode): string[] => node.started.map(({ key }) => key);

test('processes fill nodes in their order, as many as a node has processors', (t) => {
  const [one, two] = [aNode('one', 2), aNode('two', 2)];
  const { runner, exits } = aRunner(one, two);
  runner.start(aRequest(1, 3));
  t.deepEqual([getKeys(one), getKeys(two)], [['1.0', '1.1'], ['1.2']]);
  runner.noteExit('1.0', 0);
  runner.start(aRequest(2, 2));
  t.deepEqual(
    [getKeys(one), getKeys(two)],
    [
      ['1.0', '1.1', '2.0'],
      ['1.2', '2.1'],
    ],
  );
  t.deepEqual(exits, ['1.0 0']);
  t.like(two.started[0], {
    command: ['work', 'a b'],
    environment: {
      SECRET: 'x',
      MUTIRAO_REQUEST_ID: '1',
      MUTIRAO_PROCESS_INDEX: '2',
      MUTIRAO_PROCESS_COUNT: '3',
      MUTIRAO_WALLTIME_END_UNIX_MS: '9000',
      MUTIRAO_NODE: 'two',
    },
  });
});

test('with a node all that ran there is over, and nothing is put on it until it is back', (t) => {
  const [one, two] = [aNode('one', 1), aNode('two', 1)];
  const { runner, exits } = aRunner(one, two);
  runner.start(aRequest(1, 2));
  one.isUp = false;
  runner.noteLost('one');
  runner.noteExit('1.0', 0);
  t.deepEqual(exits, ['1.0 255 MUT_NODE_LOST']);
  runner.start(aRequest(2, 1));
  t.deepEqual(exits.slice(1), ['2.0 255 MUT_NODE_LOST']);
  one.isUp = true;
  runner.start(aRequest(3, 1));
  t.deepEqual(getKeys(one), ['1.0', '3.0']);
});

test('a process with a grant runs on its node, and learns what it has of it', (t) => {
  const [one, two] = [aNode('one', 4), aNode('two', 4)];
  const { runner, exits } = aRunner(one, two);
  const grant = (node: number, processorIds: readonly number[]) => ({
    node,
    nodeName: node === 0 ? 'one' : 'two',
    processorIds,
    memory: 1024,
    gpus: node === 0 ? [] : [{ id: '3', kind: 'a100' }],
  });
  runner.start({ ...aRequest(1, 3), grants: [grant(1, [2, 3])] });
  t.deepEqual([getKeys(one), getKeys(two)], [[], ['1.0']]);
  t.like(two.started[0]?.environment, {
    MUTIRAO_PROCESS_COUNT: '1',
    MUTIRAO_MACHINE_PROCESSORS: '2',
    MUTIRAO_MACHINE_PROCESSOR_IDS: '2,3',
    MUTIRAO_MACHINE_MEMORY_BYTES: '1024',
    MUTIRAO_MACHINE_GPUS: '1',
    MUTIRAO_MACHINE_GPU_DEVICES: '3:a100',
    CUDA_VISIBLE_DEVICES: '3',
  });
  two.isUp = false;
  runner.start({ ...aRequest(2, 2), grants: [grant(1, [0]), grant(0, [0])] });
  t.deepEqual(exits, ['2.0 255 MUT_NODE_LOST']);
  t.deepEqual(getKeys(one), ['2.1']);
  t.is(one.started[0]?.environment['CUDA_VISIBLE_DEVICES'], '');
});

test('the number of processors that are away is reported when it changes, and only then', (t) => {
  const [one, two] = [aNode('one', 3), aNode('two', 2)];
  const { runner, away } = aRunner(one, two);
  t.is(runner.processorsAway, 0);
  one.isUp = false;
  runner.noteNodes();
  runner.noteNodes();
  two.isUp = false;
  runner.noteNodes();
  one.isUp = true;
  runner.noteNodes();
  t.deepEqual(away, [3, 5, 2]);
});

test('a process that its node cannot start has ended with 126', async (t) => {
  const { runner, exits } = aRunner(
    aNode('one', 1, () => Promise.reject(new MutiraoError('MUT_LAUNCH_FAILED', 'no such program'))),
  );
  runner.start(aRequest(1, 1));
  await Promise.resolve().then(() => undefined);
  t.deepEqual(exits, ['1.0 126']);
});

test('a process whose start the connection did not outlive is lost with its node', async (t) => {
  const { runner, exits } = aRunner(
    aNode('one', 1, () => Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'the connection is closed'))),
  );
  runner.start(aRequest(1, 1));
  await Promise.resolve().then(() => undefined);
  t.deepEqual(exits, ['1.0 255 MUT_NODE_LOST']);
});

test('a request that must end is signalled on each of its nodes, and no other request is', async (t) => {
  const [one, two] = [aNode('one', 1), aNode('two', 2)];
  const { runner } = aRunner(one, two);
  runner.start(aRequest(1, 2));
  runner.start(aRequest(2, 1));
  runner.kill(1);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  t.deepEqual([one.signals, two.signals], [['SIGTERM 1.0'], ['SIGTERM 1.1']]);
  runner.noteExit('1.0', 143);
  runner.noteExit('1.1', 143);
});

test('nodes are read from their texts, and a malformed one is refused', (t) => {
  t.deepEqual(parseNodes(['n1=ssh:ana@host.lab:8', 'n2=ssh:alias:1']), [
    { name: 'n1', destination: 'ana@host.lab', processors: 8 },
    { name: 'n2', destination: 'alias', processors: 1 },
  ]);
  for (const text of [
    '',
    'n1',
    'n1=ana@host:8',
    'n1=ssh:host',
    'n1=ssh:host:0',
    'n1=ssh:-oX:2',
    'a b=ssh:host:2',
    'n1=ssh:h:99999',
  ]) {
    t.throws(
      () => parseNodes([text]),
      { code: 'MUT_BAD_CONFIG', message: /expected NAME=ssh:USER@HOST:PROCESSORS/ },
      text,
    );
  }
  t.throws(() => parseNodes(['n=ssh:a:1', 'n=ssh:b:1']), {
    message: 'two nodes are named "n"; expected another name for each',
  });
});
