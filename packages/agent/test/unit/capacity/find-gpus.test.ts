import test from 'ava';
import { findGpus, nameAmdKind, nameKind, parseQuery } from '../../../src/capacity/find-gpus.ts';
import type { HostFiles } from '../../../src/capacity/host-files.ts';

const answer =
  '0, GPU-1f5c7a2e-0000-0000-0000-000000000000, NVIDIA A100-SXM4-80GB\n' +
  '1, GPU-2b5c7a2e-0000-0000-0000-000000000000, NVIDIA A100-SXM4-80GB\n' +
  '2, GPU-3c5c7a2e-0000-0000-0000-000000000000, Tesla T4\n';
const three = ['null', 'nvidia0', 'nvidia1', 'nvidia2', 'nvidiactl', 'nvidia-uvm'];

function hostOf(devices: readonly string[], said?: string, files: Readonly<Record<string, string>> = {}): HostFiles {
  const folder = '/sys/class/kfd/kfd/topology/nodes';
  return {
    read: (file) => files[file],
    list: (name) => (name === '/dev' ? devices : name === folder ? ['10', '0', '1'] : []),
    run: () => Promise.resolve(said),
  };
}

test('devices are named by number, with their kinds', async (t) => {
  t.deepEqual(await findGpus(hostOf(three, answer), {}), [
    { id: '0', kind: 'a100' },
    { id: '1', kind: 'a100' },
    { id: '2', kind: 't4' },
  ]);
});

test("without the maker's tool the device files are counted", async (t) => {
  t.deepEqual(await findGpus(hostOf(['nvidia10', 'nvidia2', 'nvidiactl']), {}), [
    { id: '2', kind: 'nvidia' },
    { id: '10', kind: 'nvidia' },
  ]);
});

test('CUDA_VISIBLE_DEVICES restricts them, by number and by the beginning of a UUID', async (t) => {
  const find = (visible: string): ReturnType<typeof findGpus> =>
    findGpus(hostOf(three, answer), { CUDA_VISIBLE_DEVICES: visible });
  t.deepEqual(await find('2,0'), [
    { id: '2', kind: 't4' },
    { id: '0', kind: 'a100' },
  ]);
  t.deepEqual(await find('GPU-3c5c'), [{ id: 'GPU-3c5c', kind: 't4' }]);
  t.deepEqual(await find('MIG-77,MIG-78'), [
    { id: 'MIG-77', kind: 'mig' },
    { id: 'MIG-78', kind: 'mig' },
  ]);
  for (const none of ['', '-1', 'NoDevFiles', '7,0']) t.deepEqual(await find(none), [], none);
  t.deepEqual(await find('0,0,1'), [{ id: '0', kind: 'a100' }]);
});

test('a variable without devices means nothing', async (t) => {
  t.deepEqual(await findGpus(hostOf(['null'], answer), { CUDA_VISIBLE_DEVICES: '0,1' }), []);
});

test('what Slurm granted restricts them where it does not hide the others', async (t) => {
  t.deepEqual(await findGpus(hostOf(three, answer), { SLURM_STEP_GPUS: '2' }), [{ id: '2', kind: 't4' }]);
  const hidden = hostOf(['nvidia2'], '0, GPU-3c, Tesla T4\n');
  t.deepEqual(await findGpus(hidden, { SLURM_STEP_GPUS: '2' }), [{ id: '0', kind: 't4' }]);
});

test('devices of AMD are found by their driver, and distinguished from those of NVIDIA', async (t) => {
  const folder = '/sys/class/kfd/kfd/topology/nodes';
  const host = hostOf(['kfd'], undefined, {
    [`${folder}/0/properties`]: 'cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n',
    [`${folder}/1/properties`]: 'cpu_cores_count 0\nsimd_count 440\ngfx_target_version 90010\n',
    [`${folder}/10/properties`]: 'cpu_cores_count 0\nsimd_count 440\ngfx_target_version 110003\n',
  });
  t.deepEqual(await findGpus(host, {}), [
    { id: 'amd:0', kind: 'gfx90a' },
    { id: 'amd:1', kind: 'gfx1103' },
  ]);
  t.deepEqual(await findGpus(host, { ROCR_VISIBLE_DEVICES: '1' }), [{ id: 'amd:1', kind: 'gfx1103' }]);
  t.is(nameAmdKind('simd_count 8\n'), 'amd');
});

test('the kind is the product without its maker, connector and memory', (t) => {
  const kinds: Readonly<Record<string, string>> = {
    'NVIDIA A100-SXM4-80GB': 'a100',
    'NVIDIA H100 80GB HBM3': 'h100',
    'NVIDIA H100 NVL': 'h100',
    'Tesla V100-PCIE-16GB': 'v100',
    'NVIDIA GeForce RTX 3090': 'rtx-3090',
    'NVIDIA RTX A6000': 'rtx-a6000',
    'NVIDIA L40S': 'l40s',
    'NVIDIA Graphics Device': 'nvidia',
  };
  for (const [product, kind] of Object.entries(kinds)) t.is(nameKind(product), kind, product);
});

test('lines that are not an answer are skipped', (t) => {
  t.deepEqual(parseQuery('NVIDIA-SMI has failed because it could not communicate with the driver\n\n'), []);
});
