import test from 'ava';
import { findCapacity, shareMemory } from '../../../src/capacity/find-capacity.ts';
import type { HostFiles } from '../../../src/capacity/host-files.ts';

const gibibyte = 2 ** 30;
const meminfo = 'MemTotal:       65536000 kB\nMemFree:        100 kB\n';
const status = 'Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0\n';
const unified = '29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n';
const separate =
  '31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n' +
  '32 23 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n';

function hostOf(files: Readonly<Record<string, string>>): HostFiles {
  return {
    read: (file) => files[file],
    list: (folder) =>
      Object.keys(files).flatMap((file) =>
        file.startsWith(`${folder}/`) ? (file.slice(folder.length + 1).split('/')[0] ?? []) : [],
      ),
    run: () => Promise.resolve(undefined),
  };
}

const plain = { '/proc/self/status': status, '/proc/meminfo': meminfo };

test('a host without limits offers the processors of the affinity mask and all its memory', async (t) => {
  const found = await findCapacity(hostOf(plain), {}, 64);
  t.deepEqual(found, {
    processorIds: [0, 1, 2, 3, 4, 5, 6, 7],
    processors: 8,
    granted: 8,
    memory: 65536000 * 1024,
    gpus: [],
  });
});

test('limits of control groups count, also those of the groups around', async (t) => {
  const found = await findCapacity(
    hostOf({
      ...plain,
      '/proc/self/cgroup': '0::/system.slice/job.scope/step\n',
      '/proc/self/mountinfo': unified,
      '/sys/fs/cgroup/system.slice/job.scope/memory.max': '4294967296\n',
      '/sys/fs/cgroup/system.slice/job.scope/step/memory.max': 'max\n',
      '/sys/fs/cgroup/system.slice/cpu.max': '250000 100000\n',
      '/sys/fs/cgroup/system.slice/job.scope/step/cpu.max': 'max 100000\n',
    }),
    {},
    8,
  );
  t.like(found, { processors: 2, memory: 4 * gibibyte });
});

test('limits of the first version of control groups count, and one of nearly 2^63 means no limit', async (t) => {
  const files = {
    ...plain,
    '/proc/self/cgroup': '4:memory:/jobs/9\n1:cpu,cpuacct:/jobs/9\n0::/\n',
    '/proc/self/mountinfo': separate,
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    '/sys/fs/cgroup/memory/jobs/9/memory.limit_in_bytes': '2147483648\n',
    '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '-1\n',
    '/sys/fs/cgroup/cpu,cpuacct/jobs/9/cpu.cfs_quota_us': '50000\n',
    '/sys/fs/cgroup/cpu,cpuacct/jobs/9/cpu.cfs_period_us': '100000\n',
  };
  t.like(await findCapacity(hostOf(files), {}, 8), { processors: 1, memory: 2 * gibibyte });
});

test('in a container whose group is named from outside, the mounted group counts', async (t) => {
  const found = await findCapacity(
    hostOf({
      ...plain,
      '/proc/self/cgroup': '0::/docker/77\n',
      '/proc/self/mountinfo': '29 23 0:26 /docker/77/inner /sys/fs/cgroup ro - cgroup2 cgroup rw\n',
      '/sys/fs/cgroup/memory.max': '1073741824\n',
    }),
    {},
    8,
  );
  t.is(found.memory, gibibyte);
});

test('what Slurm granted counts where it is less: memory for the node or for each processor, in MiB', async (t) => {
  const node = { SLURM_CPUS_ON_NODE: '4' };
  t.like(await findCapacity(hostOf(plain), { ...node, SLURM_MEM_PER_NODE: '8192' }, 8), {
    processors: 4,
    memory: 8 * gibibyte,
  });
  t.like(await findCapacity(hostOf(plain), { ...node, SLURM_MEM_PER_CPU: '1024' }, 8), { memory: 4 * gibibyte });
  t.like(await findCapacity(hostOf(plain), { SLURM_CPUS_ON_NODE: '128', SLURM_MEM_PER_NODE: '0' }, 8), {
    processors: 8,
    memory: 65536000 * 1024,
  });
  t.like(await findCapacity(hostOf(plain), { SLURM_CPUS_ON_NODE: 'many', SLURM_MEM_PER_NODE: '-1' }, 8), {
    processors: 8,
  });
});

test('a host that says nothing offers what the system library found, and no memory', async (t) => {
  t.deepEqual(await findCapacity(hostOf({}), {}, 3), {
    processorIds: [],
    processors: 3,
    granted: 3,
    memory: 0,
    gpus: [],
  });
});

test('an agent that offers a part of the processors has that part of the memory', (t) => {
  const found = { processorIds: [], processors: 1, granted: 8, memory: 1000, gpus: [] };
  t.is(shareMemory(found, 2), 250);
  t.is(shareMemory(found, 8), 1000);
  t.is(shareMemory(found, 16), 1000);
});
