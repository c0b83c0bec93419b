import { readFileSync } from 'node:fs';
import test from 'ava';
import { readScenario, runWorld } from '../../src/index.ts';

const lines = readFileSync(new URL('../regressions.txt', import.meta.url), 'utf8').split('\n');

/** Scenarios of the list, each with the comment before it. */
function* listRegressions(): Generator<{ readonly title: string; readonly text: string }> {
  let comment = '';
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('#')) comment += line.slice(1);
    else if (line === '') comment = '';
    else {
      yield { title: `line ${index + 1}:${comment}`, text: line };
      comment = '';
    }
  }
}

for (const { title, text } of listRegressions()) {
  test(`a world that once failed goes well, ${title}`, (t) => {
    const { failure } = runWorld(readScenario(JSON.parse(text)));
    t.is(failure, undefined, failure?.message);
  });
}

test('every world of the list says what it found', (t) => {
  for (const [index, line] of lines.entries())
    if (line.startsWith('{')) t.regex(lines[index - 1] ?? '', /^# \S.{20}/, `line ${index + 1}`);
});
