import test from 'ava';
import { parseJdf } from '@mutirao/formats';
import { exportJdf, listParts } from '@mutirao/sim/costa2005';

const settings = { isQuick: true, seed: '7' };

test('a study is a bag with a task for each part, which brings its results home to where the study looks for them', (t) => {
  const { job, warnings } = parseJdf(exportJdf(settings, { command: 'npx mutirao', data: '/logs' }), {
    file: 'costa2005.jdf',
    directory: '/study',
  });
  const chunks = listParts(settings);
  t.deepEqual(warnings, []);
  t.is(job.groups.length, chunks.length);
  job.groups.forEach(({ command, inputs, outputs }, index) => {
    const { id, trace } = chunks[index]!;
    t.is(command, `npx mutirao sim study-chunk costa2005 ${id} --quick --seed 7 --data "$STORAGE" --out result.jsonl`);
    t.is(inputs.length, 1);
    t.true(JSON.stringify(inputs).includes(`/logs/${trace.file}`));
    t.true(JSON.stringify(outputs).includes(`/study/chunks/${id}.jsonl`));
  });
});

test('the whole study has other tasks, and folders may have spaces in their names', (t) => {
  const text = exportJdf({ isQuick: false, seed: '1' }, { command: 'mutirao', data: '/my logs' });
  t.false(text.includes('--quick'));
  t.is(
    parseJdf(text, { file: 'x.jdf', directory: '/study' }).job.groups.length,
    listParts({ isQuick: false, seed: '1' }).length,
  );
});
