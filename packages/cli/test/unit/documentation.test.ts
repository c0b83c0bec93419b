import { readFileSync } from 'node:fs';
import test from 'ava';
import { runCommandLine } from '@mutirao/testkit';
import { entries, findEntry } from '../../src/commands/index.ts';

const page = readFileSync(new URL('../../../../docs/reference/cli.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/mutirao ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)/g)].map(([, words = '']) => words);

test('docs/reference/cli.md shows every command', (t) => {
  for (const { path } of entries) {
    if (path[0] === 'run') continue;
    t.true(
      examples.some((words) => words === path.join(' ') || words.startsWith(`${path.join(' ')} `)),
      path.join(' '),
    );
  }
});

test('docs/reference/cli.md shows no command that does not exist', (t) => {
  const lines = [...page.matchAll(/(?:^|`)mutirao ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/gm)];
  t.true(lines.length > 60);
  for (const [line, first = '', second = ''] of lines) t.truthy(findEntry([first, second]), line);
});

test('docs/reference/cli.md names every option of job submit', async (t) => {
  const { out } = await runCommandLine(['job', 'submit', '--help']);
  for (const [, option = ''] of out.matchAll(/^ {2}(--[a-z-]+)/gm)) {
    if (option !== '--format') t.true(page.includes(option), option);
  }
});
