import test, { type ExecutionContext } from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { haveCapacities, parseNodes, planNodes } from '../../../src/nodes/parse-node.ts';

const gib = 2 ** 30;

function refuse(t: ExecutionContext, texts: readonly string[], message: RegExp): void {
  t.throws(() => parseNodes(texts), { instanceOf: MutiraoError, code: 'MUT_BAD_CONFIG', message });
}

test('a node has processors, and may have memory and GPUs', (t) => {
  t.deepEqual(parseNodes(['n1=ssh:ana@node1:8', 'n2=ssh:node2:16:memory=32G:gpus=2:a100']), [
    { name: 'n1', destination: 'ana@node1', processors: 8 },
    {
      name: 'n2',
      destination: 'node2',
      processors: 16,
      memory: 32 * gib,
      gpus: [
        { id: '0', kind: 'a100' },
        { id: '1', kind: 'a100' },
      ],
    },
  ]);
});

test('a cluster gives slots if a node has memory or GPUs, or is a part of this host', (t) => {
  t.false(haveCapacities(parseNodes([])));
  t.false(haveCapacities(parseNodes(['n1=ssh:ana@node1:8'])));
  t.true(haveCapacities(parseNodes(['n1=ssh:node1:8', 'n2=ssh:node2:8:memory=1G'])));
  t.true(haveCapacities(parseNodes(['n1=local:8'])));
});

test('GPUs that are only counted are numbered through the parts of one host, and on each other host from 0', (t) => {
  const getIds = (texts: readonly string[]): string[] =>
    parseNodes(texts).flatMap(({ gpus = [] }) => gpus.map(({ id }) => id));
  t.deepEqual(getIds(['a=local:1:gpus=2', 'b=local:1', 'c=local:1:gpus=1:t4']), ['0', '1', '2']);
  t.deepEqual(getIds(['a=local:1:gpus=3+5:a100', 'b=local:1:gpus=7+']), ['3', '5', '7']);
  t.deepEqual(getIds(['a=ssh:x:1:gpus=1', 'b=ssh:y:1:gpus=1']), ['0', '0']);
});

test('parts of this host that state no memory share its memory, and that of other hosts is not known', (t) => {
  const getMemory = (texts: readonly string[]): number[] =>
    planNodes(parseNodes(texts), 8 * gib).map(({ memory }) => memory);
  t.deepEqual(getMemory(['a=local:3', 'b=local:1']), [6 * gib, 2 * gib]);
  t.deepEqual(getMemory(['a=local:3:memory=1G', 'b=local:1']), [gib, 2 * gib]);
  t.deepEqual(getMemory(['a=ssh:x:3:memory=1G', 'b=ssh:y:1']), [gib, 0]);
});

test('a node that cannot be read is refused with what was found, what was expected, and the nearest name', (t) => {
  refuse(t, ['n1'], /node is "n1"; expected NAME=ssh:USER@HOST:PROCESSORS or NAME=local:PROCESSORS, for example/);
  refuse(t, ['n1=local:0'], /node is "n1=local:0"/);
  refuse(t, ['n1=locale:4'], /node is "n1=locale:4"/);
  refuse(t, ['n1=local:4:memmory=4G'], /node n1 has "memmory"; expected memory or gpus; did you mean "memory"\?/);
  refuse(t, ['n1=local:4:memory=lots'], /node n1: .*lots/);
  refuse(t, ['n1=local:4:memory=1k'], /node n1 has memory=1k; expected 1 MiB to 1 PiB/);
  refuse(t, ['n1=local:4:gpus=0.5'], /node n1: /);
  refuse(t, ['n1=local:4:memory=1G:memory=2G'], /node n1 has "memory" twice/);
  refuse(t, ['n1=local:4', 'n1=local:4'], /two nodes are named "n1"/);
  refuse(t, ['n1=local:4', 'n2=ssh:b:4'], /some nodes are "local" and others are reached over ssh/);
  refuse(t, ['n1=local:4:gpus=0+1', 'n2=local:4:gpus=1+2'], /GPU 1 is of two nodes of this host/);
});
