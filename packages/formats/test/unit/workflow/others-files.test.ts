// Workflow files as other programs and people write them: what would be lost or read as something else is refused.
import test from 'ava';
import { FormatError } from '@mutirao/formats';
import { makeWorkflowJob, parseWorkflow, type WorkflowDocument } from '@mutirao/formats/workflow';

const read = (text: string): WorkflowDocument => parseWorkflow(text, 'f');

function getFault(text: string): string {
  try {
    makeWorkflowJob(read(text), { directory: '/home/ana/w', taskCommand: 'true' });
    return 'nothing';
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

const dax = (inside: string): string =>
  `<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.6" name="d">${inside}</adag>`;
const job = (inside: string, attributes = ''): string => dax(`<job id="A" name="k"${attributes}>${inside}</job>`);
const profile = (name: string): string => {
  const [namespace = '', key = ''] = name.split('::');
  return `<profile namespace="${namespace}" key="${key}">x</profile>`;
};

test("XML: a prefix for the root's namespace is dropped from names; elements of another namespace are refused", (t) => {
  const prefixed =
    '<?xml version="1.0"?><!-- <job> --><p:adag xmlns:p="http://pegasus.isi.edu/schema/DAX" version="3.6">' +
    '<p:job id="A" name="k"><p:argument>-i <p:file name="f"/></p:argument><p:uses name="f" link="input"/></p:job>' +
    '<job xmlns="" id="B" name="l"/></p:adag>';
  t.deepEqual(
    read(prefixed).tasks.map(({ command, inputs }) => [command, inputs.length]),
    [
      ['k -i f', 1],
      ['l', 0],
    ],
  );
  t.regex(getFault(dax('<x:job xmlns:x="urn:x" id="A" name="k"/>')), /^MUT_WORKFLOW_UNKNOWN f:.* found <x:job id="A">/);
  t.regex(getFault(dax('<job xmlns="urn:x" id="A" name="k"/>')), /^MUT_WORKFLOW_UNKNOWN f:.* found <urn:x:job id="A">/);
  const other = '<job name="x"><!-- was <adag > --><tasks><task id="a" operation="C" dimension="9"/></tasks></job>';
  t.is(read(other).tasks[0]?.kind, 'C', 'an element within a comment says nothing about the format');
});

test('DAX: each stream of a job is one file, and none that the job reads is emptied', (t) => {
  t.regex(getFault(job('<stdin name="a"/><stdin name="b"/>')), /^MUT_WORKFLOW_UNSUPPORTED .*a second <stdin name="b">/);
  t.regex(
    getFault(job('<stdout name="a"/><stdout name="b"/>')),
    /^MUT_WORKFLOW_UNSUPPORTED .*a second <stdout name="b">/,
  );
  const emptied = /^MUT_WORKFLOW_UNSUPPORTED .*<stdout name="a">, which the job also reads/;
  t.regex(getFault(job('<stdin name="a"/><stdout name="a"/>')), emptied);
  t.regex(getFault(job('<stdout name="a"/><uses name="a" link="input"/>')), emptied);
  t.is(read(job('<stdout name="log"/><stderr name="log"/>')).tasks[0]?.command, 'k > log 2>&1');
});

test('DAX: a program of which the file has only other versions is not looked up in PATH', (t) => {
  const file = (attributes: string): string =>
    dax(
      '<executable namespace="n" name="keg" version="4.0"><pfn url="file:///opt/keg" site="local"/></executable>' +
        `<job id="A" name="keg"${attributes}/>`,
    );
  t.is(read(file(' namespace="n" version="4.0"')).tasks[0]?.command, '/opt/keg');
  t.regex(
    getFault(file(' namespace="n" version="3.0"')),
    /^MUT_WORKFLOW_UNSUPPORTED .*the program n::keg:3\.0, of which the file has only n::keg:4\.0/,
  );
  t.regex(getFault(file('')), /^MUT_WORKFLOW_UNSUPPORTED .*the program keg, of which/);
});

test('DAX: a file that the catalog has twice has several places, and a warning says which is read', (t) => {
  const { tasks, warnings } = read(
    dax(
      '<file name="a"><pfn url="file:///x/a" site="s"/></file><file name="a"><pfn url="file:///y/a" site="local"/>' +
        '</file><job id="A" name="k"><uses name="a" link="input"/></job>',
    ),
  );
  t.is(tasks[0]?.inputs[0]?.home, '/y/a');
  t.deepEqual(warnings, ['a has several places; used is file:///y/a of the site local']);
});

test('DAX: names, numbers and children that mean nothing are refused', (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    [dax('<job id="A" name=" "/>'), /^MUT_WORKFLOW_SYNTAX .*a job with an empty name/],
    [job('<uses name="a" file="b" link="input"/>'), /^MUT_WORKFLOW_SYNTAX .*name="a" and file="b" of <uses>/],
    [job('<uses name="" link="input"/>'), /^MUT_WORKFLOW_SYNTAX .*<uses> with an empty name/],
    [job('<uses name="a" link="input" size="0x10"/>'), /^MUT_WORKFLOW_COST .*size="0x10"/],
    [job('', ' cores="-3"'), /^MUT_WORKFLOW_WIDTH .*cores="-3"/],
    [job('<profile namespace="pegasus">2</profile>'), /^MUT_WORKFLOW_SYNTAX .*expected a namespace and a key/],
    [dax('<job id="A" name="k"/><child ref="Z"/>'), /^MUT_WORKFLOW_DANGLING_EDGE .*<child ref="Z">/],
  ];
  for (const [text, wanted] of cases) t.regex(getFault(text), wanted);
  t.deepEqual(read(job('<uses name="a" link="input"><metadata key="size">10 MB</metadata></uses>')).warnings, [
    '1 size in metadata not known, the first is "10 MB" of a',
  ]);
});

test('DAX: profiles that say where a job runs or what it reads and writes are refused', (t) => {
  for (const name of [
    'condor::initialdir',
    'condor::transfer_input_files',
    'condor::transfer_output_remaps',
    'globus::directory',
    'globus::stdout',
    'pegasus::container',
  ])
    t.regex(getFault(job(profile(name))), new RegExp(`^MUT_WORKFLOW_UNSUPPORTED .*the profile ${name} `), name);
});

const wf = (tasks: readonly object[], version: unknown = '1.4', key = 'tasks'): string =>
  JSON.stringify({ name: 'w', schemaVersion: version, workflow: { [key]: tasks } });

test('WfFormat: a parent is one task; a name or an id of several, or of none, is refused', (t) => {
  const two = [
    { name: 'a', id: '1' },
    { name: 'a', id: '2' },
  ];
  t.deepEqual(
    read(wf([...two, { name: 'b', id: '3', parents: ['1', '2'] }])).edges.map(({ from }) => from),
    ['a_1', 'a_2'],
  );
  t.regex(
    getFault(wf([...two, { name: 'b', id: '3', parents: ['a'] }])),
    /^MUT_WORKFLOW_DANGLING_EDGE .*found "a" as workflow\.tasks\[2\]\.parents\[0\], expected one task; a_1, a_2 have/,
  );
  const crossed = [
    { name: 'x', id: 'y' },
    { name: 'y', id: 'z' },
  ];
  t.regex(getFault(wf([...crossed, { name: 'b', parents: ['y'] }])), /^MUT_WORKFLOW_DANGLING_EDGE .*x, y have that/);
  t.regex(getFault(wf([{ name: 'a' }, { name: 'b', parents: [''] }])), /^MUT_WORKFLOW_DANGLING_EDGE .*found ""/);
});

test('WfFormat: what stands twice, or where it does not belong, is refused instead of left out', (t) => {
  const specification = (files: readonly object[], runs: readonly object[]): string =>
    JSON.stringify({
      schemaVersion: '1.5',
      workflow: { specification: { tasks: [{ name: 'a', id: 'a' }], files }, execution: { tasks: runs } },
    });
  const cases: readonly (readonly [string, RegExp])[] = [
    [specification([], [{ id: 'a' }, { id: 'a' }]), /^MUT_WORKFLOW_DUPLICATE_TASK .*expected one run of each task/],
    [
      specification(
        [
          { id: 'x', sizeInBytes: 1 },
          { id: 'x', sizeInBytes: 2 },
        ],
        [],
      ),
      /^MUT_WORKFLOW_COST .*expected 1, as for the same file before/,
    ],
    [specification([], [{ id: 'a', command: 'ls -l' }]), /^MUT_WORKFLOW_SYNTAX .*found "ls -l" as .*\.command/],
    [wf([{ name: 'a', files: ['x'] }]), /^MUT_WORKFLOW_SYNTAX .*found "x" as workflow\.tasks\[0\]\.files\[0\]/],
    [wf([{ name: 'a', files: [{ name: 'x', link: 'input', size: -1 }] }]), /^MUT_WORKFLOW_COST .*found -1/],
    [
      '{"schemaVersion":"1.4","workflow":{"tasks":[{"name":"a",\n"runtime":1,"runt\\u0069me":2}]}}',
      /^MUT_WORKFLOW_SYNTAX f:2:13: found a second "runtime" in one object/,
    ],
    [wf([], '1.4', 'repo'), /^MUT_WORKFLOW_SYNTAX .*expected specification .*, tasks .* or jobs/],
    [
      '{"schemaVersion":"1.5","workflow":{"tasks":[],"specification":{"tasks":[]}}}',
      /^MUT_WORKFLOW_SYNTAX .*found \[\] as workflow\.tasks/,
    ],
  ];
  for (const [text, wanted] of cases) t.regex(getFault(text), wanted);
  const allowed = '{"schemaVersion":"1.4","workflow":{"tasks":[{"name":"name"},{"name":"a:\\"{,"}]}}';
  t.is(getFault(allowed), 'nothing', 'the same name in two objects');
});

test('WfFormat: what a file holds counts more than its version, which may be a number', (t) => {
  t.is(getFault(wf([{ name: 'a' }], '1.5')), 'nothing');
  t.is(getFault(wf([{ name: 'a' }], 1.4)), 'nothing');
  t.is(getFault(wf([{ name: 'a' }], 1, 'jobs')), 'nothing');
  t.regex(getFault(wf([{ name: 'a' }], 2)), /^MUT_WORKFLOW_VERSION /);
});

test('WfFormat: the path of a file is its folder, with or without a slash at the end', (t) => {
  const files = [
    { path: 'dir', name: 'x', link: 'input' },
    { path: 'dir/', name: 'y', link: 'input' },
    { path: 'dir/z', name: 'z', link: 'input' },
  ];
  t.deepEqual(
    read(wf([{ name: 'a', files }])).tasks[0]?.inputs.map(({ name }) => name),
    ['dir/x', 'dir/y', 'dir/z'],
  );
});

test('a file that 20,000 tasks write is read in seconds', (t) => {
  const tasks = Array.from({ length: 20_000 }, (_, index) => ({
    name: `t${index}`,
    files: [{ name: 'log', link: 'output' }],
  }));
  const started = performance.now();
  t.is(getFault(wf(tasks)), 'nothing');
  t.true(performance.now() - started < 20_000, 'it took 70 s when each task looked at all others');
});

test('YAML: names of tasks and files are what stands in the file, also where they look like numbers or yes and no', (t) => {
  const { name, tasks, edges } = read(`name: 2024
tasks:
  007: {command: true, outputs: {1.10: 5MB, 0x1F: 1.5e3}}
  no: {command: echo, after: [007], inputs: [1.10, 0x1F], outputs: [off]}
  1e3: {inputs: [off], memory: 1073741824}
`);
  t.deepEqual(
    [name, ...tasks.map(({ id, command }) => `${id}: ${command}`)],
    ['2024', '007: true', 'no: echo', '1e3: '],
  );
  t.deepEqual(tasks[0]?.outputs, [
    { name: '1.10', bytes: 5e6 },
    { name: '0x1F', bytes: 1500 },
  ]);
  t.is(tasks[2]?.memory, 2 ** 30);
  t.deepEqual(
    edges.map(({ from, to }) => `${from} ${to}`),
    ['007 no', 'no 1e3'],
  );
  t.regex(getFault('tasks:\n  1: {}\n  "1": {}\n'), /^MUT_WORKFLOW_SYNTAX f:3:3: found Map keys must be unique/);
});

test('YAML: what would be left out is refused where it stands', (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['tasks:\n  a: {command: x}\n---\ntasks:\n  b: {command: y}\n', /f:3:1: found a second document/],
    ['tasks:\n  a:\n    command: !include x\n', /f:3:\d+: found a value of the type !include/],
    ['tasks:\n  a: {command: !!binary ZQ==}\n', /f:2:\d+: found a value of the type !!binary/],
    ['tasks:\n  ? [a, b]\n  : {command: x}\n', /f:2:5: found a list or a map as a name/],
    ['tasks:\n  a:\n    command: *.txt\n', /f:3:14: found the alias \*\.txt, expected .* quotes around a text/],
    ['tasks:\n  a: {inputs: x}\n', /f:2:15: found "x" as tasks\.a\.inputs, expected a list of names/],
    ['tasks: all\n', /f:1:8: found "all" as tasks, expected names with values/],
  ];
  for (const [text, wanted] of cases) t.regex(getFault(text), wanted);
  t.is(getFault('%YAML 1.2\n---\ntasks:\n  a: !!map {command: !!str x}\n...\n'), 'nothing');
  t.regex(getFault('tasks:\n  a: {time: 60}\n'), /^MUT_BAD_DURATION .*found "60" .*expected one of the units d, h/);
});

test('YAML is read also where a program has written it as JSON', (t) => {
  t.is(read('{"tasks": {"a": {"command": "echo", "time": "5s"}}}').tasks[0]?.work, 5000);
  t.regex(getFault('{"name": "w", "workflow": {"tasks": []}}'), /^MUT_WORKFLOW_SYNTAX .*JSON without schemaVersion/);
});

test('UTF-16 without a byte order mark is named', (t) => {
  t.regex(getFault('<\0a\0'), /^MUT_BAD_REQUEST f:1:1: found a NUL next to the first letter, as in UTF-16/);
});
