// Proves that the list of planted bugs still fits the sources, so that a night does not find it stale.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('each planted bug changes a line that is there, and names tests of the layer that kills it', async (t) => {
  await t.notThrowsAsync(
    promisify(execFile)(process.execPath, [`${root}scripts/planted-bugs.mjs`, '--check']).catch((error: unknown) => {
      throw new Error((error as { readonly stdout: string }).stdout);
    }),
  );
});

test('each of the four machines has bugs that only the whole grid is meant to see', (t) => {
  const bugs = JSON.parse(readFileSync(`${root}test/planted-bugs.json`, 'utf8')) as {
    readonly file: string;
    readonly layer: string;
  }[];
  for (const machine of ['agent', 'broker', 'cluster', 'provider']) {
    const count = bugs.filter(({ file, layer }) => layer === 'swarm' && file.includes(`/machines/${machine}/`)).length;
    t.true(count >= 8, `${count} of ${machine}`);
  }
});
