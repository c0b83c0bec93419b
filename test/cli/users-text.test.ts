// Text as users have it, to the end of the way: other letters, byte order marks, other encodings, long commands and
// long lists.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import test from 'ava';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-text-'));
const env = { ...process.env, MUTIRAO_HOME: join(folder, 'home') };

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function mutirao(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { cwd: folder, env, maxBuffer: 2 ** 27 },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
  });
}

test.before(async (t) => {
  const { status, err } = await mutirao('up', '--detach', '--clusters', '0', '--machines', '1');
  t.is(status, 0, err);
});
test.after.always(async () => {
  await mutirao('down');
  rmSync(folder, { recursive: true, force: true });
});

test.serial('values are data in every quote, on the real way', async (t) => {
  writeFileSync(join(folder, 'v'), 'x$(echo RUN)\na  b\n`echo RUN`"\'\n');
  for (const words of [['echo "{}"'], ["echo '{}'"], ['echo {}'], ['sh', '-c', 'echo {}'], ['sh', '-c', 'echo "{}"']]) {
    const { status, err } = await mutirao(
      'job',
      'submit',
      '--each-line',
      'v',
      '--wait',
      '--check',
      'test "{}" = "$VALUE"',
      '--',
      ...words,
    );
    t.is(status, 0, err);
    t.is(
      (await mutirao('task', 'output', 'last', '--stdout')).out,
      'x$(echo RUN)\na  b\n`echo RUN`"\'\n',
      words.join(' '),
    );
  }
});

test.serial('a value without a safe meaning is refused at once, with the reason', async (t) => {
  const { status, err } = await mutirao('job', 'submit', '--values', '1,a[$(x)]', '--', 'echo $(({}))');
  t.is(status, 2);
  t.regex(err, /the value "a\[\$\(x\)\]" is not safe where \{\} stands: it is part of arithmetic/);
});

test.serial('a command runs whole at any length in bytes up to the limit, and is refused above it', async (t) => {
  for (const [letter, size] of [
    ['日', 10_000],
    ['日', 25_000],
    ['😀', 30_000],
    ['e\u0301', 12_000],
    ['a', 32_700],
    ['日', 40_000],
  ] as const) {
    const { status, err } = await mutirao(
      'job',
      'submit',
      '--wait',
      '--retries',
      '0',
      '--',
      `printf %s '${letter.repeat(size)}'`,
    );
    t.is(status, 0, err);
    t.is((await mutirao('task', 'output', 'last', '--stdout')).out, letter.repeat(size));
  }
  writeFileSync(join(folder, 'long'), `${'日'.repeat(40_960)}\n`);
  t.is(
    (
      await mutirao(
        'job',
        'submit',
        '--each-line',
        'long',
        '--wait',
        '--check',
        'test {} = "$VALUE"',
        '--',
        'test "$(printf %s {} | wc -c)" = 122880',
      )
    ).status,
    0,
  );
  writeFileSync(join(folder, 'long'), `${'日'.repeat(40_961)}\n`);
  const tooLong = await mutirao('job', 'submit', '--each-line', 'long', '--', 'echo {}');
  t.deepEqual([tooLong.status, /has 122883 bytes; expected at most 122880/.test(tooLong.err)], [2, true], tooLong.err);
});

test.serial(
  'a byte order mark and line ends of Windows are dropped from values; other encodings are refused with their place',
  async (t) => {
    writeFileSync(join(folder, 'marked'), '\uFEFFé\r\nb\r\n');
    t.is((await mutirao('job', 'submit', '--each-line', 'marked', '--wait', '--', 'printf "%s." {}')).status, 0);
    t.is((await mutirao('task', 'output', 'last', '--stdout')).out, 'é.b.');
    for (const [name, text] of [
      ['list', 'a\ncaf\xe9\n'],
      ['job.jdf', 'job:\nlabel: caf\xe9\ntask:\nremote: true\n'],
      ['flow.yaml', 'tasks:\n  caf\xe9: {command: "true"}\n'],
    ] as const) {
      writeFileSync(join(folder, name), Buffer.from(text, 'latin1'));
      const { status, err } = await mutirao(
        'job',
        'submit',
        ...(name === 'list' ? ['--each-line', name, '--', 'echo {}'] : [name]),
      );
      t.is(status, 2);
      t.regex(err, new RegExp(`${name}:2:\\d+: found the byte 0xe9, which is not UTF-8`));
    }
  },
);

test.serial(
  'standard input is a list, whatever it is, and words of the command line that are not UTF-8 are refused',
  async (t) => {
    const shell = (script: string): Promise<Result> =>
      new Promise((resolve) => {
        const child = execFile(
          '/bin/sh',
          ['-c', script, process.execPath, bin],
          { cwd: folder, env },
          (_error, out, err) => {
            resolve({ status: child.exitCode ?? -1, out, err });
          },
        );
      });
    t.is((await shell('printf "a\\nb\\n" | "$0" "$1" job submit --each-line - --wait -- "printf %s. {}"')).status, 0);
    t.is((await mutirao('task', 'output', 'last', '--stdout')).out, 'a.b.');
    const listed = await shell('printf "caf\\351\\n" | "$0" "$1" job submit --each-line - -- "echo {}"');
    t.regex(listed.err, /standard input:1:4: found the byte 0xe9/);
    const given = await shell('exec "$0" "$1" job submit --values "$(printf "caf\\351")" -- "echo {}"');
    t.is(given.status, 2);
    t.regex(given.err, /"caf\uFFFD" on the command line is not UTF-8/);
  },
);

test.serial('a list far above the size of a usual message is taken in', async (t) => {
  const line = 'x'.repeat(150);
  writeFileSync(
    join(folder, 'many'),
    `${Array.from({ length: 200_000 }, (_, index) => `${index} ${line}`).join('\n')}\n`,
  );
  const { status, out, err } = await mutirao(
    'job',
    'submit',
    '--each-line',
    'many',
    '--requirements',
    'os == nowhere',
    '--json',
    '--',
    'echo {}',
  );
  t.is(status, 0, err);
  t.is((JSON.parse(out) as { task_count: number }).task_count, 200_000);
  t.is((await mutirao('job', 'show', 'last')).status, 0);
  t.is((await mutirao('job', 'cancel', 'last')).status, 0);
});
