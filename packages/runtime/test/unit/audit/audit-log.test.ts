import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { HandTimers, temporaryFolder } from '@mutirao/testkit';
import { auditPath, openAudit, type Audit } from '@mutirao/runtime/audit';
import { RotatingFile } from '@mutirao/runtime/files';
import { quietLogger, type Logger } from '@mutirao/runtime/log';

interface Opened {
  readonly path: string;
  readonly audit: Audit;
  readonly timers: HandTimers;
  readonly errors: string[];
  /** Sets the clock. */
  at(now: number): void;
  lines(): Record<string, unknown>[];
}

function open(t: ExecutionContext): Opened {
  const path = auditPath(temporaryFolder(t), 'broker');
  const timers = new HandTimers();
  const errors: string[] = [];
  let now = 0;
  const log: Logger = {
    ...quietLogger,
    error: (_fields, message) => {
      errors.push(message);
    },
  };
  const audit = openAudit(path, { log, clock: { now: () => now }, timers });
  t.teardown(() => {
    audit.close();
  });
  return {
    path,
    audit,
    timers,
    errors,
    at: (instant) => {
      now = instant;
    },
    lines: () =>
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

test('an entry is one line of JSON with who did what from where, in a file of the owner alone', (t) => {
  const { path, audit, lines } = open(t);
  audit.record({ action: 'job.submit', who: 'ana', from: '10.0.0.7:4711', target: 'job 7' });
  audit.record({ action: 'machine.remove', who: 'owner\u001b[2J\nforged', target: 'machine pc3' });
  t.deepEqual(lines(), [
    { time: '1970-01-01T00:00:00.000Z', action: 'job.submit', who: 'ana', from: '10.0.0.7:4711', target: 'job 7' },
    {
      time: '1970-01-01T00:00:00.000Z',
      action: 'machine.remove',
      who: 'owner\u001b[2J\nforged',
      target: 'machine pc3',
    },
  ]);
  t.is(statSync(path).mode & 0o777, 0o600);
  t.is(statSync(dirname(path)).mode & 0o777, 0o700);
});

test('refusals of one caller, whatever its port, are counted and reported once a minute; successful actions are always written', (t) => {
  const { audit, timers, at, lines } = open(t);
  for (let port = 1; port <= 5000; port += 1)
    audit.record({ action: 'call.refuse', who: '', from: `10.0.0.7:${port}`, refusedWith: 'MUT_UNAUTHENTICATED' });
  for (let job = 1; job <= 100; job += 1) audit.record({ action: 'job.cancel', who: 'ana', target: `job ${job}` });
  t.is(lines().length, 120);
  at(60_000);
  timers.ring();
  t.is(lines().length, 121);
  t.is(lines().at(-1)?.['detail'], '4980 more of MUT_UNAUTHENTICATED  10.0.0.7');
});

test('a log that cannot be written stops nothing, says so once, and reports how many lines it lost', (t) => {
  const { path, audit, errors, lines } = open(t);
  mkdirSync(path, { recursive: true });
  for (let job = 1; job <= 3; job += 1) audit.record({ action: 'job.cancel', who: 'ana', target: `job ${job}` });
  t.is(errors.length, 1);
  rmdirSync(path);
  audit.record({ action: 'job.cancel', who: 'ana', target: 'job 4' });
  t.deepEqual(
    lines().map(({ action, detail, target }) => detail ?? `${String(action)} ${String(target)}`),
    ['3 lines could not be written', 'job.cancel job 4'],
  );
});

test('long texts are cut, so that a caller does not choose how long a line is', (t) => {
  const { audit, lines } = open(t);
  audit.record({ action: 'job.submit', who: 'x'.repeat(100_000), target: 'y'.repeat(100_000) });
  t.is(String(lines()[0]?.['who']).length, 300);
  t.is(String(lines()[0]?.['target']).length, 300);
});

test('files of lines take a bounded part of the disk, and older ones go', (t) => {
  const folder = temporaryFolder(t);
  const file = new RotatingFile({ path: join(folder, 'lines'), bytesMax: 1000, keptMax: 2 });
  for (let index = 0; index < 1000; index += 1) file.append(`line ${index}\n`);
  file.close();
  t.deepEqual(readdirSync(folder).sort(), ['lines', 'lines.1', 'lines.2']);
  for (const name of readdirSync(folder)) t.true(statSync(join(folder, name)).size <= 1000);
  t.true(readFileSync(join(folder, 'lines'), 'utf8').endsWith('line 999\n'));
});

test('no line goes through a link that somebody put in the place of the file', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'victim'), '');
  symlinkSync(join(folder, 'victim'), join(folder, 'lines'));
  const file = new RotatingFile({ path: join(folder, 'lines'), bytesMax: 1000, keptMax: 2 });
  t.throws(
    () => {
      file.append('line\n');
    },
    { code: 'ELOOP' },
  );
  t.is(readFileSync(join(folder, 'victim'), 'utf8'), '');
  t.true(existsSync(join(folder, 'lines')));
});
