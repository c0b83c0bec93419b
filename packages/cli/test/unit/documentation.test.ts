import { readFileSync } from 'node:fs';
import test from 'ava';
import { runCommandLine } from '@mutirao/testkit';
import { entries, findEntry } from '../../src/commands/index.ts';

const page = readFileSync(new URL('../../../../docs/cli.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/mutirao ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)/g)].map(([, words = '']) => words);

test('docs/cli.md shows every command', (t) => {
  for (const { path } of entries) {
    if (path[0] === 'run') continue;
    t.true(
      examples.some((words) => words === path.join(' ') || words.startsWith(`${path.join(' ')} `)),
      path.join(' '),
    );
  }
});

test('docs/cli.md shows no command that there is not', (t) => {
  for (const line of page.split('\n').filter((text) => text.startsWith('    mutirao '))) {
    const [, first = '', second = ''] = line.trim().split(/ +/);
    t.truthy(findEntry([first, second]), line);
  }
});

test('docs/cli.md names every option of job submit', async (t) => {
  const { out } = await runCommandLine(['job', 'submit', '--help']);
  for (const [, option = ''] of out.matchAll(/^ {2}(--[a-z-]+)/gm)) {
    if (option !== '--format') t.true(page.includes(option), option);
  }
});
