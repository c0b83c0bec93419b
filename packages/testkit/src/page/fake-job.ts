import { Prng } from '@mutirao/core/shared';
import type { Failures, Gantt, JobGraph, Task, TaskOutput, TaskPage, TaskTimes } from '@mutirao/web/schema';

const kinds = ['inputs', 'outputs', 'accepted', 'loser', 'failed', 'killed', 'lost', 'running'];

/** The index of a kind: most runs are accepted, some are losers, failed or lost. */
function kindDrawn(drawn: number): number {
  return drawn < 88 ? 2 : drawn < 93 ? 3 : drawn < 96 ? 4 : 6;
}

/** What was where when in a faked job of a faked grid. */
export function fakeGantt(jobId: number, from: number, machineCount: number): Gantt {
  const prng = new Prng('the bars of a job');
  const bars = {
    row: [] as number[],
    start_unix_ms: [] as number[],
    end_unix_ms: [] as number[],
    kind: [] as number[],
    task_index: [] as number[],
    replica_id: [] as number[],
  };
  const rows = Array.from({ length: Math.min(machineCount, 60) }, (_, index) => ({
    machine_id: `${index < 40 ? 'alpha' : 'lab'}-n${String(index + 1).padStart(3, '0')}`,
    provider_id: index < 40 ? 'alpha' : 'lab',
  }));
  const until = from + 3_600_000;
  rows.forEach((_, row) => {
    let at = from + (prng.word() % 60_000) + (row > 40 ? 0 : 300_000 * (row % 3));
    while (at < until - 60_000) {
      const took = 50_000 + (prng.word() % 90_000) + (prng.word() % 40 === 0 ? 400_000 : 0);
      const drawn = prng.word() % 100;
      const kind = kindDrawn(drawn);
      for (const [start, end, one] of [
        [at - 5000, at + 3000, 0],
        [at + 3000, Math.min(until, at + took), at + took > until ? 7 : kind],
        [at + took, at + took + 4000, 1],
      ] as const) {
        if (end > until && one !== 7) continue;
        bars.row.push(row);
        bars.start_unix_ms.push(start);
        bars.end_unix_ms.push(end);
        bars.kind.push(one);
        bars.task_index.push(Math.floor(bars.row.length / 3));
        bars.replica_id.push(bars.row.length);
      }
      at += took + 5000;
    }
  });
  return {
    job_id: jobId,
    from_unix_ms: from,
    until_unix_ms: until,
    job_from_unix_ms: from,
    job_until_unix_ms: until,
    kinds,
    rows,
    rows_left_out: 0,
    bars,
    cells: null,
    bin_ms: 60_000,
    read_task_count: 500,
    task_count: 500,
  };
}

/** How long tasks of a faked job took. */
export function fakeTimes(jobId: number): TaskTimes {
  return {
    job_id: jobId,
    count: 1704,
    mean_ms: 92_000,
    ms_max: 540_000,
    quantiles: [0.1, 0.25, 0.5, 0.75, 0.9, 0.99].map((share) => ({
      share,
      ms_max: Math.round(45_000 + 100_000 * share ** 2),
    })),
    bins: Array.from({ length: 40 }, (_, index) => ({
      from_ms: index * 5000,
      until_ms: (index + 1) * 5000,
      accepted: Math.round(160 * Math.exp(-(((index - 17) / 6) ** 2))),
      other: index % 9 === 0 ? 3 : 0,
    })),
    stragglers: Array.from({ length: 9 }, (_, index) => ({
      task_index: 77 + index * 31,
      machine_id: `alpha-n${String(index * 3 + 7).padStart(3, '0')}`,
      replica_id: 900 + index,
      took_ms: 540_000 - index * 31_000,
      is_running: index === 0,
      times_half: Math.round((6.1 - index * 0.35) * 10) / 10,
      started_unix_ms: 1_700_000_000_000 + index * 60_000,
      failures_before: index % 4 === 2 ? 1 : 0,
      why:
        index % 3 === 0
          ? 'Other runs on this machine take 1 min 32 s: it is the task itself, or what else ran there just then.'
          : 'Its outputs took 3 min 10 s to come home; its command took 1 min 31 s.',
    })),
    straggler_count: 23,
    by_machine: Array.from({ length: 8 }, (_, index) => ({
      machine_id: `lab-n00${index + 1}`,
      count: 40 - index,
      mean_ms: 141_000 - index * 6000,
      half_ms: 138_000 - index * 6000,
    })),
    read_task_count: 1251,
    task_count: 1251,
  };
}

/** What went wrong in a faked job, with what nobody may take for markup. */
export function fakeFailures(jobId: number): Failures {
  return {
    job_id: jobId,
    replica_count: 14,
    lost_count: 3,
    causes_left_out: 0,
    read_task_count: 1251,
    task_count: 1251,
    groups: [
      {
        cause: 'exit status 2',
        advice: '',
        outcome: 'failed',
        exit_status: 2,
        reason: '',
        detail: null,
        is_loss: false,
        replica_count: 14,
        task_count: 6,
        given_up_count: 4,
        task_indexes: [3, 77, 108, 240, 388, 412],
        task_values: [3, 77, 108, 240, 388, 412].map((index) => `ligand-${index}`),
        machines: [
          { machine_id: 'alpha-n007', count: 11 },
          { machine_id: 'lab-n002', count: 3 },
        ],
        sample: {
          task_index: 3,
          replica_id: 31,
          standard_output: 'reading ligand 3\n',
          standard_error: 'dock: <img src=x onerror="document.title=1"> is not an atom\ndock: giving up\n',
        },
      },
      {
        cause: 'The allocation reached its walltime; its tasks run again elsewhere.',
        advice: '',
        outcome: 'limited',
        exit_status: 0,
        reason: 'MUT_WALLTIME_ENDED',
        detail: { code: '', parameters: {}, text: 'alpha/q1' },
        is_loss: true,
        replica_count: 3,
        task_count: 3,
        given_up_count: 0,
        task_indexes: [500, 501, 502],
        task_values: [500, 501, 502].map((index) => `ligand-${index}`),
        machines: [{ machine_id: 'alpha-n031', count: 3 }],
        sample: null,
      },
    ],
  };
}

/** The graph of a faked workflow of 20 tasks in a few levels, half of it done. */
export function fakeGraph(jobId: number, from: number): JobGraph {
  const count = 20;
  const edges = { from: [] as number[], to: [] as number[] };
  for (let task = 4; task < count; task += 1)
    for (const before of [task - 4, task - 3]) {
      edges.from.push(before);
      edges.to.push(task);
    }
  const status = Array.from({ length: count }, (_, index) => (index < 7 ? 4 : index < 10 ? 2 : 0));
  return {
    job_id: jobId,
    task_count: count,
    statuses: ['waiting', 'ready', 'running', 'verifying', 'finished', 'failed', 'cancelled'],
    edges,
    edges_left_out: 0,
    read_task_count: count,
    tasks: {
      value: status.map((_, index) => `tile-${index}`),
      status,
      machine_id: status.map((one, index) => (one === 0 ? '' : `alpha-n00${index % 5}`)),
      started_unix_ms: status.map((one) => (one === 0 ? 0 : from)),
      ended_unix_ms: status.map((one) => (one === 4 ? from + 90_000 : 0)),
    },
  };
}

/** A task of a faked job. */
export function fakeTask(jobId: number, taskIndex: number, now: number): Task {
  const task = finishedTask(jobId, taskIndex, now);
  const status = fakeStatus(taskIndex);
  return status === 'running' ? withRuns({ ...task, status }) : task;
}

function finishedTask(jobId: number, taskIndex: number, now: number): Task {
  return {
    job_id: jobId,
    task_index: taskIndex,
    value: `ligand-${taskIndex}`,
    status: 'finished',
    failure_count: 1,
    waits_for: [],
    reused_from: null,
    replicas: [
      {
        replica_id: 31,
        machine_id: 'alpha-n007',
        request_id: 'alpha/q1',
        dispatched_unix_ms: now - 400_000,
        started_unix_ms: now - 390_000,
        ended_unix_ms: now - 300_000,
        outcome: 'failed',
        exit_status: 2,
        accepted: false,
        is_withdrawn: false,
        reason: '',
        detail: null,
      },
      {
        replica_id: 88,
        machine_id: 'lab-n002',
        request_id: '',
        dispatched_unix_ms: now - 280_000,
        started_unix_ms: now - 279_000,
        ended_unix_ms: now - 180_000,
        outcome: 'succeeded',
        exit_status: 0,
        accepted: true,
        is_withdrawn: false,
        reason: '',
        detail: null,
      },
    ],
  };
}

/** Tasks of a faked job by index: of 100 each, 60 finished, one failed, and the rest as the status of it says. */
export function fakeTasks(jobId: number, taskCount: number, asked: URLSearchParams, now: number): TaskPage {
  const word = (name: string): string => asked.get(name) ?? '';
  const [from, size] = [Number(word('from_task_index')), Number(word('page_size')) || 100];
  const [status, search] = [word('status'), word('search').toLowerCase()];
  const tasks: Task[] = [];
  let index = from;
  for (; index < taskCount && tasks.length < size; index += 1) {
    const task = { ...finishedTask(jobId, index, now), status: fakeStatus(index) };
    if ((status || task.status) === task.status && (task.value.includes(search) || search === `#${index}`))
      tasks.push(withRuns(task));
  }
  return { tasks, next_task_index: index < taskCount ? index : null };
}

function fakeStatus(index: number): Task['status'] {
  const place = index % 100;
  return place === 3 ? 'failed' : place < 60 ? 'finished' : place < 70 ? 'running' : 'ready';
}

/** With the runs that its status allows. */
function withRuns(task: Task): Task {
  const [first, second] = task.replicas;
  if (first === undefined || second === undefined || task.status === 'ready') return { ...task, replicas: [] };
  if (task.status === 'failed') return { ...task, replicas: [first] };
  if (task.status === 'finished') return { ...task, replicas: [second] };
  return { ...task, replicas: [{ ...second, ended_unix_ms: null, outcome: '', accepted: false }] };
}

/** What a faked task printed. */
export function fakeOutput(jobId: number, taskIndex: number): TaskOutput {
  return {
    job_id: jobId,
    task_index: taskIndex,
    replica_id: 88,
    standard_output: `reading ligand ${taskIndex}\n<script>document.title = "hacked"</script>\nenergy -7.31\n`,
    standard_error: '',
    is_cut: false,
    files: [
      {
        path: `out-${taskIndex}.pdb`,
        local_path: `/home/rosa/docking/out-${taskIndex}.pdb`,
        size_bytes: 84_211,
        sha256: 'a'.repeat(64),
        gathered_in: null,
      },
    ],
  };
}
