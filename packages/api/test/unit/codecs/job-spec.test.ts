import test from 'ava';

import { decodeJobSpec, decodeSubmitJob, encodeJobSpec, taskCountMax } from '@mutirao/api/codecs';

import type { MutiraoError } from '@mutirao/api/errors';
import { schedulerNames } from '@mutirao/core/messages';

import { aClaim } from '@mutirao/testkit';
import {
  DependencyCondition,
  OnReservationEnd,
  JobSpec,
  type Scheduler,
  SubmitJobRequest,
  type TaskGroup,
} from '../../../src/generated/mutirao/broker/v1/broker.ts';
import { Root } from '../../../src/generated/mutirao/common/v1/common.ts';

const array: TaskGroup = {
  values: { $case: 'range', value: { first: 1, count: 10 } },
  command: 'echo {}',
  noOp: false,
  inputs: [],
  outputs: [],
  check: '',
  requirements: '',
  alternatives: [],
};

function deriveJob(group: Partial<TaskGroup>, rest: Partial<JobSpec> = {}): JobSpec {
  return {
    label: '',
    groups: [{ ...array, ...group }],
    environment: {},
    limits: undefined,
    homeDirectory: '',
    edges: [],
    ...rest,
  };
}

test('what a job leaves out is filled in', (t) => {
  const { clientJobId, spec } = decodeSubmitJob({ job: deriveJob({}), clientJobId: 'k1' });
  t.is(clientJobId, 'k1');
  t.like(spec, {
    processors: 1,
    replicasMax: 2,
    failuresMax: 3,
    deadline: undefined,
    scheduler: 'wqr',
    replicationCap: { kind: 'none' },
    limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
  });
  t.deepEqual(spec.groups[0]?.values, { kind: 'range', first: 1, count: 10, step: 1 });
});

test('a job comes back from the wire as it went', (t) => {
  const content = { sha256: Buffer.alloc(32, 7), sizeBytes: 12 };
  const wire = deriveJob(
    {
      values: { $case: 'list', value: { values: ['a', 'b c'] } },
      inputs: [
        {
          source: { source: { $case: 'localPath', value: 'in/{}.txt' } },
          root: Root.PLAYPEN,
          path: 'in.txt',
          condition: 'os == linux',
        },
        { source: { source: { $case: 'content', value: content } }, root: Root.STORAGE, path: 'tool', condition: '' },
      ],
      outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: 'results/{#}', condition: '' }],
      check: 'test -s results/{#}',
      requirements: 'mem >= 512',
    },
    {
      label: 'sweep',
      environment: { MODE: 'fast' },
      processors: 2,
      replicasMax: 1,
      failuresMax: 5,
      failedTasksMax: 7,
      runningMax: 20,
      priority: -3,
      held: true,
      after: {
        jobs: [
          { jobId: 3, condition: DependencyCondition.SUCCEEDED },
          { jobId: 4, condition: DependencyCondition.EACH },
        ],
      },
      beginUnixMs: 1000,
      expireUnixMs: 9000,
      memoryGrowth: 1.5,
      homeDirectory: '/home/ana',
      deadlineUnixMs: 5000,
    },
  );
  const spec = decodeJobSpec(wire);
  const sent = JobSpec.decode(JobSpec.encode(encodeJobSpec(spec)).finish());
  t.deepEqual(decodeJobSpec(sent), spec);
  t.like(spec, { failedTasksMax: 7, memoryGrowth: 1.5, runningMax: 20, priority: -3, isHeld: true });
  t.deepEqual(spec.after, [
    { jobId: 3, condition: 'succeeded' },
    { jobId: 4, condition: 'each' },
  ]);
  t.like(spec, { beginAt: 1000, expireAt: 9000 });
  t.is(spec.groups[0]?.inputs[1]?.source.kind, 'content');
});

test('scheduler and cap come back from the wire as they went', (t) => {
  for (const scheduler of schedulerNames) {
    for (const replicationCap of [
      { kind: 'none' },
      { kind: 'idle' },
      { kind: 'share', percent: 0 },
      { kind: 'share', percent: 20 },
    ] as const) {
      const spec = { ...decodeJobSpec(deriveJob({})), scheduler, replicationCap };
      t.deepEqual(decodeJobSpec(JobSpec.decode(JobSpec.encode(encodeJobSpec(spec)).finish())), spec);
    }
  }
});

test('a site selection survives the wire, and an empty one means none', (t) => {
  for (const siteSelection of ['none', 'random', 'min-ct:0.5', 'min-wwt:adaptive']) {
    const spec = { ...decodeJobSpec(deriveJob({})), siteSelection };
    t.deepEqual(decodeJobSpec(JobSpec.decode(JobSpec.encode(encodeJobSpec(spec)).finish())), spec);
  }
  t.deepEqual(decodeJobSpec(deriveJob({}, { siteSelection: '' })), decodeJobSpec(deriveJob({})));
});

const refused: readonly (readonly [string, JobSpec, RegExp])[] = [
  ['a job without tasks', { ...deriveJob({}), groups: [] }, /no tasks/],
  ['a group without values', deriveJob({ values: undefined }), /groups\[0\] has no values/],
  ['an empty list', deriveJob({ values: { $case: 'list', value: { values: [] } } }), /has 0 values/],
  ['an empty range', deriveJob({ values: { $case: 'range', value: { first: 1, count: 0 } } }), /count is 0/],
  [
    'a range that stands still',
    deriveJob({ values: { $case: 'range', value: { first: 1, count: 2, step: 0 } } }),
    /step is 0/,
  ],
  [
    'a range that runs past what a number holds',
    deriveJob({ values: { $case: 'range', value: { first: 9e15, count: 1000, step: 1e13 } } }),
    /safe integer/,
  ],
  [
    'too many tasks',
    {
      ...deriveJob({}),
      groups: Array.from({ length: 2 }, () => ({
        ...array,
        values: { $case: 'range', value: { first: 1, count: taskCountMax } } as const,
      })),
    },
    /expected at most/,
  ],
  ['a task without a command', deriveJob({ command: '' }), /command is empty/],
  [
    'a root that nobody knows',
    deriveJob({ outputs: [{ root: 9 as Root, path: 'x', localPath: '', condition: '' }] }),
    /root is 9/,
  ],
  [
    'an input from nowhere',
    deriveJob({ inputs: [{ source: undefined, root: Root.PLAYPEN, path: 'x', condition: '' }] }),
    /source is absent/,
  ],
  [
    'a hash that is too short',
    deriveJob({
      inputs: [
        {
          source: { source: { $case: 'content', value: { sha256: Buffer.alloc(4), sizeBytes: 1 } } },
          root: Root.PLAYPEN,
          path: 'x',
          condition: '',
        },
      ],
    }),
    /4 bytes; expected 32/,
  ],
  ['no replicas', deriveJob({}, { replicasMax: 0 }), /replicas_max is 0; expected an integer in 1\.\.16/],
  [
    'an unknown condition',
    deriveJob({}, { after: { jobs: [{ jobId: 3, condition: 9 as DependencyCondition }] } }),
    /after\[0\]\.condition is 9; expected 1 to 5/,
  ],
  ['a beginning that never comes', deriveJob({}, { beginUnixMs: 2 ** 53 - 1 }), /job\.begin_unix_ms is 9007/],
  ['no task at once', deriveJob({}, { runningMax: 0 }), /running_max is 0/],
  ['too low a priority', deriveJob({}, { priority: -1001 }), /priority is -1001/],
  ['no failed task at all', deriveJob({}, { failedTasksMax: 0 }), /failed_tasks_max is 0/],
  ['no more memory than before', deriveJob({}, { memoryGrowth: 1 }), /memory_growth is 1; expected 1\.1 to 16/],
  ['too many failures', deriveJob({}, { failuresMax: 101 }), /failures_max is 101/],
  ['a half processor', deriveJob({}, { processors: 0 }), /processors is 0/],
  [
    'a scheduler that nobody knows',
    deriveJob({}, { scheduler: 9 as Scheduler }),
    /scheduler is 9; expected one of wqr, workqueue/,
  ],
  [
    'a cap beyond all measure',
    deriveJob({}, { replicationCap: { cap: { $case: 'replicationBudgetPercent', value: 1001 } } }),
    /replication_budget_percent is 1001; expected an integer in 0\.\.1000/,
  ],
  [
    'a site selection by a strategy that nobody knows',
    deriveJob({}, { siteSelection: 'min-cost:0.5' }),
    /job\.site_selection "min-cost:0\.5" begins with no strategy/,
  ],
  [
    'a site selection with an a below 0',
    deriveJob({}, { siteSelection: 'min-ct:-0.5' }),
    /job\.site_selection .* has the admissibility "-0\.5"; expected a number in 0\.\.1/,
  ],
  ['a strange name in the environment', deriveJob({}, { environment: { 'A=B': 'c' } }), /"A=B"/],
  [
    'a vote of none',
    deriveJob({}, { verification: { by: { $case: 'vote', value: 0 } } }),
    /verification\.vote is 0; expected an integer in 1\.\.15/,
  ],
  [
    'a vote of too many',
    deriveJob({}, { verification: { by: { $case: 'vote', value: 16 } } }),
    /verification\.vote is 16/,
  ],
  [
    'a verification by nothing',
    deriveJob({}, { verification: { by: undefined } }),
    /expected none, check, vote or credibility/,
  ],
  ['gathering nowhere', deriveJob({}, { gathering: { folder: '' } }), /gathering\.folder is empty; expected a folder/],
  ['a NUL in a command', deriveJob({ command: 'a\0b' }), /NUL/],
];

for (const [what, wire, message] of refused) {
  test(`${what} is refused`, (t) => {
    t.throws(() => decodeJobSpec(wire), { code: 'MUT_BAD_REQUEST', message });
  });
}

test('each way to verify results survives the wire, and a job without one has none', (t) => {
  for (const verification of [
    { kind: 'none' },
    { kind: 'check' },
    { kind: 'vote', count: 15 },
    { kind: 'credibility', threshold: 0.9 },
  ] as const) {
    const wire = encodeJobSpec({ ...decodeJobSpec(deriveJob({})), verification });
    t.deepEqual(decodeJobSpec(JobSpec.decode(JobSpec.encode(wire).finish())).verification, verification);
  }
  t.is(decodeJobSpec(deriveJob({})).verification, undefined);
});

test('where outputs are gathered comes back from the wire as it went, and is left out where they are not', (t) => {
  const wire = encodeJobSpec(decodeJobSpec(deriveJob({}, { gathering: { folder: 'results' } })));
  t.is(decodeJobSpec(JobSpec.decode(JobSpec.encode(wire).finish())).gatherFolder, 'results');
  t.false('gatherFolder' in decodeJobSpec(deriveJob({})));
});

test('a path that leaves its root on the machine is refused by name', (t) => {
  const group = { outputs: [{ root: Root.PLAYPEN, path: 'a/../../b', localPath: '', condition: '' }] };
  t.throws(() => decodeJobSpec(deriveJob(group)), {
    code: 'MUT_PATH_ESCAPES',
    message: /groups\[0\]\.outputs\[0\]\.path is "a\/\.\.\/\.\.\/b"/,
  });
});

test('a submission without a job is refused', (t) => {
  t.throws(() => decodeSubmitJob(SubmitJobRequest.decode(Buffer.alloc(0))), {
    code: 'MUT_BAD_REQUEST',
    message: /job is absent/,
  });
});

test('a job inside a reservation says what its claim says, and what becomes of what is left', (t) => {
  const claim = aClaim();
  const said = {
    claim,
    reservationId: 7,
    revision: 1,
    resourceId: 'alpha',
    userId: 'ana',
    startsAt: 1000,
    endsAt: 5000,
    amount: 2,
    units: [0, 1],
  };
  t.deepEqual(
    decodeJobSpec(deriveJob({}, { reservation: { claim, after: OnReservationEnd.UNSPECIFIED } })).reservation,
    {
      ...said,
      after: 'continue',
    },
  );
  for (const after of ['continue', 'wait'] as const) {
    const spec = { ...decodeJobSpec(deriveJob({})), reservation: { ...said, after } };
    t.deepEqual(decodeJobSpec(JobSpec.decode(JobSpec.encode(encodeJobSpec(spec)).finish())), spec);
  }
  t.throws(() => decodeJobSpec(deriveJob({}, { reservation: { claim, after: 7 as OnReservationEnd } })), {
    code: 'MUT_BAD_REQUEST',
  });
  for (const text of ['', 'abc', 'a.b.c', aClaim({ jti: 'seven' }), `${claim}.x`]) {
    t.throws(
      () => decodeJobSpec(deriveJob({}, { reservation: { claim: text, after: 1 } })),
      { code: 'MUT_CLAIM_FORGED' },
      text,
    );
  }
});

test('a workflow comes back from the wire as it went, and a bag says nothing of edges', (t) => {
  const output = {
    source: { source: { $case: 'output' as const, value: { taskIndex: 0, path: 'a.dat' } } },
    root: Root.PLAYPEN,
    path: 'in.dat',
    condition: '',
  };
  const spec = decodeJobSpec(
    deriveJob(
      { inputs: [output], expectedTimeMs: 1500 },
      {
        edges: [
          { from: 0, to: 1, dataBytes: 0 },
          { from: 1, to: 9, dataBytes: 2000 },
        ],
      },
    ),
  );
  t.deepEqual(spec.edges, [
    { from: 0, to: 1 },
    { from: 1, to: 9, data: 2000 },
  ]);
  t.like(spec.groups[0], { expectedTime: 1500, inputs: [{ source: { kind: 'output', taskIndex: 0, path: 'a.dat' } }] });
  t.deepEqual(decodeJobSpec(JobSpec.decode(JobSpec.encode(encodeJobSpec(spec)).finish())), spec);
  t.false('edges' in decodeJobSpec(deriveJob({})));
  t.false('expectedTime' in (decodeJobSpec(deriveJob({})).groups[0] ?? {}));
});

test('an edge to a task that the job does not have is refused with its place', (t) => {
  const error = t.throws<MutiraoError>(() =>
    decodeJobSpec(
      deriveJob(
        {},
        {
          edges: [
            { from: 0, to: 1, dataBytes: 0 },
            { from: 3, to: 10, dataBytes: 0 },
          ],
        },
      ),
    ),
  );
  t.is(error.code, 'MUT_WORKFLOW_DANGLING_EDGE');
  t.is(error.message, 'job.edges[1] leads from task 3 to task 10; the job has 10 tasks, from 0 on');
});
