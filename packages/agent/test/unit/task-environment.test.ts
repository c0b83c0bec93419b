import path from 'node:path';
import test from 'ava';
import type { ReplicaStart, TaskTemplate } from '@mutirao/core/messages';
import { baseEnvironment, TaskRenderer, type RenderedReplica } from '../../src/task-environment.ts';

const template: TaskTemplate = {
  jobId: 5,
  userId: 'ana',
  command: '/bin/work {} {#}',
  noOp: false,
  environment: {},
  limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
  processors: 1,
};
const start: ReplicaStart = { replicaId: 1, taskIndex: 7, value: 'v', inputs: [], outputs: [] };
const replica: RenderedReplica = { template, start, assignment: undefined };
const folders = { playpen: '/p', storage: '/s' };
const renderer = new TaskRenderer('/usr/bin:/bin');

test("a plain line becomes a simple command with the task's variables before it", (t) => {
  t.deepEqual(renderer.render({ ...replica, template, start }, folders), {
    line: '/bin/work v 7',
    command: '/bin/work v 7',
    environment: 'MUTIRAO_CPUS=1 OMP_NUM_THREADS=1 JOB=5 TASK=7',
    exports: `PLAYPEN=/p STORAGE=/s PATH=/usr/bin:/bin:/s:/p:.:${path.dirname(process.execPath)}`,
  });
});

test('a value with a meaning to the shell is one word of a line for /bin/sh', (t) => {
  const { line, command } = renderer.render({ ...replica, template, start: { ...start, value: 'a; b' } }, folders);
  t.is(line, `/bin/work 'a; b' 7`);
  t.is(command, `/bin/sh -c '/bin/work '\\''a; b'\\'' 7'`);
});

test("the job's own variables come first, so that they do not hide the task's", (t) => {
  const content = { sha256: 'a'.repeat(64), size: 1 };
  const withFiles: ReplicaStart = {
    ...start,
    inputs: [
      { root: 'playpen', path: 'in 1', content, mode: 0o600 },
      { root: 'storage', path: 'two', content, mode: 0o600 },
    ],
    outputs: [{ root: 'playpen', path: 'out' }],
  };
  const { environment } = renderer.render(
    { ...replica, template: { ...template, environment: { JOB: 'mine', NOTE: 'x y' } }, start: withFiles },
    folders,
  );
  t.is(
    environment,
    `JOB=mine NOTE='x y' INPUTFILES='in 1:two' OUTPUTFILES=out MUTIRAO_CPUS=1 OMP_NUM_THREADS=1 JOB=5 TASK=7`,
  );
});

test('a task finds in its environment what it may use, and keeps a number of threads that its job sets', (t) => {
  const resources = { memory: 2 ** 30, gpus: 2000, named: {} };
  const wide = { ...template, processors: 4, resources };
  const capacity = {
    memory: 2 ** 33,
    gpus: [
      { id: '0', kind: 't4' },
      { id: 'GPU-77', kind: 'a100' },
      { id: 'amd:1', kind: 'gfx90a' },
    ],
    named: {},
  };
  const render = (parts: Partial<RenderedReplica>): string =>
    new TaskRenderer('/usr/bin', capacity).render({ ...replica, template: wide, ...parts }, folders).environment;
  const hold = (...devices: readonly number[]): Pick<RenderedReplica, 'assignment'> => ({
    assignment: { memory: 2 ** 30, devices: devices.map((deviceIndex) => ({ deviceIndex, share: 1000 })), named: {} },
  });
  t.is(render({}), 'MUTIRAO_CPUS=4 MUTIRAO_MEMORY_BYTES=1073741824 OMP_NUM_THREADS=4 JOB=5 TASK=7');
  t.true(
    render(hold(0, 1)).startsWith(
      "MUTIRAO_GPUS=0,GPU-77 CUDA_VISIBLE_DEVICES=0,GPU-77 ROCR_VISIBLE_DEVICES='' CUDA_DEVICE_ORDER=PCI_BUS_ID ",
    ),
    render(hold(0, 1)),
  );
  t.true(render(hold(2)).startsWith("MUTIRAO_GPUS=1 CUDA_VISIBLE_DEVICES='' ROCR_VISIBLE_DEVICES=1 MUTIRAO_CPUS=4"));
  const own = { CUDA_VISIBLE_DEVICES: '7', OMP_NUM_THREADS: '2' };
  const environment = render({ ...hold(0), template: { ...wide, environment: own } });
  t.false(environment.includes('OMP_NUM_THREADS=4'), environment);
  t.true(
    environment.lastIndexOf('CUDA_VISIBLE_DEVICES=0') > environment.indexOf('CUDA_VISIBLE_DEVICES=7'),
    environment,
  );
});

test("tasks see our environment without Mutirao's, the machine's attributes, and PROC", (t) => {
  const own = { HOME: '/h', MUTIRAO_CREDENTIAL: 'secret', PATH: '/bin', 'BASH_FUNC_x%%': 'y' };
  t.deepEqual(baseEnvironment(own, { os: 'linux', PATH: '/evil', 'not a name': 'x' }, 'lab/pc'), {
    HOME: '/h',
    PATH: '/bin',
    os: 'linux',
    PROC: 'lab/pc',
  });
  t.is(baseEnvironment({}, { username: 'u', servername: 's' }, 'lab/pc')['PROC'], 'u@s');
});

test("tasks see nothing of the manager's job that their agent runs in, but where the manager is", (t) => {
  const kept = {
    PATH: '/bin',
    SLURM_CONF: '/etc/slurm.conf',
    CUDA_VISIBLE_DEVICES: '1',
    OMPI_MCA_btl: '^vader',
    I_MPI_PMI_LIBRARY: '/lib/libpmi2.so',
    LSF_ENVDIR: '/lsf',
    JOB_NAME: 'mine',
    QUEUE: 'mine',
    PBS_SERVER: 'head',
    TMPDIR: '/scratch/17',
    FLUX_URI: 'local:///x',
  };
  const dropped = {
    SLURM_JOB_ID: '17',
    SLURM_PROCID: '3',
    SLURM_CPU_BIND: 'x',
    SLURMD_NODENAME: 'n1',
    SBATCH_EXPORT: 'x',
    SRUN_DEBUG: '3',
    PMI_RANK: '0',
    PMI2_RANK: '0',
    PMIX_RANK: '0',
    PMIX_SERVER_URI2: 'x',
    OMPI_COMM_WORLD_RANK: '0',
    OMPI_MCA_ess: 'pmi',
    OMPI_MCA_orte_ess_num_procs: '4',
    PRTE_LAUNCHED: '1',
    HYDI_CONTROL_FD: '7',
    MPI_LOCALRANKID: '0',
    PBS_JOBID: '1',
    PBS_NODEFILE: '/n',
    LSB_JOBID: '1',
    LSB_HOSTS: 'a',
    LS_SUBCWD: '/',
    OAR_NODEFILE: '/n',
    COBALT_JOBID: '1',
    ALPS_APP_ID: '1',
    FLUX_JOB_ID: 'f1',
    PALS_RANKID: '0',
  };
  t.deepEqual(baseEnvironment({ ...kept, ...dropped }, {}, 'site/q1.0'), { ...kept, PROC: 'site/q1.0' });
  const gridEngine = {
    SGE_TASK_ID: 'undefined',
    JOB_ID: '5',
    JOB_NAME: 'x',
    NSLOTS: '4',
    PE: 'mpi',
    PE_HOSTFILE: '/h',
    QUEUE: 'all.q',
    REQUEST: 'x',
    ARC: 'lx-amd64',
  };
  t.deepEqual(baseEnvironment({ ...gridEngine, SGE_ROOT: '/sge', SGE_CELL: 'default' }, {}, 'x'), {
    SGE_ROOT: '/sge',
    SGE_CELL: 'default',
    PROC: 'x',
  });
});

test('a program is looked for on the PATH that its task has', (t) => {
  t.is(
    renderer.render({ ...replica, template: { ...template, command: 'ls -l' }, start }, folders).command,
    '/usr/bin/ls -l',
  );
  t.is(
    renderer.render(
      { ...replica, template: { ...template, command: 'ls -l', environment: { PATH: '/opt/mine' } }, start },
      folders,
    ).command,
    "/bin/sh -c 'ls -l'",
  );
});
