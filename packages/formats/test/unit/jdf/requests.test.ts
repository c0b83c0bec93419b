import test from 'ava';
import { jobDefaults, makeTaskGroup, parseJdf, printJdf, readJdf } from '@mutirao/formats';

// What tasks of a job file ask for of one machine: sections of their own, read as the options of the command line are.

const place = { file: 'a.jdf', directory: '/home/ana/jobs' };

function faults(...lines: string[]): string[] {
  return readJdf(lines.join('\n'), place).faults.map(({ message }) => message);
}

test('a task asks for processors, memory, GPUs and counted resources', (t) => {
  const text =
    'job:\ntask:\ncpus: 4 # threads\nmemory: 2GiB\ngpus: 0.5:A100\nresource: licence=2 scratch=1K node\nremote: work\n';
  t.like(parseJdf(text, place).job.groups[0], {
    processors: 4,
    resources: { memory: 2 ** 31, gpus: 500, gpuKind: 'a100', named: { licence: 2, scratch: 1024, node: 1 } },
  });
});

test('sections of the job are the defaults of its tasks, each on its own, and none takes one away', (t) => {
  const lines = ['job:', 'cpus: 2', 'memory: 1K', 'gpus: 1', 'resource: licence', 'remote: work'];
  const tasks = ['task:', 'memory: 2K', 'task:', 'cpus: none', 'memory: none', 'gpus: none', 'resource: none'];
  const { groups } = parseJdf([...lines, ...tasks].join('\n'), place).job;
  t.like(groups[0], { processors: 2, resources: { memory: 2048, gpus: 1000, named: { licence: 1 } } });
  t.is(groups[1]?.processors, 1);
  t.is(groups[1]?.resources, undefined);
});

test('a malformed request is refused at its place, with the nearest word', (t) => {
  t.deepEqual(faults('job:', 'task:', 'memroy: 4G', 'remote: work'), [
    'a.jdf:3:1: found "memroy", expected a section such as "remote:", "final:" or "task:"; did you mean memory?',
  ]);
  t.deepEqual(faults('job:', 'task:', 'memory: 4GiP', 'cpus: 0', 'gpus: 1.5', 'resource: a b=x', 'remote: work'), [
    'a.jdf:3:10: found "GiP", expected one of the units B, KiB, MiB, GiB, TiB, KB, MB, GB, TB, or none; did you mean GiB?',
    'a.jdf:4:7: found "0", expected a number of processors in 1..65536',
    'a.jdf:5:7: found "1.5", expected a whole number of GPUs, or a fraction of a single one',
    'a.jdf:6:13: found "x", expected a number with a unit, as in 64K or 2GiB',
  ]);
});

test('a section without a value, given twice, or with a resource twice is refused', (t) => {
  t.deepEqual(faults('job:', 'task:', 'gpus:', 'remote: work'), [
    'a.jdf:3:6: found the end of the line, expected a value on the line of "gpus:", or none',
  ]);
  t.deepEqual(faults('job:', 'task:', 'cpus: 1', 'cpus: 2', 'resource: a a', 'remote: work'), [
    'a.jdf:4:1: found a second "cpus:", expected one "cpus:" in each task',
    'a.jdf:5:13: found "a", expected each resource once, and a stands before',
  ]);
});

test('processors of one machine and those of a gang are not asked for together', (t) => {
  t.deepEqual(faults('job:', 'requirements: num_procs == 4', 'task:', 'cpus: 2', 'remote: work'), [
    'a.jdf:3:1: found "cpus:" with num_procs, expected only one of them in a job',
  ]);
  t.like(parseJdf('job:\nrequirements: num_procs == 4\nmemory: 1K\ntask:\nremote: work\n', place).job, {
    gang: true,
    groups: [{ resources: { memory: 1024 } }],
  });
});

test('requests are written and read back', (t) => {
  const group = {
    ...makeTaskGroup({ command: 'true', values: undefined }),
    processors: 3,
    resources: { memory: 5000, gpus: 250, gpuKind: 'h100', named: { licence: 2, scratch: 7 } },
  };
  const job = { ...jobDefaults, homeDirectory: '/h', groups: [group] };
  t.deepEqual(parseJdf(printJdf(job), { file: 'a.jdf', directory: '/h' }).job, job);
  const { processors: _processors, resources, ...plain } = group;
  const written = printJdf({ ...job, processors: 2, resources, groups: [plain] });
  t.regex(written, /task:\ncpus: 2\nmemory: 5000\ngpus: 0\.25:h100\nresource: licence=2 scratch=7\n/);
});
