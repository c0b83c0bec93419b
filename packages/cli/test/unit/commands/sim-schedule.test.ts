import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';

const yaml = `name: blur
tasks:
  split: {outputs: {a: 125MB, b: 125MB}, time: 10s}
  left: {inputs: [a], time: 20s}
  right: {inputs: [b], time: 20s}
  wide: {time: 8s, processors: 3}
`;

function folderWith(t: Parameters<typeof temporaryFolder>[0], text = yaml): string {
  const directory = temporaryFolder(t);
  writeFileSync(join(directory, 'w.yaml'), text);
  writeFileSync(
    join(directory, 'processors.conf'),
    '1 alfa 10.0.0.1 1000\n2 beta 10.0.0.2 1000\n3 gama 10.0.0.3 500\n',
  );
  return directory;
}

const words = ['sim', 'schedule', '--workflow', 'w.yaml', '--platform', 'processors.conf', '--start-up', '0'];

test('sim schedule prints makespan, speedup and efficiency, and why each task is where it is', async (t) => {
  const directory = folderWith(t);
  const { status, out } = await runCommandLine([...words, '--algorithm', 'heft', '--why'], { directory });
  t.is(status, 0, out);
  t.regex(out, /algorithm +heft/);
  t.regex(out, /critical path at full speed +30 s/);
  t.regex(
    out,
    /split runs on 1 alfa from 0 s to 10 s: where it ends earliest, as soon as its job is submitted; on 2 beta it would end at 10 s/,
  );
});

test('sim schedule gives every site selection as JSON, and draws the map', async (t) => {
  const directory = folderWith(t);
  const { status, out } = await runCommandLine([...words, '--svg', 'map.svg', '--json'], { directory });
  t.is(status, 0, out);
  const document = JSON.parse(out) as {
    algorithm: string;
    makespan_s: number;
    bound_s: number;
    placements: { task: string; processors: string[]; start_s: number; end_s: number }[];
  };
  t.regex(document.algorithm, /^auto: /);
  t.true(document.makespan_s >= document.bound_s);
  t.deepEqual(
    document.placements.map(({ task }) => task),
    ['split', 'left', 'right', 'wide'],
  );
  t.is(document.placements[3]?.processors.length, 3);
  const svg = readFileSync(join(directory, 'map.svg'), 'utf8');
  t.is(
    svg.match(/<rect x=/g)?.length,
    10,
    'a box for each task on each of its processors, and one for each task in the legend',
  );
  t.true(svg.includes('>3 gama</text>'));
});

test('sim schedule refuses what it cannot plan, with the place', async (t) => {
  const cases: [string, string[], RegExp][] = [
    [
      yaml.replace('processors: 3', 'processors: 4'),
      [],
      /MUT_WORKFLOW_WIDTH w\.yaml:6:\d+: found task wide takes 4 processors; there are 3/,
    ],
    [yaml.replace('inputs: [b]', 'inputs: [z]'), [], /MUT_WORKFLOW_NO_PRODUCER w\.yaml:5:/],
    [
      yaml,
      ['--algorithm', 'best'],
      /MUT_BAD_REQUEST --algorithm is "best"; expected one of heft, cpop, ihpts, hpts, auto/,
    ],
    [yaml, ['--platform', 'w.yaml'], /MUT_PLATFORM_SYNTAX w\.yaml:1:1/],
    [yaml, ['--workflow', 'gone.yaml'], /MUT_FILE_NOT_FOUND there is no file gone\.yaml/],
    [yaml, ['--svg', 'w.yaml/map.svg'], /MUT_BAD_REQUEST cannot write/],
  ];
  for (const [text, more, wanted] of cases) {
    const given = words.indexOf(more[0] ?? '');
    const others = given < 0 ? words : words.filter((_word, index) => index !== given && index !== given + 1);
    const { status, err } = await runCommandLine([...others, ...more], { directory: folderWith(t, text) });
    t.not(status, 0);
    t.regex(err, wanted);
  }
});
