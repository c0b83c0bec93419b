import test from 'ava';
import { detectFormat } from '@mutirao/formats';

const formats: readonly (readonly [string, string])[] = [
  ['jdf', '# a comment\n\n  Job :\n label: x\n task: remote: a\n'],
  ['jdf', 'job:\nremote: Executable = "x";\ntask:\n'],
  ['jdf', 'task:\nremote: a\n'],
  ['jdf-g1', 'JOB :\nINIT = put a b;\n'],
  ['jdf-arrebol', 'job:\nschedpath: /home\n'],
  ['jdl', '[ Executable = "/bin/ls"; ]'],
  ['jdl', 'Executable = "/bin/ls";\n'],
  ['sdf-classad', '[ servername="x"; workers={a}; ]'],
  ['gdf', 'peer:\n username: a\n'],
  ['gdf-g2', 'mygump :\n type: UALinux\n'],
  ['gdf-g1', 'GUMP {\n}\n'],
  ['sdf', 'worker:\n username: a\n'],
  ['wfformat', '{"schemaVersion":"1.5","workflow":{}}'],
  ['json', '{"a":1}'],
  ['json', '[1, 2]'],
  ['dax', '<?xml version="1.0"?>\n<adag xmlns="x">'],
  ['xml', '<job/>'],
  ['swf', '; Version: 2\n1 0 5 100 8 -1 -1 8 120 -1 1 3 1 -1 1 -1 -1 -1\n'],
  ['unknown', ''],
  ['unknown', 'echo hello\n'],
];

for (const [index, [format, text]] of formats.entries()) {
  test(`${format} is detected by its content (${index})`, (t) => {
    t.is(detectFormat(text), format as ReturnType<typeof detectFormat>);
  });
}
