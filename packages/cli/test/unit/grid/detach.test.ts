import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import anyTest, { type TestFn } from 'ava';
import type { CommandContext } from '../../../src/context.ts';
import { detachGrid, type StartUp } from '../../../src/grid/detach.ts';

const test = anyTest as TestFn<{ home: string }>;

test.beforeEach((t) => {
  t.context.home = mkdtempSync(join(tmpdir(), 'mutirao-detach-'));
});
test.afterEach.always((t) => {
  rmSync(t.context.home, { recursive: true });
});

/** A minute passes in a few looks at the grid. */
function makeContext(home: string): CommandContext {
  let now = 0;
  return {
    home,
    clock: { now: () => now },
    signal: new AbortController().signal,
    sleep: () => {
      now += 20_000;
      return Promise.resolve();
    },
  } as unknown as CommandContext;
}

const record = { pid: 7, startedUnixMs: 0, broker: '', clusters: [], machines: 2 };

async function getError(home: string, startUp: StartUp): Promise<MutiraoError> {
  try {
    await detachGrid(makeContext(home), [], startUp);
  } catch (error) {
    if (error instanceof MutiraoError) return error;
    throw error;
  }
  throw new Error('the grid started');
}

test('a grid that is not ready in time says what runs, what is starting, what is not started, and its log', async (t) => {
  const { code, message } = await getError(t.context.home, () => {
    const processes = { 'cluster-alpha': 8, 'provider-alpha': 9, web: 10 };
    const grid = { ...record, processes, starting: ['provider-alpha'] };
    writeFileSync(join(t.context.home, 'grid.json'), JSON.stringify(grid));
    return 7;
  });
  t.is(code, 'MUT_UNREACHABLE');
  t.true(
    message.startsWith(
      'the grid was not ready after 60 s (running: cluster-alpha, web; started but not listening yet: ' +
        'provider-alpha; not started yet: broker)',
    ),
    message,
  );
  t.true(message.endsWith(`Log: ${join(t.context.home, 'logs', 'up.log')}, which is empty`), message);
});

test('a grid that has not written its record in time says that nothing is running', async (t) => {
  const { message } = await getError(t.context.home, () => 7);
  t.regex(message, /not ready after 60 s \(nothing is running yet; not started yet: broker\)/);
});

test('a grid that ends without a message is reported with its exit status and its log', async (t) => {
  const { message } = await getError(t.context.home, (_args, _log, onExit) => {
    onExit(137);
    return 7;
  });
  t.is(
    message,
    `the grid did not start: its process ended with status 137. Log: ${join(t.context.home, 'logs', 'up.log')}, which is empty`,
  );
});

test('a grid that ends with an error passes its code and message on', async (t) => {
  const { code, message } = await getError(t.context.home, (_args, log, onExit) => {
    writeFileSync(log, 'error: MUT_BAD_CONFIG --foo is unknown\nCorrect it.\n');
    onExit(2);
    return 7;
  });
  t.is(code, 'MUT_BAD_CONFIG');
  t.is(message, '--foo is unknown');
});
