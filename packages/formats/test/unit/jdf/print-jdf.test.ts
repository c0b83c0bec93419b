import test from 'ava';
import { FormatError, jobDefaults, makeTaskGroup, parseArray, parseJdf, printJdf } from '@mutirao/formats';

test('a template job is written as one task clause per task', (t) => {
  const group = makeTaskGroup({
    command: ['render', '{}', 'a b'],
    values: parseArray('3-4'),
    requirements: 'os == linux',
    check: 'test -s out.{}',
    inputs: [
      { source: { kind: 'path', path: '/home/ana/in {}' }, root: 'playpen', path: 'in', condition: '' },
      { source: { kind: 'path', path: '/home/ana/lib' }, root: 'storage', path: 'lib', condition: 'mem > 4' },
    ],
    outputs: [{ root: 'playpen', path: 'out', localPath: '/home/ana/out.{#}', condition: '' }],
  });
  t.is(
    printJdf({ ...jobDefaults, label: 'poster', homeDirectory: '/home/ana', groups: [group] }),
    `job:
label: poster

task:
requirements: os == linux
init:
  put "/home/ana/in 3" "$PLAYPEN/in"
  if mem > 4 then
  store "/home/ana/lib" "$STORAGE/lib"
  endif
remote: render 3 'a b'
final:
  get "$PLAYPEN/out" "/home/ana/out.0"
check: test -s out.3

task:
requirements: os == linux
init:
  put "/home/ana/in 4" "$PLAYPEN/in"
  if mem > 4 then
  store "/home/ana/lib" "$STORAGE/lib"
  endif
remote: render 4 'a b'
final:
  get "$PLAYPEN/out" "/home/ana/out.1"
check: test -s out.4
`,
  );
});

test('what a job says of site selection is written and read back', (t) => {
  const job = {
    ...jobDefaults,
    siteSelection: 'min-wwt:adaptive',
    homeDirectory: '/h',
    groups: [makeTaskGroup({ command: 'true', values: undefined })],
  };
  t.regex(printJdf(job), /^job:\nsite-selection: min-wwt:adaptive\n/);
  t.deepEqual(parseJdf(printJdf(job), { file: 'a.jdf', directory: '/h' }).job, job);
});

test('commands and labels that JDF would read otherwise are escaped', (t) => {
  for (const command of ['"prog" x', '"all"', 'a \\" b \\\\ c \\n', ' spaces ', 'x # y']) {
    const printed = printJdf({
      ...jobDefaults,
      label: command,
      homeDirectory: '/h',
      groups: [makeTaskGroup({ command, values: undefined })],
    });
    const { job } = parseJdf(printed, { file: 'a.jdf', directory: '/h' });
    t.is(job.groups[0]?.command, command);
    t.is(job.label, command);
  }
});

test('what JDF cannot write is refused', (t) => {
  const print = (command: string): string =>
    printJdf({ ...jobDefaults, homeDirectory: '/h', groups: [makeTaskGroup({ command, values: undefined })] });
  t.throws(() => print('a\nb'), {
    instanceOf: FormatError,
    message: 'job as JDF, character 1: found a line break in "a\\nb", expected one line',
  });
});
