import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { registry } from '@mutirao/api/errors';
import { FormatError, parseJdf } from '@mutirao/formats';

const docs = readFileSync(join(import.meta.dirname, '../../docs/reference/jdf.md'), 'utf8');

test('the example of docs/reference/jdf.md is read as it is explained there', (t) => {
  const [, example = ''] = /```jdf\n([^]*?)```/.exec(docs) ?? [];
  const { job, warnings } = parseJdf(example, { file: 'docs', directory: '/home/ana' });
  t.deepEqual(warnings, []);
  t.deepEqual(
    job.groups.map(({ inputs }) => inputs.map(({ root, path }) => `${root} ${path}`)),
    [['playpen book.txt', 'storage count.sh'], ['playpen book.txt', 'storage count.sh'], []],
  );
  t.true(job.groups.every(({ check, outputs }) => check === 'test -s results/$TASK.txt' && outputs.length === 1));
});

test('docs/reference/jdf.md names codes of the registry only, and shows the message that the parser gives', (t) => {
  for (const [, code = ''] of docs.matchAll(/`(MUT_[A-Z_]+)`/g)) t.true(code in registry, code);
  const [, shown] = /^(sweep\.jdf:.*)$/m.exec(docs) ?? [];
  t.throws(() => parseJdf('job:\ntask:\nremot: x\n', { file: 'sweep.jdf', directory: '/' }), {
    instanceOf: FormatError,
    message: shown!,
  });
});

test('every code that the formats refuse with is in the registry', (t) => {
  const refused = [
    'job:\ntask:\nremot: x',
    'job:',
    'job:\ntask:',
    'JOB:\nINIT = a;',
    'job:\ntask:\nremote: x\ninit: put a ../b',
  ].map((text) => {
    const error = t.throws(() => parseJdf(text, { file: 'a', directory: '/' }), { instanceOf: FormatError });
    return error.code;
  });
  t.deepEqual(refused, [
    'MUT_JDF_SYNTAX',
    'MUT_JDF_NO_TASK',
    'MUT_JDF_NO_REMOTE',
    'MUT_JDF_DIALECT',
    'MUT_PATH_LEAVES_ROOT',
  ]);
  for (const code of refused) t.true(code in registry, code);
});
