import { sayReason } from '@mutirao/api/reasons';
import test from 'ava';
import { findSpecFault } from '@mutirao/core/machines/broker';
import type { JobSpec, OutputSpec, TaskGroup } from '@mutirao/core/messages';
import { aGroup, aJob, aReservation } from '@mutirao/testkit';

const input = { source: { kind: 'path', path: 'a' }, root: 'playpen', path: 'a', condition: '' } as const;
const output = { root: 'storage', path: 'o', localPath: '/o', condition: '' } as const;

function withGroup(changes: Partial<TaskGroup>): JobSpec {
  return aJob(1, { groups: [aGroup(1, changes)] });
}

const refused: readonly (readonly [string, JobSpec, RegExp])[] = [
  ['no groups', aJob(1, { groups: [] }), /no task groups; expected at least one/],
  [
    'a group without tasks',
    aJob(1, { groups: [aGroup(1), aGroup(0)] }),
    /task group 1 has 0 tasks; expected at least one/,
  ],
  ['an empty list of values', withGroup({ values: { kind: 'list', values: [] } }), /has 0 tasks/],
  [
    'too many tasks',
    aJob(1, { groups: [aGroup(2 ** 31), aGroup(1)] }),
    /2147483649 tasks; expected at most 2147483648/,
  ],
  ['half a task', aJob(1.5), /1.5 tasks/],
  ['a step of 0', withGroup({ values: { kind: 'range', first: 1, count: 2, step: 0 } }), /steps of 0/],
  ['no processors', aJob(1, { processors: 0 }), /processors is 0; expected an integer in 1\.\./],
  ['no replicas', aJob(1, { replicasMax: 0 }), /replicas_max is 0; expected an integer in 1\.\.16/],
  ['too many failures', aJob(1, { failuresMax: 101 }), /failures_max is 101; expected an integer in 1\.\.100/],
  [
    'limits below nothing',
    aJob(1, { limits: { runTimeMax: -1, memoryMax: 0, outputMax: 0 } }),
    /run_time_ms_max is -1/,
  ],
  ['an empty command', withGroup({ command: ' ' }), /command is empty/],
  ...[0, -1, 1.5, 16, NaN].map(
    (count) =>
      [
        `a vote of ${count}`,
        aJob(1, { verification: { kind: 'vote', count } }),
        /verification is vote:\S+; expected an integer in 1\.\.15/,
      ] as const,
  ),
  ...[0, 1, 1.5, -0.1, NaN, Infinity].map(
    (threshold) =>
      [
        `a credibility of ${threshold}`,
        aJob(1, { verification: { kind: 'credibility', threshold } }),
        /is credibility:\S+; expected a number above 0 and below 1/,
      ] as const,
  ),
  [
    'a credibility that nobody reaches',
    aJob(1, { verification: { kind: 'credibility', threshold: 0.9999999999 } }),
    /is credibility:0\.9999999999; expected at most 0\.99999999906\d+, which 15 unknown machines reach/,
  ],
  [
    'verification by checks that are not there',
    aJob(1, { verification: { kind: 'check' }, groups: [aGroup(1, { check: 'true' }), aGroup(1)] }),
    /task group 1 has no check; expected a check for every task/,
  ],
  [
    'a vote on what does nothing',
    aJob(1, { verification: { kind: 'vote', count: 3 }, groups: [aGroup(1, { noOp: true })] }),
    /task group 0 does nothing \(no-op\)/,
  ],
  [
    'the credibility of what does nothing',
    aJob(1, { verification: { kind: 'credibility', threshold: 0.9 }, groups: [aGroup(1, { noOp: true })] }),
    /does nothing/,
  ],
  ['a site selection that nobody knows', aJob(1, { siteSelection: 'best' }), /"best" begins with no strategy/],
  [
    'a site selection with an a above 1',
    aJob(1, { siteSelection: 'min-ct:2' }),
    /"min-ct:2" has the admissibility "2"; expected a number in 0\.\.1/,
  ],
  [
    'a site selection beside a plan',
    aJob(1, { siteSelection: 'min-ct', scheduler: 'plan' }),
    /site_selection is min-ct, but scheduler is plan, which chooses machines itself; expected one/,
  ],
  [
    'a site selection beside votes',
    aJob(1, { siteSelection: 'min-ct', verification: { kind: 'vote', count: 3 } }),
    /site_selection is min-ct, but verification is by vote/,
  ],
  [
    'a site selection beside a reservation',
    aJob(1, { siteSelection: 'min-ct', reservation: { ...aReservation('7:1000-5000x2'), after: 'wait' } }),
    /site_selection is min-ct, but the job has a reservation/,
  ],
  ['a value with a NUL', withGroup({ values: { kind: 'list', values: ['a', 'a\0b'] } }), /a value contains a NUL/],
  [
    'a value that would be code in arithmetic',
    withGroup({ command: 'echo $(({}))', values: { kind: 'list', values: ['1', 'a[$(x)]'] } }),
    /command: the value "a\[\$\(x\)\]" is not safe where \{\} stands: it is part of arithmetic/,
  ],
  [
    'a check whose quotes have no end',
    withGroup({ check: "test '{}" }),
    /check: no value can be put into the command safely, because it has a ' that is not closed/,
  ],
  ['a command with a NUL', withGroup({ command: 'a\0b' }), /NUL/],
];

for (const [what, spec, message] of refused) {
  test(`${what}: a spec is refused with what was found and wanted`, (t) => {
    const fault = findSpecFault(spec);
    t.is(fault?.code, 'MUT_BAD_REQUEST');
    t.regex(fault === undefined ? '' : sayReason(fault.fault), message);
  });
}

test('expressions that do not parse are refused wherever they stand', (t) => {
  const broken = 'mem >';
  const specs = [
    { requirements: broken },
    { inputs: [{ ...input, condition: broken }] },
    { outputs: [{ ...output, condition: broken }] },
  ];
  t.deepEqual(
    specs.map((changes) => findSpecFault(withGroup(changes))?.code),
    Array<'MUT_REQUIREMENTS_SYNTAX'>(3).fill('MUT_REQUIREMENTS_SYNTAX'),
  );
});

test('paths that leave their root are refused on either way', (t) => {
  const specs = [{ inputs: [{ ...input, path: 'a/../../b' }] }, { outputs: [{ ...output, path: '..' }] }];
  t.deepEqual(
    specs.map((changes) => findSpecFault(withGroup(changes))?.code),
    Array<'MUT_PATH_LEAVES_ROOT'>(2).fill('MUT_PATH_LEAVES_ROOT'),
  );
});

test('the most that a job may ask for is taken', (t) => {
  for (const count of [1, 2, 15]) t.is(findSpecFault(aJob(1, { verification: { kind: 'vote', count } })), undefined);
  for (const threshold of [0.0001, 0.9, 0.9999, 0.999999999])
    t.is(findSpecFault(aJob(1, { verification: { kind: 'credibility', threshold } })), undefined);
  t.is(
    findSpecFault(aJob(1, { groups: [aGroup(2 ** 31)], replicasMax: 16, failuresMax: 100, processors: 64 })),
    undefined,
  );
  t.is(
    findSpecFault(withGroup({ command: '', noOp: true, inputs: [input], outputs: [output], requirements: 'mem >= 1' })),
    undefined,
  );
});

const reader = (path: string): ReturnType<typeof aGroup> =>
  aGroup(1, { inputs: [{ source: { kind: 'output', taskIndex: 0, path }, root: 'playpen', path, condition: '' }] });
const writer = (changes: Partial<OutputSpec> = {}): ReturnType<typeof aGroup> =>
  aGroup(1, { outputs: [{ ...output, path: 'a', localPath: '', ...changes }] });
const edge = { from: 0, to: 1 };

const refusedEdges: readonly (readonly [what: string, spec: JobSpec, code: string, message: RegExp])[] = [
  [
    'a cycle',
    aJob(3, { edges: [edge, { from: 1, to: 2 }, { from: 2, to: 0 }] }),
    'MUT_WORKFLOW_CYCLE',
    /3 tasks wait for each other: 0 -> 1 -> 2 -> 0/,
  ],
  [
    'an edge to nowhere',
    aJob(2, { edges: [{ from: 0, to: 2 }] }),
    'MUT_WORKFLOW_DANGLING_EDGE',
    /names the task 2, which does not exist/,
  ],
  [
    'an edge that is twice there',
    aJob(2, { edges: [edge, edge] }),
    'MUT_WORKFLOW_DUPLICATE_EDGE',
    /two edges from 0 to 1/,
  ],
  [
    'a time that is no number',
    aJob(1, { groups: [aGroup(1), { ...aGroup(1), expectedTime: NaN }], edges: [edge] }),
    'MUT_WORKFLOW_COST',
    /expected_time_ms of task group 1 is NaN/,
  ],
  [
    'an output without an edge',
    aJob(1, { groups: [writer(), reader('a')] }),
    'MUT_WORKFLOW_NO_PRODUCER',
    /task 1 reads a of task 0, but no edge leads from there/,
  ],
  [
    'an output that nobody writes',
    aJob(1, { groups: [writer(), reader('b')], edges: [edge] }),
    'MUT_WORKFLOW_NO_PRODUCER',
    /task 1 reads b of task 0, which has no such output/,
  ],
  [
    'an output that may not be written',
    aJob(1, { groups: [writer({ condition: 'os == linux' }), reader('a')], edges: [edge] }),
    'MUT_WORKFLOW_NO_PRODUCER',
    /depend on the machine/,
  ],
  [
    'an output in an archive',
    aJob(1, { groups: [writer({ localPath: '/home/a' }), reader('a')], edges: [edge], gatherFolder: '/home' }),
    'MUT_WORKFLOW_NO_PRODUCER',
    /which goes into an archive/,
  ],
];

for (const [what, spec, code, message] of refusedEdges) {
  test(`${what}: a workflow is refused with its place`, (t) => {
    const fault = findSpecFault(spec);
    t.is(fault?.code, code);
    t.regex(fault === undefined ? '' : sayReason(fault.fault), message);
  });
}

test('a workflow whose tasks read what others write is taken', (t) => {
  t.is(findSpecFault(aJob(1, { groups: [writer(), reader('a')], edges: [edge] })), undefined);
  t.is(findSpecFault(aJob(1, { groups: [writer({ localPath: '/home/a' }), reader('a')], edges: [edge] })), undefined);
  t.is(
    findSpecFault(aJob(1, { groups: [writer({ localPath: '' }), reader('a')], edges: [edge], gatherFolder: '/home' })),
    undefined,
  );
});
