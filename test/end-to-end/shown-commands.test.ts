// The commands that the guides show are run: each page in an empty folder of its own, from its first block to its last.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { sweepProcesses } from '@mutirao/testkit';
import { getProgram, readShownBlocks, type ShownCommands } from '../../scripts/proofreading/shown-commands.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const guides = existsSync(`${root}docs/guides`) ? readdirSync(`${root}docs/guides`) : [];
const pages = [
  'README.md',
  ...guides.filter((name) => name.endsWith('.md')).map((name) => `docs/guides/${name}`),
  ...['cli'].map((name) => `docs/reference/${name}.md`).filter((file) => existsSync(root + file)),
];

/** A reader's terminal: an empty folder, a home of their own, and `mutirao` on the PATH. */
class Terminal {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutirao-page-'));

  constructor() {
    for (const name of ['home', 'work', 'bin']) mkdirSync(join(this.#folder, name));
    // As in a clone, where npx finds what is installed there.
    writeFileSync(join(this.#folder, 'bin/npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  }

  /** Runs a program of bash to its end. */
  async bash(program: string): Promise<{ readonly status: number | null; readonly said: string }> {
    const { MUTIRAO_HOME: _home, MUTIRAO_BROKER: _broker, ...inherited } = process.env;
    const path = [join(this.#folder, 'bin'), `${root}node_modules/.bin`, inherited['PATH'] ?? ''].join(':');
    const env = { ...inherited, HOME: join(this.#folder, 'home'), PATH: path, SHOWN_COMMANDS: this.#folder };
    const child = spawn('bash', ['-c', program], { cwd: join(this.#folder, 'work'), env });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said += piece.toString()));
    child.stdin.end();
    const status = await new Promise<number | null>((resolve) => child.on('exit', resolve));
    return { status, said };
  }

  /** Ends what the page started, and removes its folder. */
  async close(): Promise<void> {
    await this.bash('mutirao down');
    sweepProcesses('SHOWN_COMMANDS', this.#folder);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A page that starts no grid takes it that its reader has one. */
function isWithoutGrid(blocks: readonly ShownCommands[]): boolean {
  return !blocks.some(({ commands }) => /\bmutirao (?:up|init|run)\b/.test(commands));
}

for (const page of pages) {
  const { commands, unnamed } = readShownBlocks(readFileSync(root + page, 'utf8'));
  const blocks = commands.filter(({ notRun }) => notRun === undefined);

  test(`${page} says of each block of code what it is`, (t) => {
    t.deepEqual(unnamed, [], 'lines of code blocks without a language: fence commands as ```sh, output as ```text');
  });

  if (blocks.length > 0)
    test.serial(`the commands of ${page} work`, async (t) => {
      t.timeout(300_000);
      const terminal = new Terminal();
      t.teardown(() => terminal.close());
      if (isWithoutGrid(blocks))
        t.like(await terminal.bash('mutirao up --detach --clusters 2 --machines 1'), { status: 0 });
      const { status, said } = await terminal.bash(getProgram(blocks));
      const line = /^line (\d+): status \d+$/m.exec(said)?.[1] ?? 'unknown';
      t.is(status, 0, `the block at ${page}:${line} failed:\n${said.split('\n').slice(-25).join('\n')}`);
    });
}
