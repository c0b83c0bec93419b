import test from 'ava';
import type { FormatError } from '../../../src/index.ts';
import { makeWorkflowJob, parseWorkflow } from '../../../src/workflow/index.ts';

const diamond = `
name: diamond
inputs: [in.txt]
outputs: [b]
tasks:
  split: {command: 'split {} in.txt', inputs: [in.txt], outputs: [a, b], time: 2s}
  left: {command: left, inputs: [a], outputs: [c], processors: 2}
  right: {command: right, inputs: [b], outputs: [d], processors: 1-4, after: [left]}
`;

const options = { directory: '/home/ana/photos' };

test('a workflow becomes a job: a group for each task, files from writer to reader, and the rest from and to the folder of the whole', (t) => {
  const { job, warnings } = makeWorkflowJob(parseWorkflow(diamond, 'd.yaml'), options);
  t.like(job, {
    label: 'diamond',
    homeDirectory: '/home/ana/photos',
    processors: 1,
    edges: [
      { from: 0, to: 1 },
      { from: 0, to: 2 },
      { from: 1, to: 2 },
    ],
  });
  const [split, left, right] = job.groups;
  t.deepEqual(split?.values, { kind: 'list', values: ['split'] });
  t.deepEqual(split?.inputs, [
    { root: 'playpen', path: 'in.txt', source: { kind: 'path', path: '/home/ana/photos/in.txt' }, condition: '' },
  ]);
  t.is(split?.expectedTime, 2000);
  t.deepEqual(
    split?.outputs.map(({ path, localPath }) => [path, localPath]),
    [
      ['a', ''],
      ['b', '/home/ana/photos/b'],
    ],
    'what is only read by others stays with the broker',
  );
  t.deepEqual(left?.inputs[0]?.source, { kind: 'output', taskIndex: 0, path: 'a' });
  t.deepEqual(
    right?.outputs.map(({ localPath }) => localPath),
    ['/home/ana/photos/d'],
  );
  t.false('expectedTime' in (left ?? {}));
  t.deepEqual(
    [split, left, right].map((group) => [group?.processors, group?.processorsMax]),
    [
      [undefined, undefined],
      [2, undefined],
      [undefined, 4],
    ],
  );
  t.deepEqual(warnings, []);
  t.not(split?.command, 'split {} in.txt', "what looks like a placeholder is the command's own");
});

test('a task without a command is refused with its place, unless one is given for all', (t) => {
  const xml =
    '<job name="x"><tasks><task id="1" operation="TRD" dimension="300"/>\n<task id="2" operation="C" ' +
    'dimension="30"/></tasks><edges><edge start="1" end="2"/></edges></job>';
  const error = t.throws<FormatError>(() => makeWorkflowJob(parseWorkflow(xml, 'x.xml'), options));
  t.is(error.code, 'MUT_WORKFLOW_NO_COMMAND');
  t.regex(error.message, /x\.xml:1:\d+/);
  const { job } = makeWorkflowJob(parseWorkflow(xml, 'x.xml'), {
    ...options,
    taskCommand: 'run {kind} {dimension} {id} {other}',
  });
  t.regex(job.groups[1]?.command ?? '', /^run C 30 2 /);
});

const wfFormat = (command: unknown) =>
  JSON.stringify({
    name: 'w',
    schemaVersion: '1.5',
    workflow: {
      specification: {
        tasks: [{ name: 'p', id: 'p1', parents: [], children: [], inputFiles: [], outputFiles: ['a b'] }],
        files: [{ id: 'a b', sizeInBytes: 3 }],
      },
      execution: { tasks: [{ id: 'p1', runtimeInSeconds: 1.5, ...(command === undefined ? {} : { command }) }] },
    },
  });

test('WfFormat gives program and arguments, each a word; where it gives none, there is no command', (t) => {
  const { job } = makeWorkflowJob(
    parseWorkflow(wfFormat({ program: 'touch', arguments: ['a b', '-f'] }), 'w.json'),
    options,
  );
  t.is(job.groups[0]?.command, "touch 'a b' -f");
  t.throws(() => makeWorkflowJob(parseWorkflow(wfFormat(undefined), 'w.json'), options), {
    message: /task p1 without a command/,
  });
});

const dax = (edges: string) => `<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="d">
<job id="A" name="a" runtime="1"><uses file="f" link="output" size="1"/></job><job id="B" name="b" runtime="1"><uses file="f" link="output" size="1"/></job>
<job id="C" name="c" runtime="1"><uses file="f" link="input" size="1"/></job>${edges}</adag>`;

test('of several writers a task reads the one that it waits for; without one, or with two, the file is refused', (t) => {
  const given = { ...options, taskCommand: 'x' };
  const { job } = makeWorkflowJob(parseWorkflow(dax('<child ref="C"><parent ref="B"/></child>'), 'd.dax'), given);
  t.like(job.groups[2]?.inputs[0]?.source, { kind: 'output', taskIndex: 1 });
  t.throws(() => makeWorkflowJob(parseWorkflow(dax(''), 'd.dax'), given), {
    message: /the input f of task C, which A and B write/,
  });
  t.throws(
    () =>
      makeWorkflowJob(parseWorkflow(dax('<child ref="C"><parent ref="A"/><parent ref="B"/></child>'), 'd.dax'), given),
    { message: /which A and B write/ },
  );
});

test('a task that reads what one writes waits for it, also where no edge says so', (t) => {
  const { job } = makeWorkflowJob(parseWorkflow(dax('').replace(/<job id="B".*?<\/job>/, ''), 'd.dax'), {
    ...options,
    taskCommand: 'x',
  });
  t.deepEqual(job.edges, [{ from: 0, to: 1, data: 1 }]);
});

test('a file that is not below the folder of the whole, and an output that nobody writes, are refused', (t) => {
  t.throws(() => makeWorkflowJob(parseWorkflow('tasks:\n  a: {command: x, outputs: [../b]}\n', 'a.yaml'), options), {
    message: /the file \.\.\/b of task a/,
  });
  t.throws(() => parseWorkflow('outputs: [z]\ntasks:\n  a: {command: x, outputs: [b]}\n', 'a.yaml'), {
    message: /a file that a task writes/,
  });
});
