// DAX as users of Pegasus write it, and what is refused of it.
import test from 'ava';
import { FormatError } from '@mutirao/formats';
import { makeWorkflowJob, parseWorkflow, printDax, getDraft, type DocumentTask } from '@mutirao/formats/workflow';

const options = { directory: '/home/ana/w' };

/** A DAX 3.6 with these elements in it. */
const dax = (inside: string, attributes = 'version="3.6"'): string =>
  '<?xml version="1.0"?>\n<adag xmlns="http://pegasus.isi.edu/schema/DAX" ' +
  `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b" ${attributes} ` +
  `name="d">\n${inside}\n</adag>\n`;

function getFault(text: string): string {
  try {
    makeWorkflowJob(parseWorkflow(text, 'f'), options);
    return 'nothing';
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

const findTask = (inside: string): DocumentTask => parseWorkflow(dax(inside), 'f').tasks[0] as DocumentTask;
const job = (inside: string, attributes = ''): string => `<job id="A" name="keg"${attributes}>${inside}</job>`;

test('a job without a run time has an unknown one; its command is its name, its arguments with the names of files in them, and its streams', (t) => {
  const task = findTask(
    job(`
    <argument>-a  analyze -T60 -i<file name="f.a"/>,<file name="f b"/> --title 'two words' "it's" \\&quot; $HOME * &gt; x -o <file name="out/f.d"/></argument>
    <stdin name="f.in" link="input"/><stdout name="logs/f.out" link="output"/><stderr name="f.err" link="output"/>
    <uses name="f.a" link="input"/><uses name="f b" link="input" size="7"/><uses name="out/f.d" link="output" transfer="false"/><uses name="logs/f.out" link="output"/>`),
  );
  t.is(task.work, 0);
  t.is(
    task.command,
    `mkdir -p logs && keg -a analyze -T60 '-if.a,f b' --title 'two words' 'it'\\''s' '"' '$HOME' '*' '>' x -o ` +
      'out/f.d < f.in > logs/f.out 2> f.err',
  );
  t.deepEqual(
    task.inputs.map(({ name, bytes }) => [name, bytes]),
    [
      ['f.a', 0],
      ['f b', 7],
      ['f.in', 0],
    ],
  );
  t.deepEqual(
    task.outputs.map(({ name, comesHome }) => [name, comesHome]),
    [
      ['out/f.d', false],
      ['logs/f.out', true],
      ['f.err', undefined],
    ],
    'a file that is named twice is one file',
  );
  const { groups } = makeWorkflowJob(parseWorkflow(dax(job('<argument>5</argument>')), 'f'), options).job;
  t.is(groups[0]?.command, 'keg 5');
  t.false('expectedTime' in (groups[0] ?? {}));
});

test('the names of DAX 2 are read as those of DAX 3', (t) => {
  const { tasks, warnings } = parseWorkflow(
    dax(
      `<filename file="f.a" link="inout"/><job id="A" namespace="n" name="keg" version="1.0" level="2" dv-name="d">
    <argument>-i <filename file="f.a"/></argument><stdout file="f.b" varname="b" link="output"/>
    <uses file="f.a" link="input" dontRegister="false" dontTransfer="false" temporaryHint="t"/><uses file="f.b" link="output" register="true" transfer="true" optional="false" type="data"/></job>`,
      'version="2.1" count="1" index="0" jobCount="2" fileCount="0" childCount="0"',
    ),
    'f',
  );
  t.is(tasks[0]?.command, 'keg -i f.a > f.b');
  t.deepEqual([tasks[0]?.inputs[0]?.name, tasks[0]?.outputs[0]?.name], ['f.a', 'f.b']);
  t.deepEqual(warnings, ['jobCount is 2, and the file has 1']);
});

test('profiles say run time, processors, memory and environment; others are named in a warning', (t) => {
  const profile = (namespace: string, key: string, value: string): string =>
    `<profile namespace="${namespace}" key="${key}">${value}</profile>`;
  const inside = job(
    `${profile('pegasus', 'runtime', ' 90 ')}${profile('pegasus', 'cores', '4')}${profile('condor', 'request_memory', '2 GB')}${profile('env', 'MODE', 'a b$c')}${profile('dagman', 'RETRY', '3')}${profile('pegasus', 'label', 'x')}`,
    ' runtime="5"',
  );
  const document = parseWorkflow(dax(inside), 'f');
  const [task] = document.tasks;
  t.like(task, { work: 90_000, widthMin: 4, widthMax: 4, memory: 2 * 2 ** 30 });
  t.deepEqual(document.warnings, [
    'profiles that are not used: dagman::RETRY (1), pegasus::label (1); they say how Pegasus or its batch ' +
      'system places the job',
  ]);
  const given = findTask(
    job(`<argument>1</argument>${profile('env', 'MODE', 'a b$c')}${profile('pegasus', 'memory', '512')}`),
  );
  t.is(given.command, "MODE='a b$c' keg 1");
  const asking = `<argument>1</argument>${profile('pegasus', 'memory', '512')}${profile('condor', 'request_gpus', '2')}`;
  t.like(makeWorkflowJob(parseWorkflow(dax(job(asking)), 'f'), options).job.groups[0], {
    requirements: '',
    resources: { memory: 512 * 2 ** 20, gpus: 2000, named: {} },
  });
  t.regex(getFault(dax(job(profile('pegasus', 'gpus', '0.5')))), /^MUT_WORKFLOW_COST .*expected a number/);
  t.regex(
    getFault(dax(job(profile('pegasus', 'runtime', 'long')))),
    /^MUT_WORKFLOW_COST f:3:\d+: found the profile pegasus::runtime with the value "long", expected a number/,
  );
  t.regex(
    getFault(dax(job(profile('pegasus', 'nodes', '4')))),
    /^MUT_WORKFLOW_UNSUPPORTED f:3:\d+: found the profile pegasus::nodes/,
  );
  t.regex(getFault(dax(job(profile('dagman', 'POST', 'check')))), /^MUT_WORKFLOW_UNSUPPORTED .*dagman::POST/);
  t.regex(getFault(dax(job(profile('nimbus', 'x', '1')))), /^MUT_WORKFLOW_UNKNOWN .*nimbus::x/);
});

test('a file says where programs and inputs are: what is installed runs there, what is not is brought along, and what is on another host is refused', (t) => {
  const executable = (attributes: string, url: string): string =>
    `<executable namespace="n" name="keg" version="4.0" arch="x86_64" os="linux"${attributes}><pfn url="${url}" ` +
    'site="local"/></executable>';
  const text = (attributes: string, url: string): string =>
    dax(`<file name="f.a"><metadata key="size">1024</metadata><pfn url="file:///data/f%20a" site="local"/></file>${executable(attributes, url)}
    <job id="A" namespace="n" name="keg" version="4.0"><argument>1</argument><uses name="f.a" link="input"/></job>`);
  const installed = makeWorkflowJob(parseWorkflow(text(' installed="true"', 'file:///opt/keg'), 'f'), options).job
    .groups[0];
  t.is(installed?.command, '/opt/keg 1');
  t.deepEqual(
    installed?.inputs.map(({ path, source }) => [path, source]),
    [['f.a', { kind: 'path', path: '/data/f a' }]],
  );
  const brought = makeWorkflowJob(parseWorkflow(text(' installed="false"', 'file:///home/ana/keg'), 'f'), options).job
    .groups[0];
  t.is(brought?.command, './keg 1');
  t.deepEqual(
    brought?.inputs.map(({ path, source }) => [path, source]),
    [
      ['f.a', { kind: 'path', path: '/data/f a' }],
      ['keg', { kind: 'path', path: '/home/ana/keg' }],
    ],
  );
  t.regex(
    getFault(text(' installed="false"', 'http://example.org/keg')),
    /^MUT_WORKFLOW_UNSUPPORTED f:\d+:\d+: found the file keg of task A at http:\/\/example\.org\/keg, expected a file at home/,
  );
  t.is(parseWorkflow(text('', 'file:///opt/keg'), 'f').tasks[0]?.inputs[0]?.bytes, 1024);
});

const chain = (order: string): string =>
  dax(`
  <job id="A" name="make"><argument>1</argument><uses name="x" link="output" size="10"/></job>
  <job id="T" name="sort"><argument>-o</argument><uses name="x" link="inout" size="20"/></job>
  <job id="R" name="cat"><argument>x</argument><uses name="x" link="input"/></job>${order}`);
const after = (child: string, ...parents: readonly string[]): string =>
  `<child ref="${child}">${parents.map((parent) => `<parent ref="${parent}"/>`).join('')}</child>`;

test('a file that a job changes in place is read and written by it: what comes later reads the changed one, and that one comes home', (t) => {
  const { groups, edges } = makeWorkflowJob(
    parseWorkflow(chain(after('T', 'A') + after('R', 'A', 'T')), 'f'),
    options,
  ).job;
  t.deepEqual(
    groups.map(({ inputs }) => inputs.map(({ source }) => source)),
    [[], [{ kind: 'output', taskIndex: 0, path: 'x' }], [{ kind: 'output', taskIndex: 1, path: 'x' }]],
  );
  t.deepEqual(
    groups.map(({ outputs }) => outputs.map(({ localPath }) => localPath)),
    [[''], ['/home/ana/w/x'], []],
  );
  t.deepEqual(
    edges?.map(({ from, to }) => [from, to]),
    [
      [0, 1],
      [0, 2],
      [1, 2],
    ],
  );
});

test('where nothing says whether a job reads a file before or after another one changes it, the workflow is refused', (t) => {
  t.regex(
    getFault(chain('')),
    /^MUT_WORKFLOW_OUTPUT_CONFLICT f:6:\d+: found the input x of task R, which A and T write/,
  );
  const home = (order: string): string =>
    dax(
      '<job id="T" name="sort"><argument>x</argument><uses name="x" link="inout"/></job><job id="R" ' +
        `name="cat"><argument>x</argument><uses name="x" link="input"/></job>${order}`,
    );
  t.regex(getFault(home('')), /^MUT_WORKFLOW_OUTPUT_CONFLICT .*the input x of task R, which T changes in place/);
  const first = makeWorkflowJob(parseWorkflow(home(after('T', 'R')), 'f'), options).job;
  t.deepEqual(
    first.groups[1]?.inputs[0]?.source,
    { kind: 'path', path: '/home/ana/w/x' },
    'a job before the change reads what is at home',
  );
  const last = makeWorkflowJob(parseWorkflow(home(after('R', 'T')), 'f'), options).job;
  t.deepEqual(last.groups[1]?.inputs[0]?.source, { kind: 'output', taskIndex: 0, path: 'x' });
});

test('unknown parts, and parts that cannot be run, are refused by name and place', (t) => {
  const cases: [string, RegExp][] = [
    [
      '<job id="A" name="a"/><dax id="B" file="inner.dax"><argument>-s local</argument></dax>',
      /^MUT_WORKFLOW_UNSUPPORTED f:3:\d+: found <dax id="B">, expected jobs only; a workflow within a workflow is a file of its own/,
    ],
    ['<job id="A" name="a"/><dag id="B" file="inner.dag"/>', /^MUT_WORKFLOW_UNSUPPORTED f:3:\d+: found <dag id="B">/],
    [
      job('<uses name="x" link="inward"/>'),
      /^MUT_WORKFLOW_UNSUPPORTED f:3:\d+: found link="inward" of <uses name="x">, expected link with one of input, output, inout, none, checkpoint/,
    ],
    [job('<uses name="x"/>'), /^MUT_WORKFLOW_SYNTAX f:3:\d+: found no link of <uses name="x">/],
    [job('<uses name="x" link="input" type="pattern"/>'), /^MUT_WORKFLOW_UNSUPPORTED f:3:\d+: found type="pattern"/],
    [
      job('<argumnet>1</argumnet>'),
      /^MUT_WORKFLOW_UNKNOWN f:3:\d+: found <argumnet>, expected one of argument, .*; did you mean argument\?/,
    ],
    [job('', ' colour="red"'), /^MUT_WORKFLOW_UNKNOWN f:3:\d+: found colour="red" of <job id="A">/],
    [job('loose words'), /^MUT_WORKFLOW_UNKNOWN f:3:\d+: found the text "loose words" in <job>/],
    [
      job("<argument>it's</argument>"),
      /^MUT_WORKFLOW_SYNTAX f:3:\d+: found an <argument> with a quote or a backslash that nothing follows/,
    ],
    ['<cluster id="x"/>', /^MUT_WORKFLOW_UNKNOWN f:3:\d+: found <cluster id="x">/],
  ];
  for (const [inside, wanted] of cases) t.regex(getFault(dax(inside)), wanted);
  t.regex(
    getFault(dax(job(''), 'version="5.0"')),
    /^MUT_WORKFLOW_VERSION f:2:\d+: found version="5.0" of <adag>, expected a DAX of version 1.8 to 3.6/,
  );
});

test('links without a file, notifications and checkpoints do nothing, and a warning says so', (t) => {
  const { tasks, warnings } = parseWorkflow(
    dax(
      job(
        '<uses name="x" link="none"/><uses name="c" link="checkpoint"/><uses name="o" link="output" ' +
          'optional="true"/><invoke when="at_end">/bin/mail</invoke>',
      ),
    ),
    'f',
  );
  t.deepEqual([tasks[0]?.inputs, tasks[0]?.outputs.map(({ name }) => name)], [[], ['o']]);
  t.deepEqual(warnings, [
    '1 file that is optional for Pegasus must be there here',
    '1 checkpoint not kept: a task that runs again starts from its beginning',
    'adag/job/invoke is not used (1 time): a notification is not sent',
  ]);
});

test('a DAX that is written is read again as the same workflow', (t) => {
  const text = dax(`<file name="raw"><pfn url="file:///data/raw%20file" site="local"/></file>
    <job id="A" name="keg"><argument>-x 'a b' &amp; '$(id)'</argument><profile namespace="pegasus" key="runtime">1.5</profile><profile namespace="pegasus" key="cores">2</profile><profile namespace="pegasus" key="memory">300</profile><profile namespace="pegasus" key="gpus">1</profile><uses name="raw" link="input" size="4"/><uses name="x" link="output" transfer="true" size="9"/></job>
    <job id="B" name="keg"><argument>&lt; y</argument><stdout name="log"/><uses name="x" link="inout" transfer="false" size="8"/></job><child ref="B"><parent ref="A"/><parent ref="A"/></child>`);
  const document = parseWorkflow(text, 'f');
  const again = parseWorkflow(printDax(document), 'g');
  const plain = (tasks: readonly DocumentTask[]): unknown =>
    JSON.parse(
      JSON.stringify(
        tasks.map(({ kind, command, ...task }) => ({
          ...task,
          outputs: task.outputs.map(({ name, bytes }) => ({ name, bytes })),
        })),
      ),
    );
  t.deepEqual(plain(again.tasks), plain(document.tasks));
  t.is(again.tasks[0]?.command, document.tasks[0]?.command);
  t.is(again.tasks[1]?.command, `sh -c 'keg '\\''<'\\'' y > log'`);
  t.deepEqual(getDraft(again).edges, getDraft(document).edges);
});
