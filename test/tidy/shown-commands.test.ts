// Proves which blocks of a page count as commands, and how the one that fails is named.
import { spawnSync } from 'node:child_process';
import test from 'ava';
import { getProgram, readShownBlocks } from '../../scripts/proofreading/shown-commands.ts';

const page = `# Title

\`\`\`sh
value=7
false || echo "$value"
\`\`\`

<!-- not run: needs a cluster -->
\`\`\`sh
exit 9
\`\`\`

1. A list:

   \`\`\`sh
   echo "again $value"
   cat <<'END' | false
   END
   \`\`\`

\`\`\`json
{}
\`\`\`

    indented

\`\`\`
bare
\`\`\`
`;

test('blocks fenced as sh are commands, a comment takes one out, and other code has to say what it is', (t) => {
  const { commands, unnamed } = readShownBlocks(page);
  t.deepEqual(
    commands.map(({ line, notRun }) => [line, notRun]),
    [
      [4, undefined],
      [10, 'needs a cluster'],
      [16, undefined],
    ],
  );
  t.deepEqual(unnamed, [25, 27]);
});

test('blocks run in one shell, to the first command that fails, which is named by its block', (t) => {
  const blocks = readShownBlocks(page).commands.filter(({ notRun }) => notRun === undefined);
  const run = (from: number, to: number): ReturnType<typeof spawnSync> =>
    spawnSync('bash', ['-c', getProgram(blocks.slice(from, to))], { encoding: 'utf8' });
  t.like(run(0, 1), { status: 0, stdout: '7\n', stderr: '' });
  t.like(run(0, 2), { status: 1, stdout: '7\nagain 7\n', stderr: 'line 16: status 1\n' });
});
