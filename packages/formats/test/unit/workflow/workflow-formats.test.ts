import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { makeWorkflow } from '@mutirao/core/workflow';
import { FormatError } from '@mutirao/formats';
import {
  getDraft,
  parseProcessorsConf,
  parseWorkflow,
  printDax,
  printDot,
  printJobXml,
  printWfFormat,
} from '@mutirao/formats/workflow';

/** Reads a workflow to the end and returns its error. */
function getFault(text: string): string {
  try {
    getDraft(parseWorkflow(text, 'f'));
    return 'nothing';
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

const yaml = `name: blur
inputs: {photo.png: 2MB}
tasks:
  split:
    command: split photo.png
    inputs: [photo.png]
    outputs: {a.png: 1MB, b.png: 500KB}
    time: 30s
  left: {command: blur a.png, inputs: [a.png], outputs: [A.png], time: 1m, processors: 4}
  right: {inputs: [b.png], time: 90s, processors: 1-8, after: [left]}
`;

test('a workflow written by hand: files make edges with the size of what is written, and after makes edges without data', (t) => {
  const document = parseWorkflow(yaml, 'blur.yaml');
  const draft = getDraft(document);
  t.deepEqual(draft.edges, [
    { from: 'split', to: 'left', data: 1_000_000, share: 0 },
    { from: 'split', to: 'right', data: 500_000, share: 0 },
    { from: 'left', to: 'right', data: 0, share: 0 },
  ]);
  t.deepEqual(
    draft.tasks.map(({ work, widthMin, widthMax }) => [work, widthMin, widthMax]),
    [
      [30_000, 1, 1],
      [60_000, 4, 4],
      [90_000, 1, 8],
    ],
  );
  t.deepEqual([document.name, document.tasks[0]?.command], ['blur', 'split photo.png']);
});

test('an error in YAML is reported with its line and column', (t) => {
  t.is(
    getFault(yaml.replace('[b.png]', '[c.png]')),
    'MUT_WORKFLOW_NO_PRODUCER f:10:19: found the input c.png of task right, which no task writes, expected an ' +
      'output of a task, or a name in inputs of the whole workflow',
  );
  t.regex(
    getFault(yaml.replace('[A.png]', '[b.png]')),
    /^MUT_WORKFLOW_OUTPUT_CONFLICT f:9:9: found the file b.png as an output of both split and left/,
  );
  t.regex(
    getFault(yaml.replace('after: [left]', 'after: [gone]')),
    /^MUT_WORKFLOW_DANGLING_EDGE f:10:\d+: .*the task gone, which does not exist/,
  );
  t.regex(
    getFault(yaml.replace('after: [left]', 'after: [left, left]')),
    /^MUT_WORKFLOW_DUPLICATE_EDGE f:10:\d+: found "left" as tasks\.right\.after\[1\], expected each task once/,
  );
  t.regex(
    getFault(yaml.replace('time: 1m,', 'time: 1m, after: [right],')),
    /^MUT_WORKFLOW_CYCLE f:\d+:\d+: found 2 tasks wait for each other: /,
  );
  t.regex(
    getFault(yaml.replace('time: 1m,', 'colour: red,')),
    /^MUT_WORKFLOW_SYNTAX f:9:\d+: found "red" as tasks.left.colour/,
  );
  t.is(
    getFault(yaml.replace('time: 1m', 'time: -5s')),
    'MUT_BAD_DURATION f:9:72: found "-5s" as tasks.left.time, expected a number with a unit, as in 90s or 1h30m',
  );
  t.regex(
    getFault(yaml.replace('500KB', 'big')),
    /^MUT_BAD_SIZE f:7:\d+: found "big" as tasks\.split\.outputs\.b\.png/,
  );
  t.regex(getFault(yaml.replace('processors: 4', 'processors: few')), /^MUT_WORKFLOW_WIDTH f:9/);
  t.regex(getFault('tasks:\n  a: {\n'), /^MUT_WORKFLOW_SYNTAX f:\d+:\d+: found /);
  t.is(getFault('name: nothing\n').split(' ')[0], 'MUT_WORKFLOW_EMPTY');
  t.regex(getFault('tasks:\n  a: &x {time: 1s}\n  b: *x\n'), /^MUT_WORKFLOW_SYNTAX f:3:6: found the alias \*x/);
  t.regex(getFault('tasks:\n  a: {time: 1s}\n  a: {time: 2s}\n'), /^MUT_WORKFLOW_SYNTAX f:3:/);
});

const wfFormat = (changes: Record<string, unknown> = {}, seconds = 2.5): string =>
  JSON.stringify(
    {
      name: 'two',
      schemaVersion: '1.5',
      workflow: {
        specification: {
          tasks: [
            { name: 'make', id: 'a', parents: [], children: ['b'], inputFiles: [], outputFiles: ['x'] },
            { name: 'use', id: 'b', parents: ['a'], children: [], inputFiles: ['x'], outputFiles: [] },
          ],
          files: [{ id: 'x', sizeInBytes: 700 }],
        },
        execution: {
          tasks: [
            { id: 'a', runtimeInSeconds: seconds },
            { id: 'b', runtimeInSeconds: 1 },
          ],
        },
      },
      ...changes,
    },
    null,
    1,
  );

test('WfFormat: run times of the execution become work, and an edge carries what one writes and the other reads', (t) => {
  const draft = getDraft(parseWorkflow(wfFormat(), 'two.json'));
  t.deepEqual(draft.edges, [{ from: 'a', to: 'b', data: 700, share: 0 }]);
  t.deepEqual(
    draft.tasks.map(({ work }) => work),
    [2500, 1000],
  );
});

test('WfFormat of another version, with an unknown file, a negative time or cut off is refused with its place', (t) => {
  t.is(
    getFault(wfFormat({ schemaVersion: '9.9' })),
    'MUT_WORKFLOW_VERSION f:3:19: found "9.9" as schemaVersion, expected a version of WfFormat that is read: ' +
      '1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6',
  );
  t.regex(
    getFault(wfFormat().replace('"inputFiles": [\n      "x"', '"inputFiles": [\n      "y"')),
    /^MUT_WORKFLOW_NO_PRODUCER f:\d+:\d+: found "y" as workflow.specification.tasks\[1\].inputFiles\[0\]/,
  );
  t.regex(
    getFault(wfFormat({}, -3)),
    /^MUT_WORKFLOW_COST f:\d+:\d+: found -3 as workflow\.execution\.tasks\[0\]\.runtimeInSeconds/,
  );
  t.regex(getFault(wfFormat().slice(0, -40)), /^MUT_WORKFLOW_SYNTAX f:\d+:\d+: /);
});

const dax = `<?xml version="1.0"?>
<adag name="d" version="2.1">
  <job id="A" name="make" runtime="1.5"><uses file="x" link="output" size="900"/></job>
  <job id="B" name="use" runtime="2"><uses file="x" link="input" size="4"/><uses file="raw" link="input" size="-7"/></job>
  <child ref="B"><parent ref="A"/></child>
</adag>
`;

test("DAX: the size of a file is its writer's, sizes below 0 count as 0 with a warning", (t) => {
  const document = parseWorkflow(dax, 'd.dax');
  t.deepEqual(getDraft(document).edges, [{ from: 'A', to: 'B', data: 900, share: 0 }]);
  t.deepEqual(document.warnings, ['1 number below 0 count as 0, the first at line 4']);
  t.regex(getFault(dax.replace('runtime="2"', 'runtime="soon"')), /^MUT_WORKFLOW_COST f:4:\d+: found runtime="soon"/);
  t.regex(getFault(dax.replace('ref="A"', 'ref="Z"')), /^MUT_WORKFLOW_DANGLING_EDGE f:5:/);
});

test('DAX of profiled runs: run times below 0 count as 0, and a reader gets a file of several writers in the size of the one before it', (t) => {
  const document = parseWorkflow(
    dax
      .replace('runtime="1.5"', 'runtime="-1.5"')
      .replace('size="-7"/>', 'size="7"/><uses file="x" link="output" size="50"/>'),
    'd.dax',
  );
  t.deepEqual(document.warnings, [
    '1 number below 0 count as 0, the first at line 3',
    '1 file with several writers, the first is x',
  ]);
  const { tasks, edges } = getDraft(document);
  t.is(tasks[0]?.work, 0);
  t.deepEqual(edges, [{ from: 'A', to: 'B', data: 900, share: 0 }]);
});

test('XML with a document type is refused before an entity can do anything', (t) => {
  const bomb = '<!DOCTYPE adag [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n';
  t.regex(
    getFault(bomb + dax.slice(dax.indexOf('<adag'))),
    /^MUT_WORKFLOW_SYNTAX f:1:\d+: found a document type, expected XML without one/,
  );
  t.regex(getFault(dax.replace('name="d"', 'name="&secret;"')), /^MUT_WORKFLOW_SYNTAX f:2:/);
  t.regex(getFault(dax.replace('</adag>', '')), /^MUT_WORKFLOW_SYNTAX f:\d+:\d+: /);
  t.regex(getFault(`<job>${'<a>'.repeat(100)}`), /elements 65 deep/);
});

const jobXml = `<job name="chain" ccr="0.5">
  <tasks>
    <task id="1" operation="TRD" dimension="300" parameters="-v" x="10" y="20"/>
    <task id="2" operation="C" dimension="300"/>
  </tasks>
  <edges><edge start="1" end="2"/></edges>
</job>
`;

test('our XML of a job: operations cost what Tabela 5.5 says relative to each other, an edge a share of its sender', (t) => {
  const { tasks, edges } = getDraft(parseWorkflow(jobXml, 'j.xml'));
  t.deepEqual(
    tasks.map(({ work }) => work),
    [36, 108],
  );
  t.deepEqual(
    tasks.map(({ exchange }) => exchange),
    [720_000, 360_000],
  );
  t.deepEqual(edges, [{ from: '1', to: '2', data: 0, share: 0.5 }]);
  t.regex(
    getFault(jobXml.replace('"TRD"', '"TDR"')),
    /^MUT_WORKFLOW_SYNTAX f:3:\d+: found operation="TDR", expected one of TRD, Q, QR, C, MM; did you mean TRD\?/,
  );
  t.regex(getFault(jobXml.replace(' dimension="300" par', ' par')), /found <task> without dimension/);
});

test('what is written is read again as the same workflow', (t) => {
  for (const [text, print] of [
    [wfFormat(), printWfFormat],
    [dax, printWfFormat],
    [wfFormat(), printDax],
    [dax.replace('size="-7"', 'size="7"'), printDax],
    [jobXml, printJobXml],
  ] as const) {
    const document = parseWorkflow(text, 'f');
    t.deepEqual(getDraft(parseWorkflow(print(document) ?? '', 'g')), getDraft(document));
  }
  t.is(printJobXml(parseWorkflow(dax, 'f')), undefined);
});

test('DOT has a box for each task and an arrow for each edge, with names quoted', (t) => {
  t.is(
    printDot(parseWorkflow(dax.replace('name="d"', 'name="d &quot;x&quot;"'), 'f')),
    'digraph "d \\"x\\"" {\n  node [shape=box];\n  "A" [label="A\\nmake"];\n  "B" [label="B\\nuse"];\n  "A" -> ' +
      '"B";\n}\n',
  );
});

test('processors.conf lists number, host, address and Mflop/s', (t) => {
  t.deepEqual(parseProcessorsConf('# ours\n1 alfa 10.0.0.1 33.1\n2 beta 10.0.0.2 24.8 # old\n', 'p'), [
    { name: '1 alfa', speed: 33.1 },
    { name: '2 beta', speed: 24.8 },
  ]);
  t.throws(() => parseProcessorsConf('1 alfa 10.0.0.1\n', 'p'), { message: /^p:1:1: found .* expected four words/ });
  t.throws(() => parseProcessorsConf('1 a x 5\n1 b y 5\n', 'p'), { message: /^p:2:1: found the number 1 again/ });
  t.throws(() => parseProcessorsConf('1 a x 0\n', 'p'), { message: /a speed above 0/ });
  t.throws(() => parseProcessorsConf('\n', 'p'), { message: /no processor/ });
});

test('every instance of the data folder is read, where there is one', (t) => {
  const data = process.env['MUTIRAO_DATA'] ?? '';
  for (const folder of ['wfinstances', 'dax'].map((name) => join(data, 'workflows', name))) {
    if (data === '' || !existsSync(folder)) continue;
    for (const name of readdirSync(folder))
      t.true(
        makeWorkflow(getDraft(parseWorkflow(gunzipSync(readFileSync(join(folder, name))).toString(), name))).order
          .length > 0,
        name,
      );
  }
  t.pass();
});

test('a workflow of Pegasus 5 is refused with what is read instead', (t) => {
  t.regex(
    getFault('pegasus: "5.0"\nname: w\njobs: []\n'),
    /^MUT_WORKFLOW_VERSION f:1:\d+: found "5.0" as pegasus, expected a DAX/,
  );
});
