import test from 'ava';
import {
  parseControllerClock,
  parseIdleProcessors,
  parseNodeLimits,
  parsePartitions,
  type Partition,
} from '../../../src/slurm/parse-limits.ts';

// As Slurm 22.05 of Debian 12 wrote it.
const recorded = `PartitionName=main AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A DefaultTime=NONE MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED Nodes=n[1-4] State=UP TotalCPUs=32 TotalNodes=4 TRES=cpu=32,mem=4M,node=4,billing=32
PartitionName=short AllowGroups=ALL Default=NO QoS=N/A MaxNodes=1 MaxTime=00:02:00 MinNodes=0 MaxCPUsPerNode=6 Nodes=n[1-2] OverSubscribe=EXCLUSIVE State=UP TotalCPUs=16
PartitionName=endless Default=NO MaxNodes=0 MaxTime=UNLIMITED
`;

test('the limits of partitions are read', (t) => {
  t.deepEqual(parsePartitions(recorded), [
    {
      name: 'main',
      isDefault: true,
      walltimeMax: 86_400_000,
      nodesMax: undefined,
      processorsPerNodeMax: undefined,
      isExclusive: false,
      nodesTotal: 4,
      processorsTotal: 32,
    },
    {
      name: 'short',
      isDefault: false,
      walltimeMax: 120_000,
      nodesMax: 1,
      processorsPerNodeMax: 6,
      isExclusive: true,
      nodesTotal: undefined,
      processorsTotal: 16,
    },
    {
      name: 'endless',
      isDefault: false,
      walltimeMax: undefined,
      nodesMax: 0,
      processorsPerNodeMax: undefined,
      isExclusive: false,
      nodesTotal: undefined,
      processorsTotal: undefined,
    },
  ]);
  t.deepEqual(parsePartitions('Partition nix not found\n'), []);
});

const free: Partition = {
  name: 'main',
  isDefault: true,
  walltimeMax: undefined,
  nodesMax: undefined,
  processorsPerNodeMax: undefined,
  isExclusive: false,
  nodesTotal: undefined,
  processorsTotal: undefined,
};

test('a request may have the processors of as many nodes as the partition allows, the largest first', (t) => {
  const nodes = '8|3/5/0/8\n16|0/16/0/16\n4|0/4/0/4\n';
  t.like(parseNodeLimits(nodes, free), { processors: 28, widthMax: 28, nodeMin: 4 });
  t.like(parseNodeLimits(nodes, { ...free, nodesMax: 2 }), { processors: 28, widthMax: 24, nodeMin: 4 });
  t.like(parseNodeLimits(nodes, { ...free, nodesMax: 1, processorsPerNodeMax: 6 }), {
    processors: 16,
    widthMax: 6,
    nodeMin: 4,
  });
  t.like(parseNodeLimits(nodes, { ...free, nodesMax: 0 }), { processors: 28, widthMax: 0, nodeMin: 4 });
});

test('nodes that are away do not count, unless all are', (t) => {
  t.like(parseNodeLimits('8|0/8/0/8\n8|0/0/8/8\n', free), { processors: 8, widthMax: 8, nodeMin: 8 });
  t.like(parseNodeLimits('8|0/0/8/8\n8|0/0/8/8\n', free), { processors: 16, widthMax: 16, nodeMin: 8 });
});

test('nodes of a cloud that are powered down are on no list, and count all the same', (t) => {
  const cloud = { ...free, nodesTotal: 4, processorsTotal: 32 };
  t.like(parseNodeLimits('', cloud), { processors: 32, widthMax: 32, nodeMin: 8 });
  t.like(parseNodeLimits('8|8/0/0/8\n', { ...cloud, nodesMax: 2 }), { processors: 32, widthMax: 16, nodeMin: 8 });
  t.like(
    parseNodeLimits('8|0/8/0/8\n8|0/8/0/8\n8|0/8/0/8\n8|0/0/8/8\n', cloud),
    { processors: 24, widthMax: 24, nodeMin: 8 },
    'a node that is down is listed',
  );
});

test('nodes are listed with the memory that Slurm knows and the GPUs of each kind', (t) => {
  const mebibyte = 2 ** 20;
  const listed =
    '8|0/8/0/8|4000|gpu:A100:2(S:0-1),gpu:v100:1,license:3\n8|8/0/0/8|4000|gpu:v100:1(S:0),gpu:a100:2\n' +
    '8|0/8/0/8|1|(null)\n4|0/0/4/4|4000|gpu:2(IDX:0-1)\n';
  t.deepEqual(parseNodeLimits(listed, free)?.nodes, [
    { count: 2, processors: 8, memory: 4000 * mebibyte, gpus: { a100: 2, v100: 1 } },
    { count: 1, processors: 8, memory: 0, gpus: {} },
  ]);
  t.deepEqual(parseNodeLimits('4|0/4/0/4|4000|gpu:2(IDX:0-1)\n', free)?.nodes[0]?.gpus, { '': 2 });
  t.is(parseNodeLimits(listed, free)?.gpuSpellings.get('a100'), 'A100', 'Slurm takes no other spelling');
  t.is(parseNodeLimits(listed, { ...free, processorsPerNodeMax: 6 })?.nodes[0]?.processors, 6);
});

test('idle processors are added up, and anything else is not taken for them', (t) => {
  t.is(parseIdleProcessors('3/29/0/32\n'), 29);
  t.is(parseIdleProcessors('3/29/0/32\n0/4/4/8\n'), 33);
  t.is(parseIdleProcessors(''), 0);
  t.is(parseIdleProcessors('sinfo: hello\n'), undefined);
  t.is(parseNodeLimits('8|zero\n', free), undefined);
});

test("the zone of the controller's clock is read from its configuration", (t) => {
  t.is(
    parseControllerClock('Configuration data as of 2026-11-20T18:59:47\nAccountingStorageBackupHost = (null)\n'),
    1_795_201_187_000,
  );
  t.is(parseControllerClock('nothing of it'), 0);
});
