// WfFormat as WfCommons publishes it, in all its versions, and what is written in it.
import test from 'ava';
import { Compile } from 'typebox/compile';
import { FormatError } from '@mutirao/formats';
import {
  convertWorkflow,
  makeWorkflowJob,
  parseWorkflow,
  type DocumentTask,
  type WorkflowDocument,
} from '@mutirao/formats/workflow';

const options = { directory: '/home/ana/w' };

function getFault(text: string): string {
  try {
    makeWorkflowJob(parseWorkflow(text, 'f'), options);
    return 'nothing';
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

interface Parts {
  readonly version?: string;
  readonly system?: string;
  readonly specification?: object;
  readonly runs?: readonly object[];
}

const two = {
  tasks: [
    { name: 'make', id: 'a', parents: [], children: ['b'], inputFiles: [], outputFiles: ['x', 'x'] },
    { name: 'use', id: 'b', parents: ['a', 'a'], children: [], inputFiles: ['x'], outputFiles: ['y'] },
  ],
  files: [
    { id: 'x', sizeInBytes: 700 },
    { id: 'y', sizeInBytes: 1 },
  ],
};

const findText = ({ version = '1.6', system, specification = two, runs }: Parts): string =>
  JSON.stringify(
    {
      name: 'w',
      schemaVersion: version,
      ...(system === undefined ? {} : { runtimeSystem: { name: system, version: '1' } }),
      workflow: {
        specification,
        ...(runs === undefined ? {} : { execution: { makespanInSeconds: 1, executedAt: 'now', tasks: runs } }),
      },
    },
    null,
    1,
  );

const getCommand = (command: object, system?: string): string =>
  parseWorkflow(
    findText({ ...(system === undefined ? {} : { system }), runs: [{ id: 'a', runtimeInSeconds: 1, command }] }),
    'f',
  ).tasks[0]?.command ?? '';

test('a specification alone is a workflow: run times are not known, a file that is listed twice is one file, and an edge that is named twice one edge', (t) => {
  for (const version of ['1.5', '1.6']) {
    const { job } = makeWorkflowJob(parseWorkflow(findText({ version }), 'f'), {
      ...options,
      taskCommand: 'touch {outputs}',
    });
    t.deepEqual(
      job.groups.map(({ command, expectedTime }) => [command, expectedTime]),
      [
        ['touch x', undefined],
        ['touch y', undefined],
      ],
    );
    t.deepEqual(job.edges, [{ from: 0, to: 1, data: 700 }]);
  }
  t.regex(getFault(findText({})), /^MUT_WORKFLOW_NO_COMMAND /);
  const noFiles = parseWorkflow(findText({ specification: { tasks: two.tasks } }), 'f');
  t.deepEqual(noFiles.tasks[0]?.outputs, [{ name: 'x', bytes: 0 }], 'the list of files may be missing');
});

test('a run says time, processors, memory and command; tasks that it does not have run for an unknown time', (t) => {
  const document = parseWorkflow(
    findText({
      runs: [
        {
          id: 'b',
          runtimeInSeconds: 2.5,
          coreCount: 1.5,
          memoryInBytes: 3 * 2 ** 30,
          command: { program: 'use', arguments: ['x'] },
          priority: 3,
          avgCPU: 80,
          machines: ['m'],
        },
      ],
    }),
    'f',
  );
  t.like(document.tasks[0], { work: 0, command: '', widthMin: 1 });
  t.like(document.tasks[1], { work: 2500, command: 'use x', widthMin: 2, widthMax: 2, memory: 3 * 2 ** 30 });
  const { groups, processors } = makeWorkflowJob(document, { ...options, taskCommand: 'true' }).job;
  t.deepEqual(
    groups.map((group) => [group.processors ?? processors, group.requirements, group.resources?.memory]),
    [
      [1, '', undefined],
      [2, '', 3 * 2 ** 30],
    ],
  );
  t.regex(
    getFault(findText({ runs: [{ id: 'a', runtimeInSeconds: 1, coreCount: 0 }] })),
    /^MUT_WORKFLOW_WIDTH f:\d+:\d+: found 0 as workflow.execution.tasks\[0\].coreCount/,
  );
  t.regex(
    getFault(findText({ runs: [{ id: 'c', runtimeInSeconds: 1 }] })),
    /^MUT_WORKFLOW_DANGLING_EDGE f:\d+:\d+: found "c" as workflow.execution.tasks\[0\].id/,
  );
});

test('arguments are read as the published instances mean them', (t) => {
  t.is(
    getCommand({
      program: 'cpuhog',
      arguments: ['n1', '--percent-cpu 0.6', '--out "{\\"a b\\":16}"', "--files ['a', 'b']", 'in.txt'],
    }),
    `cpuhog n1 --percent-cpu 0.6 --out '{"a b":16}' --files '['\\''a'\\'', '\\''b'\\'']' in.txt`,
  );
  t.is(
    getCommand({ program: 'filter', arguments: ['--expression', 'QD < 2.0 || FS > 60.0', '$(id)', '*'] }),
    `filter --expression 'QD < 2.0 || FS > 60.0' '$(id)' '*'`,
  );
  t.is(
    getCommand({ program: 'filter', arguments: ['--x $(id) `id`', '--title "two  words"'] }),
    `filter --x '$(id)' '\`id\`' --title 'two  words'`,
  );
  t.is(getCommand({ program: 'sh', arguments: ['-c', 'echo a > b; cat *'] }), `sh -c 'echo a > b; cat *'`);
  t.is(
    getCommand({ program: 'bwa', arguments: ['./bwa', 'mem', 'ref', '>', 'q.sam', '2>', 'q.err'] }, 'Makeflow'),
    './bwa mem ref > q.sam 2> q.err',
  );
  t.is(
    getCommand({ program: 'cat_bwa', arguments: ['LOCAL', 'cat_bwa', 'query.*.sam'] }, 'Makeflow'),
    'cat_bwa query.*.sam',
  );
  t.is(getCommand({ program: 'wc', arguments: ['-l', 'x', '>', 'y'] }, 'TaskVine'), 'wc -l x > y');
  t.is(getCommand({ program: 'wc', arguments: ['-l', 'x', '>', 'y'] }), 'wc -l x > y');
  t.is(
    getCommand({ program: 'cut -f 1 x\nsort x > y', arguments: [] }, 'Nextflow'),
    `bash -ue -c 'cut -f 1 x\nsort x > y'`,
  );
  t.is(getCommand({ program: 'cut -f 1 x', arguments: [] }, 'Nextflow'), 'cut -f 1 x');
  t.is(getCommand({}), '');
  t.regex(
    getFault(findText({ runs: [{ id: 'a', runtimeInSeconds: 1, command: { arguments: ['x'] } }] })),
    /^MUT_WORKFLOW_SYNTAX .*expected a program for the arguments/,
  );
  t.regex(
    getFault(findText({ runs: [{ id: 'a', runtimeInSeconds: 1, command: { program: 'p', arguments: ['--x "y'] } }] })),
    /^MUT_WORKFLOW_SYNTAX f:\d+:\d+: found .* as workflow.execution.tasks\[0\].command.arguments\[0\], expected quotes in pairs/,
  );
});

test('versions 1.0 to 1.4 have files and run times within their tasks, which name each other by name', (t) => {
  const early = (version: string, holder: string, more: (name: string) => object): string =>
    JSON.stringify({
      name: 'w',
      schemaVersion: version,
      wms: { name: 'Pegasus', version: '4.9' },
      workflow: {
        makespan: 3,
        executedAt: 'x',
        machines: [{ nodeName: 'm', memory: 5, cpu: { count: 2, speed: 1000 } }],
        [holder]: [
          {
            name: 'make_ID01',
            type: 'compute',
            files: [{ name: 'x', link: 'output', size: 9 }],
            machine: 'm',
            ...more('make'),
          },
          {
            name: 'use_ID02',
            type: 'compute',
            parents: ['make_ID01'],
            files: [{ name: 'x', link: 'input', sizeInBytes: 9 }],
            ...more('use'),
          },
        ],
      },
    });
  const texts = [
    early('1.0', 'jobs', () => ({ runtime: 2, arguments: ['-x', '1'], memory: 2000, cores: 2 })),
    early('1.2', 'jobs', (program) => ({
      id: `ID_${program}`,
      runtime: 2,
      command: { program, arguments: ['-x', '1'] },
      memory: 2000,
      cores: 2,
    })),
    early('1.3', 'tasks', (program) => ({
      category: program,
      runtime: 2,
      command: { program, arguments: ['-x', '1'] },
      memory: 2000,
      cores: 2,
    })),
    early('1.4', 'tasks', (program) => ({
      runtimeInSeconds: 2,
      command: { program, arguments: ['-x', '1'] },
      memoryInBytes: 2e6,
      memory: 2000,
      cores: 1.5,
      bytesRead: 4,
    })),
  ];
  for (const text of texts) {
    const { tasks, edges, warnings } = parseWorkflow(text, 'f');
    t.deepEqual(
      tasks.map(({ id, command, work, memory, widthMin }) => [id, command, work, memory, widthMin]),
      [
        ['make_ID01', 'make -x 1', 2000, 2e6, 2],
        ['use_ID02', 'use -x 1', 2000, 2e6, 2],
      ],
    );
    t.deepEqual(
      edges.map(({ from, to }) => [from, to]),
      [['make_ID01', 'use_ID02']],
    );
    t.deepEqual(
      [tasks[0]?.outputs, tasks[1]?.inputs, warnings],
      [[{ name: 'x', bytes: 9 }], [{ name: 'x', bytes: 9 }], []],
    );
  }
  t.regex(
    getFault(texts[0]?.replace('"output"', '"inout"') ?? ''),
    /^MUT_WORKFLOW_UNSUPPORTED f:1:\d+: found "inout" as workflow.jobs\[0\].files\[0\].link/,
  );
});

test('a field that the reader does not know is refused by its name where it may change what runs, and named in a warning elsewhere', (t) => {
  t.regex(
    getFault(findText({ runs: [{ id: 'a', runtimeInSeconds: 1, retry: 3 }] })),
    /^MUT_WORKFLOW_UNKNOWN f:\d+:\d+: found the field retry of workflow.execution.tasks\[0\], expected one of /,
  );
  t.regex(
    getFault(findText({ specification: { ...two, subworkflows: [] } })),
    /^MUT_WORKFLOW_UNKNOWN f:\d+:\d+: found the field subworkflows of workflow.specification/,
  );
  t.regex(
    getFault(findText({ specification: { ...two, tasks: [{ ...two.tasks[0], inputFile: [] }] } })),
    /found the field inputFile of .*; did you mean inputFiles\?/,
  );
  const text = findText({ system: 'x' }).replace('"version": "1"', '"version": "1", "colour": "red"');
  t.deepEqual(parseWorkflow(text, 'f').warnings, [
    'runtimeSystem.colour is not used (1 time): not a field of WfFormat',
  ]);
});

test('names of files that are paths from the root, or URLs, stand for files below the folder of the workflow', (t) => {
  const tasks = [
    {
      name: 'a',
      id: 'a',
      parents: [],
      children: [],
      inputFiles: ['/data/in', 'https://example.org/d/in', 'file:///data/other'],
      outputFiles: ['/5f/e4/out'],
    },
  ];
  const document = parseWorkflow(findText({ specification: { tasks } }), 'f');
  const { job, warnings } = makeWorkflowJob(document, { ...options, taskCommand: 'cp {inputs} {outputs}' });
  t.deepEqual(
    job.groups[0]?.inputs.map(({ path, source }) => [path, source.kind === 'path' ? source.path : '']),
    [
      ['data/in', '/home/ana/w/data/in'],
      ['https:/example.org/d/in', '/home/ana/w/example.org/d/in'],
      ['data/other', '/data/other'],
    ],
  );
  t.deepEqual(
    job.groups[0]?.outputs.map(({ path, localPath }) => [path, localPath]),
    [['5f/e4/out', '/home/ana/w/5f/e4/out']],
  );
  t.is(job.groups[0]?.command, 'cp data/in https://example.org/d/in data/other 5f/e4/out');
  t.deepEqual(warnings, [
    '3 names of files are paths from the root or URLs: they stand for files below the folder of the workflow, ' +
      '/data/in for data/in',
  ]);
});

test('a command for tasks without one takes the place of all where each has one, or where that is asked for, and then no memory is', (t) => {
  const runs = (ids: readonly string[]) =>
    ids.map((id) => ({ id, runtimeInSeconds: 1, memoryInBytes: 1e9, command: { program: 'p' } }));
  const made = (ids: readonly string[], replacesCommands?: boolean) => {
    const { job, warnings } = makeWorkflowJob(parseWorkflow(findText({ runs: runs(ids) }), 'f'), {
      ...options,
      taskCommand: 'true',
      replacesCommands,
    });
    return { commands: job.groups.map(({ command, resources }) => [command, resources?.memory ?? 0]), warnings };
  };
  t.deepEqual(made(['a']), {
    commands: [
      ['p', 1e9],
      ['true', 0],
    ],
    warnings: [],
  });
  t.deepEqual(made(['a'], true), {
    commands: [
      ['true', 0],
      ['true', 0],
    ],
    warnings: [],
  });
  t.deepEqual(made(['a', 'b']), {
    commands: [
      ['true', 0],
      ['true', 0],
    ],
    warnings: ['every task of the file has a command; --task-command runs in the place of all of them'],
  });
});

/**
 * What the published schema of version 1.5 demands of the fields that we write; 1.6 differs in its version and in
 * characters of ids.
 */
const getSchema = (version: string, taskId: string): object => {
  const text = { type: 'string', minLength: 1 };
  const list = (items: object): object => ({ type: 'array', items });
  const object = (properties: Record<string, object>, required: readonly string[]): object => ({
    type: 'object',
    properties,
    required,
  });
  const id = { ...text, pattern: taskId };
  const file = { ...text, pattern: '^[0-9a-zA-Z_./:#-]*$' };
  const command = object({ program: text, arguments: list(text) }, []);
  const task = object(
    { name: text, id, parents: list(id), children: list(id), inputFiles: list(file), outputFiles: list(file) },
    ['name', 'id', 'parents', 'children'],
  );
  const run = object(
    {
      id,
      runtimeInSeconds: { type: 'number' },
      command,
      coreCount: { type: 'number', minimum: 1 },
      memoryInBytes: { type: 'number' },
    },
    ['id', 'runtimeInSeconds'],
  );
  const specification = object(
    {
      tasks: { ...list(task), minItems: 1 },
      files: list(object({ id: file, sizeInBytes: { type: 'integer', minimum: 0 } }, ['id', 'sizeInBytes'])),
    },
    ['tasks'],
  );
  const execution = object(
    { makespanInSeconds: { type: 'number' }, executedAt: text, tasks: { ...list(run), minItems: 1 } },
    ['makespanInSeconds', 'executedAt', 'tasks'],
  );
  return object(
    {
      name: text,
      schemaVersion: { type: 'string', enum: [version] },
      workflow: object({ specification, execution }, ['specification']),
    },
    ['name', 'schemaVersion', 'workflow'],
  );
};

const yaml = `inputs: [in]
outputs: [a.txt]
tasks:
  first step: {command: 'sort in > a.txt', inputs: [in], outputs: {a.txt: 3B}, processors: 2, memory: 1GiB, gpus: 2:a100, resources: {licence: 1}}
  second: {command: "grep '' -e '-x y' a.txt", inputs: [a.txt], time: 1500ms, after: [first step]}
  third: {command: uniq -c a.txt, inputs: [a.txt], processors: 1-4}
`;

test('what is written as WfFormat is what its schema allows, and is read as the same workflow', (t) => {
  const dax =
    '<adag name=""><job id="A" name=""  runtime="-1"><uses file="x" link="output" size="1.5"/><uses file="x" ' +
    'link="output" size="1.5"/></job><job id="B" name="b" runtime="2"><uses file="x" link="inout"/></job></adag>';
  for (const [format, version, id] of [
    ['wfformat', '1.5', '^[0-9a-zA-Z_.#-]*$'],
    ['wfformat-1.6', '1.6', '^[0-9a-zA-Z_.#:/-]+$'],
  ] as const) {
    const schema = Compile(getSchema(version, id));
    for (const text of [
      yaml,
      dax,
      findText({}),
      findText({
        runs: [
          {
            id: 'a',
            runtimeInSeconds: 1,
            coreCount: 3,
            memoryInBytes: 5,
            command: { program: 'p', arguments: ['--level 3'] },
          },
        ],
      }),
    ]) {
      const document = parseWorkflow(text, 'dir/odd name.yaml');
      const written = convertWorkflow(document, format);
      const value: unknown = JSON.parse(written.text);
      t.deepEqual([...schema.Errors(value)], [], written.text);
      const plain = ({ tasks }: WorkflowDocument): unknown =>
        tasks.map(({ work, widthMin, memory, inputs, outputs }: DocumentTask) => [
          work,
          widthMin,
          memory,
          inputs.map(({ name }) => name),
          outputs.map(({ name }) => name),
        ]);
      t.deepEqual(plain(parseWorkflow(written.text, 'g')), plain(document));
    }
  }
  const { text, losses } = convertWorkflow(parseWorkflow(yaml, 'dir/odd name.yaml'), 'wfformat');
  const { name, workflow } = JSON.parse(text) as {
    name: string;
    workflow: { specification: { tasks: { id: string }[] }; execution: { makespanInSeconds: number; tasks: object[] } };
  };
  t.is(name, 'odd name');
  t.deepEqual(
    workflow.specification.tasks.map(({ id }) => id),
    ['first_step', 'second', 'third'],
  );
  t.deepEqual(workflow.execution.tasks, [
    {
      id: 'first_step',
      runtimeInSeconds: 0,
      command: { program: 'sh', arguments: ['-c', 'sort in > a.txt'] },
      coreCount: 2,
      memoryInBytes: 2 ** 30,
    },
    { id: 'second', runtimeInSeconds: 1.5, command: { program: 'sh', arguments: ['-c', "grep '' -e '-x y' a.txt"] } },
    { id: 'third', runtimeInSeconds: 0, command: { program: 'uniq', arguments: ['-c', 'a.txt'] } },
  ]);
  t.is(workflow.execution.makespanInSeconds, 1.5);
  t.deepEqual(losses, [
    'WfFormat has no place for ids of tasks as they are; there are 1',
    'WfFormat has no place for ranges of processors; there are 1',
    'WfFormat has no place for GPUs of tasks; there are 1',
    'WfFormat has no place for counted resources of tasks; there are 1',
    'WfFormat has no place for run times that are not known; there are 2',
    'WfFormat has no place for outputs that are wanted although tasks read them; there are 1',
  ]);
});

test('a name of a file that the schema of WfFormat does not allow is refused, since commands may hold it', (t) => {
  const error = t.throws<FormatError>(() =>
    convertWorkflow(parseWorkflow('tasks:\n  a: {command: touch, outputs: [a b]}\n', 'f'), 'wfformat'),
  );
  t.is(error.code, 'MUT_WORKFLOW_UNSUPPORTED');
  t.regex(error.message, /^f:2:\d+: found the file "a b" of task a, expected names of letters/);
});
