// Workflow files before anything is submitted.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parseWorkflow } from '@mutirao/formats/workflow';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';

const yaml = `name: blur
inputs: {photo.png: 2MB}
outputs: [a.png]
tasks:
  split: {command: split photo.png, inputs: [photo.png], outputs: {a.png: 1MB, b.png: 500KB}, time: 10s}
  left: {command: "blur a.png > A.png", inputs: [a.png], outputs: [A.png], time: 20s, processors: 4}
  right: {inputs: [b.png], time: 1m30s, processors: 1-8}
  last: {command: tell, time: 250ms, after: [left, right]}
`;

const dax =
  '<adag name="d"><job id="A" name="make" runtime="1.5"><uses file="x" link="output" size="900"/></job><job ' +
  'id="B" name="make" runtime="2"><uses file="x" link="output" size="4"/></job></adag>\n';

function folderWith(t: ExecutionContext): string {
  const directory = temporaryFolder(t);
  writeFileSync(join(directory, 'blur.yaml'), yaml);
  writeFileSync(join(directory, 'two.dax'), dax);
  return directory;
}

test('workflow show prints the contents of a file, and its longest path', async (t) => {
  const directory = folderWith(t);
  const { status, out } = await runCommandLine(['workflow', 'show', 'blur.yaml'], { directory });
  t.is(status, 0, out);
  t.deepEqual(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ {2,}/, ': ')),
    [
      'workflow: blur',
      'tasks: 4',
      'without a command: 1',
      'edges: 4',
      'levels: 3, the widest has 2',
      'inputs: photo.png',
      'outputs: a.png, A.png',
      'run time: 120.25 s',
      'critical path: 100.25 s: split, right, last',
    ],
  );
  t.is(
    (await runCommandLine(['workflow', 'show', 'blur.yaml', '--quiet'], { directory })).out,
    'split\nleft\nright\nlast\n',
  );
});

test('workflow show prints as JSON what was put right', async (t) => {
  const { out, err } = await runCommandLine(['workflow', 'show', 'two.dax', '--json'], { directory: folderWith(t) });
  const {
    task_count: tasks,
    warnings,
    critical_path: path,
  } = JSON.parse(out) as { task_count: number; warnings: string[]; critical_path: string[] };
  t.deepEqual([tasks, warnings, path], [2, ['1 file with several writers, the first is x'], ['B']]);
  t.is(err, 'two.dax: 1 file with several writers, the first is x\n');
});

test('a workflow converted to YAML is the same workflow', async (t) => {
  const directory = folderWith(t);
  const { status, err } = await runCommandLine(
    ['workflow', 'convert', 'blur.yaml', '--to', 'yaml', '--output', 'again.yaml'],
    { directory },
  );
  t.deepEqual([status, err], [0, '']);
  const plain = (text: string): unknown => {
    const { tasks, edges, outputs } = parseWorkflow(text, 'f');
    return JSON.parse(JSON.stringify({ tasks, edges, outputs }));
  };
  t.deepEqual(plain(readFileSync(join(directory, 'again.yaml'), 'utf8')), plain(yaml));
});

test('what a format has no place for is said', async (t) => {
  const directory = folderWith(t);
  const { out, err } = await runCommandLine(['workflow', 'convert', 'blur.yaml', '--to', 'dax'], { directory });
  t.is(parseWorkflow(out, 'f').tasks.length, 4);
  t.deepEqual(err.trimEnd().split('\n'), ['blur.yaml: DAX has no place for ranges of processors; there are 1']);
  const converted = await runCommandLine(['workflow', 'convert', 'blur.yaml', '--to', 'wfformat'], { directory });
  t.is(parseWorkflow(converted.out, 'f').tasks[1]?.command, "sh -c 'blur a.png > A.png'");
  const asJson = await runCommandLine(['workflow', 'convert', 'blur.yaml', '--to', 'dot', '--json'], { directory });
  const { text, losses } = JSON.parse(asJson.out) as { text: string; losses: string[] };
  t.regex(text, /"split" -> "left";/);
  t.is(losses[0], 'DOT has no place for commands; there are 3');
});

test('a workflow that a format cannot express is refused with its place, and nothing is written', async (t) => {
  const directory = folderWith(t);
  const cases: [string[], RegExp][] = [
    [
      ['two.dax', '--to', 'yaml'],
      /MUT_WORKFLOW_OUTPUT_CONFLICT two\.dax as YAML:\d+:\d+: found the file x as an output of both A and B/,
    ],
    [
      ['blur.yaml', '--to', 'xml'],
      /MUT_WORKFLOW_SYNTAX blur\.yaml:5:\d+: found task split, which is not an operation on a matrix/,
    ],
    [
      ['blur.yaml', '--to', 'pdf'],
      /MUT_BAD_REQUEST --to is "pdf"; expected one of yaml, wfformat, wfformat-1\.6, dax, xml, dot/,
    ],
    [['gone.yaml', '--to', 'dot'], /MUT_FILE_NOT_FOUND there is no file gone\.yaml/],
    [['blur.yaml', '--to', 'dot', '--output', 'blur.yaml/x'], /MUT_BAD_REQUEST cannot write/],
  ];
  for (const [words, wanted] of cases) {
    const { status, out, err } = await runCommandLine(['workflow', 'convert', ...words], { directory });
    t.not(status, 0);
    t.is(out, '');
    t.regex(err, wanted);
  }
});
