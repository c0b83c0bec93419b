import test from 'ava';
import type { TaskGroup } from '@mutirao/core/messages';
import { FormatError, parseJdf } from '@mutirao/formats';

const place = { file: 'a.jdf', directory: '/home/ana/jobs' };

function read(text: string): readonly TaskGroup[] {
  return parseJdf(text, place).job.groups;
}

function refusal(text: string): FormatError {
  try {
    read(text);
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

function inInit(...lines: string[]): string {
  return ['job:', 'task:', 'remote: work', 'init:', ...lines, ''].join('\n');
}

function inFinal(...lines: string[]): string {
  return ['job:', 'task:', 'remote: work', 'final:', ...lines, ''].join('\n');
}

// The examples of JDF.md section 7.

test('the job of semantic/JobTest3.jdf: conditions, variables, and store into the playpen', (t) => {
  const job = parseJdf(
    `job :
label : job3_test
requirements : (os==linux && ram>=400) OR (os!=solaris && ram<=300)
remote : run_app.sh
final :
    if ( os == linux ) then
        get $PLAYPEN/output_l output/outputL.$TASK
    else
        get $PLAYPEN/output_l /temp/mygrid/output/outputS.$TASK
    endif
task :
init : put entry/input1.txt $PLAYPEN
       store /temp/mygrid/app/run.sh $PLAYPEN/run_app.sh
`,
    place,
  );
  t.deepEqual(job, {
    job: {
      label: 'job3_test',
      environment: {},
      limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
      processors: 1,
      replicasMax: 2,
      failuresMax: 3,
      scheduler: 'wqr',
      replicationCap: { kind: 'none' },
      deadline: undefined,
      homeDirectory: '/home/ana/jobs',
      groups: [
        {
          values: { kind: 'range', first: 0, count: 1, step: 1 },
          command: 'run_app.sh',
          noOp: false,
          check: '',
          requirements: '(os==linux && ram>=400) OR (os!=solaris && ram<=300)',
          inputs: [
            {
              source: { kind: 'path', path: '/home/ana/jobs/entry/input1.txt' },
              root: 'playpen',
              path: 'input1.txt',
              condition: '',
            },
            {
              source: { kind: 'path', path: '/temp/mygrid/app/run.sh' },
              root: 'playpen',
              path: 'run_app.sh',
              condition: '',
            },
          ],
          outputs: [
            {
              root: 'playpen',
              path: 'output_l',
              localPath: '/home/ana/jobs/output/outputL.$TASK',
              condition: '( os == linux )',
            },
            {
              root: 'playpen',
              path: 'output_l',
              localPath: '/temp/mygrid/output/outputS.$TASK',
              condition: '! ( ( os == linux ) )',
            },
          ],
        },
      ],
    },
    warnings: [],
  });
});

test('the job of SimpleMPJob.jdf is a gang: its command goes through untouched', (t) => {
  const [group] = read(`job :
label : SimpleMPJob
requirements : ( num_procs == 2 )
task :
remote : $RSH_CMD $PROC0 "echo a" >> out; $RSH_CMD $PROC1 "echo a" >> out
final  : get out out
`);
  t.like(group, {
    requirements: '',
    command: '$RSH_CMD $PROC0 "echo a" >> out; $RSH_CMD $PROC1 "echo a" >> out',
    outputs: [{ root: 'playpen', path: 'out', localPath: '/home/ana/jobs/out', condition: '' }],
  });
});

function findGang(requirements: string): unknown {
  const {
    job: { processors, gang, replicasMax, groups },
  } = parseJdf(`job :\nrequirements : ${requirements}\ntask :\nremote : a\n`, { file: 'a.jdf', directory: '/' });
  return [processors, gang, replicasMax, groups[0]?.requirements];
}

test('num_procs makes the tasks of a job gangs, alone and together with requirements on machines', (t) => {
  t.deepEqual(findGang('( num_procs == 2 )'), [2, true, 1, '']);
  t.deepEqual(findGang('num_procs = 16'), [16, true, 1, '']);
  t.deepEqual(findGang('( os == linux && ( NUM_PROCS == 4 ) ) && mem >= 512'), [
    4,
    true,
    1,
    'os == linux && mem >= 512',
  ]);
  t.deepEqual(findGang('( num_procs == 3 ) && ( os == linux || os == windows )'), [
    3,
    true,
    1,
    'os == linux || os == windows',
  ]);
  t.deepEqual(findGang('num_procs == 2 && num_procs == 2'), [2, true, 1, '']);
  t.deepEqual(
    findGang('num_procs == 1 && os == linux'),
    [1, undefined, 2, 'os == linux'],
    'one processor is not a gang',
  );
  t.deepEqual(findGang('num_processors == 2'), [1, undefined, 2, 'num_processors == 2']);
});

test('num_procs that makes no sense is refused, with its place', (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['num_procs >= 2', /found "num_procs >= 2", expected "num_procs == N" with N in 1..65536/],
    ['num_procs == 0', /expected "num_procs == N"/],
    ['num_procs == 2.5', /expected "num_procs == N"/],
    ['num_procs == two', /expected "num_procs == N"/],
    ['num_procs == 02', /expected "num_procs == N"/],
    ['num_procs == 65537', /expected "num_procs == N"/],
    ['num_procs', /expected "num_procs == N"/],
    ['in_path num_procs', /expected "num_procs == N"/],
    ['num_procs == 2 || os == linux', /joined to the rest by "&&" only/],
    ['os == linux && ! ( num_procs == 2 )', /joined to the rest by "&&" only/],
    ['num_procs == 2 && ( num_procs == 3 )', /found num_procs of 2 and of 3, expected one number/],
  ];
  for (const [requirements, message] of cases) {
    const error = t.throws(() => findGang(requirements), undefined, requirements);
    t.regex(error?.message ?? '', message, requirements);
    t.regex(error?.message ?? '', /^a\.jdf:2:\d+: /);
  }
  const mixed = 'job :\ntask :\nrequirements : num_procs == 2\nremote : a\ntask :\nremote : b\n';
  t.throws(() => parseJdf(mixed, { file: 'a.jdf', directory: '/' }), {
    message: /a\.jdf:5:.*found tasks with num_procs of 2 and of 1, expected the same/,
  });
  const branch = 'job :\ntask :\nremote : a\nfinal : if num_procs == 2 then\n get a a\nendif\n';
  t.throws(() => parseJdf(branch, { file: 'a.jdf', directory: '/' }), {
    message: /a\.jdf:4:.*num_procs in the condition of an "if"/,
  });
});

const otherFormats: readonly (readonly [string, string, string])[] = [
  [
    'a G3 list of peers',
    'peer:\n    label: LSD Peer\n    username : peer-lsd\n    servername : xmpp.ourgrid.org\n',
    'a list of peers (GDF)',
  ],
  [
    'a G3 list of workers',
    'workerdefaults:\n servername: testserver\n os: linux\nworker:\n username: testuserB\n',
    'a list of workers (SDF)',
  ],
  [
    'a G2 list of machines',
    'GUMDEFAULTS :\n    type : UALinux\nGUM :\n    name : localhost\n',
    'a list of grid machines (GDF)',
  ],
  [
    'a ClassAd list of workers',
    '[ servername="testserver"; OS="linux"; workers={worker1};\n  worker1=[ username="testuserB"; mainMemory=128; ]; ]',
    'a list of workers (SDF as ClassAd)',
  ],
  ['a JDL job in brackets', '[\n  Type = "Job";\n  Executable = "/bin/ls";\n]\n', 'a JDL job (ClassAd)'],
  ['a JDL job without brackets', '// a job\nExecutable = "/bin/ls";\nArguments = "-l";\n', 'a JDL job (ClassAd)'],
  [
    "Arrebol's job",
    'job:\nlabel: myjob9\nschedpath: /home/igorvcs\nrequirements: Glue2RAM >= 1024\ntask: python ' +
      '/tmp/isprime.py 1000\n',
    "a job file of Arrebol's dialect",
  ],
  [
    "Arrebol's task",
    'job:\nlabel: myjob9\ntask: python /tmp/isprime.py 1000 2000 100\n',
    "a command in the task itself, as in a job file of Arrebol's dialect",
  ],
  [
    "Arrebol's PUT in a task",
    'job:\ntask:\n  PUT a b\n  python b\n',
    "a command in the task itself, as in a job file of Arrebol's dialect",
  ],
  ['a GDF of the first drafts', 'WORKER :\n  name = localhost;\n', 'a grid file of MyGrid 1 (GDF)'],
  ['a workflow', '{ "name": "x", "schemaVersion": "1.5", "workflow": {} }', 'a workflow (WfFormat)'],
  ['an abstract DAG', '<?xml version="1.0"?>\n<adag name="x"></adag>', 'a workflow (DAX)'],
];

for (const [what, text, name] of otherFormats) {
  test(`${what} is refused by name`, (t) => {
    const error = refusal(text);
    t.is(error.code, 'MUT_JDF_DIALECT');
    t.is(error.problem.found, name);
  });
}

test('200 tasks with long shell lines are read as they stand', (t) => {
  const command = (task: number): string =>
    `i=0; while [ $i -lt ${task} ]; do echo "line \`expr $i + 1\` of ${'x'.repeat(400)}" >> out.${task}; ` +
    `i=\`expr $i + 1\`; done; ` +
    `for f in *.dat; do awk '{ s += $1 } END { print s }' $f | tee sum.\${f%.dat} 2>&1; done # task ${task}`;
  const tasks = Array.from(
    { length: 200 },
    (_, task) => `task : 
    init : store bin/run.$PROC run
           put input/part${task}.dat part.dat
           put "input/with space ${task}" $PLAYPEN/second.dat
    remote : ${command(task)}
    final : get out.${task} output/$JOB/out.${task}
            get $STORAGE/sum output/sum.$TASK
`,
  );
  const groups = read(
    `job :\r\nlabel : jobv4\r\nrequirements : ( os == linux )\r\n${tasks.join('\n').replaceAll('\n', '\r\n')}`,
  );
  t.is(groups.length, 200);
  for (const [task, group] of groups.entries()) {
    t.is(group.command, command(task));
    t.deepEqual(group.values, { kind: 'range', first: task, count: 1, step: 1 });
    t.is(group.inputs.length, 3);
    t.deepEqual(group.outputs[1], {
      root: 'storage',
      path: 'sum',
      localPath: '/home/ana/jobs/output/sum.$TASK',
      condition: '',
    });
  }
});

// Sections and defaults.

test('a section of a task replaces the whole default, and none cancels it', (t) => {
  const groups = read(`job:
init: put a a
      put b b
remote: work
final: get o o
task:
task:
init: put c c
task:
init: none
final: NONE
`);
  t.deepEqual(
    groups.map(({ inputs }) => inputs.map(({ path }) => path)),
    [['a', 'b'], ['c'], []],
  );
  t.deepEqual(
    groups.map(({ outputs }) => outputs.length),
    [1, 1, 0],
  );
});

test('tasks in a row that are written alike are one group, others keep their numbers', (t) => {
  const groups = read('job:\nremote: a $TASK\ntask:\ntask:\ntask:\nremote: b\ntask:\n');
  t.deepEqual(
    groups.map(({ command, values }) => [command, values]),
    [
      ['a $TASK', { kind: 'range', first: 0, count: 2, step: 1 }],
      ['b', { kind: 'range', first: 2, count: 1, step: 1 }],
      ['a $TASK', { kind: 'range', first: 3, count: 1, step: 1 }],
    ],
  );
});

test('keywords in any case, sections on one line and line ends of Windows are accepted', (t) => {
  const [group] = read('\uFEFFJOB : LABEL : x\r\nTask:Init:PUT a b\r\nREMOTE:work\r\nFinal : GET c d\r\n');
  t.like(group, { command: 'work', inputs: [{ path: 'b' }], outputs: [{ path: 'c' }] });
});

test('braces mean nothing in a job file', (t) => {
  const [group] = read(inInit('put a{} {#}', 'put {{}} x'));
  t.deepEqual(
    group?.inputs.map(({ source, path }) => [source.kind === 'path' ? source.path : '', path]),
    [
      ['/home/ana/jobs/a{{}}', '{{#}}'],
      ['/home/ana/jobs/{{{}}}', 'x'],
    ],
  );
});

// Paths.

test('a remote path begins at its root, also if it is absolute', (t) => {
  const [group] = read(
    inInit(
      'put a /tmp/x',
      'put a $PLAYPEN/y',
      'put a $STORAGE/z',
      'store a p',
      'store a $STORAGE/q',
      'store a $PLAYPEN/r',
      'store a $STORAGEX',
    ),
  );
  t.deepEqual(
    group?.inputs.map(({ root, path }) => [root, path]),
    [
      ['playpen', 'tmp/x'],
      ['playpen', 'y'],
      ['storage', 'z'],
      ['storage', 'p'],
      ['storage', 'q'],
      ['playpen', 'r'],
      ['storage', '$STORAGEX'],
    ],
  );
});

test('a destination that is a folder takes the name of the source', (t) => {
  const [group] = read(inInit('put in/a.txt $PLAYPEN', 'put in/a.txt sub/', 'store in/a.txt .', 'put in/dir/ sub/'));
  t.deepEqual(
    group?.inputs.map(({ root, path }) => [root, path]),
    [
      ['playpen', 'a.txt'],
      ['playpen', 'sub/a.txt'],
      ['storage', 'a.txt'],
      ['playpen', 'sub'],
    ],
  );
  const [out] = read(inFinal('get out/r.txt .', 'get r.txt results/', 'get $PLAYPEN all', 'get r.txt ../r.txt'));
  t.deepEqual(
    out?.outputs.map(({ path, localPath }) => [path, localPath]),
    [
      ['out/r.txt', '/home/ana/jobs/r.txt'],
      ['r.txt', '/home/ana/jobs/results/r.txt'],
      ['.', '/home/ana/jobs/all'],
      ['r.txt', '/home/ana/r.txt'],
    ],
  );
});

test('a path that leaves its root is refused where it stands', (t) => {
  for (const [text, line, column] of [
    [inInit('put a ../b'), 5, 7],
    [inInit('store a $STORAGE/../b'), 5, 9],
    [inFinal('get x/../../y b'), 5, 5],
  ] as const) {
    const error = refusal(text);
    t.is(error.code, 'MUT_PATH_LEAVES_ROOT');
    t.like(error.problem, { line, column });
  }
});

test('a root variable in the middle of a path is refused', (t) => {
  t.is(refusal(inInit('put a b/$PLAYPEN/c')).problem.expected, '$STORAGE and $PLAYPEN only at the beginning of a path');
});

// Refusals.

const refusals: readonly (readonly [string, string, string])[] = [
  ['an empty file', '', 'a.jdf:1:1: found the end of the file, expected "job:" first'],
  ['a file that begins with a task', 'task:\nremote: a\n', 'a.jdf:1:1: found "task", expected "job:" first'],
  ['a misspelt job', 'jbo:\ntask:\n', 'a.jdf:1:1: found "jbo", expected "job:" first; did you mean job?'],
  [
    'a job without its colon',
    'job\ntask:\nremote: a\n',
    'a.jdf:1:4: found the end of the line, expected ":" after "job"',
  ],
  [
    'a misspelt section',
    'job:\ntask:\nremot: a\n',
    'a.jdf:3:1: found "remot", expected a section such as "remote:", "final:" or "task:"; did you mean remote?',
  ],
  ['a section without its colon', 'job:\ntask:\nremote a\n', 'a.jdf:3:8: found "a", expected ":" after "remote"'],
  [
    'a misspelt verb first in a block',
    inInit('putt a b'),
    'a.jdf:5:1: found "putt", expected "put" or "store", "if" or "none"; did you mean put?',
  ],
  [
    'a misspelt verb later in a block',
    inInit('put a b', 'sotre a b'),
    'a.jdf:6:1: found "sotre", expected a section such as "remote:", "final:" or "task:"; did you mean store?',
  ],
  ['a get in init', inInit('get a b'), 'a.jdf:5:1: found "get", expected "put" or "store" ("get" belongs into final:)'],
  ['a put in final', inFinal('put a b'), 'a.jdf:5:1: found "put", expected "get" ("put" belongs into init:)'],
  [
    'an empty init',
    'job:\ntask:\ninit:\nremote: a\n',
    'a.jdf:4:1: found "remote", expected "put" or "store", "if" or "none"',
  ],
  [
    'a third path',
    inInit('put my file.txt dest'),
    'a.jdf:5:17: found "dest", expected the end of the line after two paths (a path with spaces needs double quotes)',
  ],
  ['an open quote', inInit('put "a b'), 'a.jdf:5:5: found "\\"a b", expected a closing double quote on the same line'],
  ['an empty path', inInit('put "" b'), 'a.jdf:5:5: found an empty path, expected the path at home'],
  [
    'a second init',
    'job:\ntask:\nremote: a\ninit: put a b\ninit: put c d\n',
    'a.jdf:5:1: found a second "init:", expected one "init:" in each task',
  ],
  [
    'a second remote',
    'job:\ntask:\nremote: a\nremote: b\n',
    'a.jdf:4:1: found a second "remote:", expected one "remote:" in each task',
  ],
  ['a second label', 'job:\nlabel: a\nlabel: b\n', 'a.jdf:3:1: found a second "label:", expected one label'],
  [
    'a label in a task',
    'job:\ntask:\nlabel: a\nremote: b\n',
    'a.jdf:3:1: found "label", expected the label before the first task',
  ],
  [
    'if without then',
    inFinal('if os == linux', 'get a b', 'endif'),
    'a.jdf:5:15: found the end of the line, expected "then" after the condition',
  ],
  [
    'if without a condition',
    inFinal('if then', 'get a b', 'endif'),
    'a.jdf:5:4: found "then", expected a condition between "if" and "then"',
  ],
  ['if without commands', inFinal('if os == linux then', 'endif'), 'a.jdf:6:1: found "endif", expected "get"'],
  [
    'else without commands',
    inFinal('if os == linux then', 'get a b', 'else', 'endif'),
    'a.jdf:8:1: found "endif", expected "get"',
  ],
  [
    'if without endif',
    inFinal('if os == linux then', 'get a b', 'task:', 'remote: b'),
    'a.jdf:7:1: found "task", expected "get", "else" or "endif"',
  ],
  [
    'a misspelt endif',
    inFinal('if os == linux then', 'get a b', 'end_if'),
    'a.jdf:7:1: found "end_if", expected "get", "else" or "endif"; did you mean endif?',
  ],
  [
    'two elses',
    inFinal('if a == b then', 'get a b', 'else', 'get a b', 'else'),
    'a.jdf:9:1: found "else", expected "get" or "endif"',
  ],
  ['an if in an if', inFinal('if a == b then', 'if c == d then'), 'a.jdf:6:1: found "if", expected "get"'],
  [
    'a bad condition',
    inFinal('if os = = linux then', 'get a b', 'endif'),
    'a.jdf:5:9: found "=", expected the value that "os" is compared with',
  ],
  [
    'bad requirements',
    'job:\nrequirements: (os == linux\ntask:\n',
    'a.jdf:2:27: found the end, expected "&&", "||" or ")"',
  ],
  [
    'a misspelt operator',
    'job:\nrequirements: os == linux adn mem > 4\ntask:\n',
    'a.jdf:2:27: found "adn", expected "&&", "||" or the end; did you mean and?',
  ],
];

for (const [what, text, message] of refusals) {
  test(`${what} is refused with its place and what was expected`, (t) => {
    const error = refusal(text);
    t.is(error.message, message);
    t.is(error.code, 'MUT_JDF_SYNTAX');
  });
}

test('then may stand on a line of its own, and a comment may follow requirements', (t) => {
  const [group] = read(
    'job:\nrequirements: os == linux # ours\ntask:\nremote: a\nfinal: if mem > 4 # much\n  then get a b\n endif\n',
  );
  t.is(group?.requirements, 'os == linux');
  t.is(group?.outputs[0]?.condition, 'mem > 4');
});

test('a condition that could not be negated is refused, so that no else fails later', (t) => {
  const nested = `${'('.repeat(99)}os == linux${')'.repeat(99)}`;
  t.notThrows(() => read(inFinal(`if ${nested.slice(2, -2)} then`, 'get a b', 'endif')));
  t.is(refusal(inFinal(`if ${nested} then`, 'get a b', 'endif')).problem.expected, 'fewer levels of brackets');
});

test('an escaped quote does not end a quoted value', (t) => {
  const [group] = read('job:\ntask:\nremote: a\nfinal: if a == "x\\" then y" then get a b\nendif\n');
  t.is(group?.outputs[0]?.condition, 'a == "x\\" then y"');
});

test('a carriage return ends a line where nothing else does', (t) => {
  const tasks = read('job:\rtask:\rremote: echo a\r\rtask:\rremote: echo b\r');
  t.deepEqual(
    tasks.map(({ command }) => command),
    ['echo a', 'echo b'],
  );
});

test('a tilde in a path is a file name, with a warning', (t) => {
  const { job, warnings } = parseJdf(inFinal('get out ~/out', 'get b a~', 'get c ~x'), place);
  t.is(job.groups[0]?.outputs[0]?.localPath, '/home/ana/jobs/~/out');
  t.deepEqual(
    warnings.map(({ line, message }) => `${line} ${message}`),
    ['5 a tilde in a path is part of a file name here, it means no home folder'],
  );
});

test('a carriage return is dropped wherever it stands', (t) => {
  const [group] = read(inInit('put a\rb c\r'));
  t.like(group?.inputs[0], { source: { path: '/home/ana/jobs/ab' }, path: 'c' });
});

test('a quoted then or # is part of a condition', (t) => {
  const [group] = read('job:\ntask:\nremote: a\nfinal: if a == "x then # y" then get a b\nendif\n');
  t.is(group?.outputs[0]?.condition, 'a == "x then # y"');
});
