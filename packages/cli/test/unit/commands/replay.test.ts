import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

const traces = new URL('../../../../sim/test/fixtures/traces/', import.meta.url);
const brokerGzipped = readFileSync(new URL('broker-restarted.jsonl.gz', traces));
const broker = gunzipSync(brokerGzipped).toString();

/** A folder with the broker's trace as it is, gzipped, and made different in one command. */
function folder(t: ExecutionContext): string {
  const path = temporaryFolder(t);
  writeFileSync(join(path, 'broker.jsonl'), broker);
  writeFileSync(join(path, 'broker.jsonl.gz'), brokerGzipped);
  writeFileSync(join(path, 'other.jsonl'), broker.replace('"pendingTasks":1,', '"pendingTasks":5,'));
  writeFileSync(join(path, 'cut.jsonl'), broker.slice(0, -40));
  writeFileSync(join(path, 'cut.jsonl.gz'), brokerGzipped.subarray(0, 1000));
  writeFileSync(join(path, 'empty.jsonl'), '');
  writeFileSync(join(path, 'empty.jsonl.gz'), gzipSync(''));
  writeFileSync(join(path, 'middle.jsonl'), broker.replace('{"turn":3,"now"', '{"turn":3,"no'));
  writeFileSync(join(path, 'version.jsonl'), broker.replace('"version":1', '"version":7'));
  copyFileSync(new URL('agent.jsonl', traces), join(path, 'agent.jsonl'));
  return path;
}

for (const file of ['broker.jsonl', 'broker.jsonl.gz']) {
  test(`sim replay ${file} reports that everything is the same`, async (t) => {
    const { status, out, err } = await runCommandLine(['sim', 'replay', file], { directory: folder(t) });
    t.is(status, 0);
    t.is(err, '');
    t.regex(out, /^machine {2}broker of release 0\.1\.0, began /);
    t.regex(out, /ran {6}21 turns over 0\.839 s; 21 compared\n/);
    t.regex(out, /process {2}it was stopped\nreplay {3}the same, and no invariant is broken\n$/);
  });
}

test('sim replay reports the first turn that differs, with its inputs and both values', async (t) => {
  const { status, out } = await runCommandLine(['sim', 'replay', 'other.jsonl'], { directory: folder(t) });
  t.is(status, 1);
  t.regex(
    out,
    /replay {3}commands\[0\]\.demand\.pendingTasks is not what the process recorded\n\nturn 15, line 30 of the trace, 0\.\d+ s after the start:\n {2}<- RequestsChanged .*\n {2}expected 5\n {2}found {4}1\n$/,
  );
  const quiet = await runCommandLine(['sim', 'replay', 'other.jsonl', '-q'], { directory: folder(t) });
  t.is(quiet.out, '15\n');
});

test('sim replay --json has the same, and the story', async (t) => {
  const { status, out } = await runCommandLine(['sim', 'replay', 'other.jsonl', '--json', '--about', 'r9'], {
    directory: folder(t),
  });
  const document = JSON.parse(out) as { story: string[]; problem: unknown };
  t.is(status, 1);
  t.like(document, {
    file: 'other.jsonl',
    machine: 'broker',
    same: false,
    problem: {
      kind: 'difference',
      turn: 15,
      line: 30,
      expected: '5',
      found: '1',
      inputs: [{ kind: 'RequestsChanged' }],
    },
  });
  t.deepEqual(
    document.story.map((line) => line.replace(/ *\+\S+ (#\d+ .. \w+).*/, '$1')),
    ['#9 -> StartReplicas', '#10 <- MachineReported', '#11 -> CancelReplicas', '#12 <- MachineReported'],
  );
});

test('sim replay --about prints the story of a task and its replicas', async (t) => {
  const directory = folder(t);
  const { status, out } = await runCommandLine(['sim', 'replay', 'agent.jsonl', '--about', 't1'], { directory });
  t.is(status, 0);
  t.regex(out, /<- ReplicasDispatched .*r2.*\n.*-> LaunchTask .*\n(.*\n)*.*<- ProcessEnded replicaId=r2 /);
  const none = await runCommandLine(['sim', 'replay', 'agent.jsonl', '--about', 'r999'], { directory });
  t.is(none.out, (await runCommandLine(['sim', 'replay', 'agent.jsonl'], { directory })).out);
});

test('sim replay leaves a half last line out and says so', async (t) => {
  const { status, out, err } = await runCommandLine(['sim', 'replay', 'cut.jsonl'], { directory: folder(t) });
  t.is(status, 0);
  t.is(err, 'the last line of cut.jsonl is incomplete and was ignored\n');
  t.regex(out, /process {2}the trace does not say how it ended/);
});

test('sim replay --from --until compares only these turns', async (t) => {
  const directory = folder(t);
  const part = await runCommandLine(['sim', 'replay', 'other.jsonl', '--until', '14'], { directory });
  t.is(part.status, 0);
  t.regex(part.out, /14 turns over \S+ s; 14 compared/);
  const late = await runCommandLine(['sim', 'replay', 'other.jsonl', '--from', '16'], { directory });
  t.is(late.status, 0);
  t.regex(late.out, /21 turns over \S+ s; 6 compared/);
  const time = await runCommandLine(['sim', 'replay', 'broker.jsonl', '--from', '100ms', '--until', '0.3s'], {
    directory,
  });
  t.regex(time.out, /13 turns over \S+ s; 7 compared/);
});

const refusals: readonly (readonly [words: readonly string[], message: RegExp])[] = [
  [['none.jsonl'], /MUT_FILE_NOT_FOUND there is no file none\.jsonl/],
  [['.'], /MUT_BAD_REQUEST cannot read \.: /],
  [['empty.jsonl'], /MUT_TRACE_SYNTAX empty\.jsonl:1:1: found the end, expected the head of a debugging trace/],
  [['empty.jsonl.gz'], /MUT_TRACE_SYNTAX empty\.jsonl\.gz:1:1: found the end/],
  [['cut.jsonl.gz'], /MUT_TRACE_SYNTAX cut\.jsonl\.gz begins as a gzip file and is none: /],
  [['middle.jsonl'], /MUT_TRACE_SYNTAX middle\.jsonl:6:1: found .*, expected a line of a debugging trace/],
  [['version.jsonl'], /MUT_TRACE_SYNTAX version\.jsonl:1:1: found a trace of version 7, expected one of version 1/],
  [['broker.jsonl', '--from', '0'], /--from is "0"; expected a whole number in 1\.\./],
  [['broker.jsonl', '--until', 'noon'], /--until is "noon"; expected a whole number/],
  [['broker.jsonl', '--until', '3 apples'], /MUT_\w+ /],
  [['broker.jsonl', '--from', '22'], /--from is "22"; expected one of the 21 turns of broker\.jsonl/],
  [[], /needs <file>/],
];
for (const [words, message] of refusals) {
  test(`sim replay ${words.join(' ')} is refused`, async (t) => {
    const { status, out, err } = await runCommandLine(['sim', 'replay', ...words], { directory: folder(t) });
    t.is(status, 2);
    t.is(out, '');
    t.regex(err, message);
  });
}

test('an interrupt ends a replay', async (t) => {
  const { status, err } = await runCommandLine(['sim', 'replay', 'broker.jsonl'], {
    directory: folder(t),
    signal: AbortSignal.abort(),
  });
  t.is(status, 4);
  t.regex(err, /MUT_CANCELLED the replay was interrupted/);
});
