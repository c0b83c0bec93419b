// The published API from other languages: the clients of examples/clients, each generated from proto/ with nothing else of
// Mutirao.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { listMessages } from '@mutirao/runtime/rpc';
import {
  buildExampleClient,
  Grid,
  Program,
  temporaryFolder,
  until,
  Wire,
  type ClientLanguage,
  type ExampleClient,
} from '@mutirao/testkit';

const run = promisify(execFile);

interface EventLine {
  readonly sequence: number;
  readonly type: string;
  readonly tasks: readonly number[];
}
interface TaskLine {
  readonly task: number;
  readonly output: string;
  readonly files: readonly string[];
}

/** What a client printed, line by line, and how it ended. */
class Run {
  readonly events: EventLine[] = [];
  readonly tasks: TaskLine[] = [];
  complaints = '';
  readonly #child: ChildProcess;

  constructor(t: ExecutionContext, { command: [program, ...first] }: ExampleClient, args: readonly string[]) {
    const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const reported = JSON.parse(line) as EventLine | TaskLine;
      if ('task' in reported) this.tasks.push(reported);
      else this.events.push(reported);
    });
    child.stderr.on('data', (data: Buffer) => {
      this.complaints += data.toString();
    });
    t.teardown(() => {
      child.kill('SIGKILL');
    });
  }

  /** Its exit status. */
  async ended(): Promise<number> {
    await until(() => this.#child.exitCode !== null, 'the client ends');
    return this.#child.exitCode ?? -1;
  }
}

interface World {
  readonly grid: Grid;
  readonly client: ExampleClient;
  /** Between the client and the broker. */
  readonly wire: Wire;
  start(command: string, ...args: readonly string[]): Run;
  submit(...args: readonly string[]): Promise<number>;
}

async function world(t: ExecutionContext, language: ClientLanguage): Promise<World> {
  const client = await buildExampleClient(t, language);
  const grid = await Grid.start({ machines: [2] });
  t.teardown(() => grid.stop());
  const wire = new Wire(grid.broker.address);
  t.teardown(() => {
    wire.close();
  });
  const access = ['--broker', await wire.open(), '--token', join(grid.home, 'token')];
  const line = (command: string, args: readonly string[]) => [command, ...access, ...args];
  return {
    grid,
    client,
    wire,
    start: (command, ...args) => new Run(t, client, line(command, args)),
    submit: async (...args) => {
      const [program, ...first] = client.command;
      const { stdout } = await run(program, [...first, ...line('submit', args)]);
      return (JSON.parse(stdout) as { job: number }).job;
    },
  };
}

/** All events of a job in the broker's journal at the end, which the client's are compared with. */
async function listEvents(grid: Grid, jobId: number): Promise<EventLine[]> {
  const all: EventLine[] = [];
  for await (const { events } of listMessages(grid.client.raw.watchJob({ jobId, afterSequence: 0 }))) {
    if (events.length === 0) break;
    all.push(...events.map(({ sequence, type, taskIndexes: tasks }) => ({ sequence, type, tasks })));
  }
  return all;
}

const essence = (events: readonly EventLine[]) =>
  events.map(({ sequence, type, tasks }) => ({ sequence, type, tasks }));

const cli = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const mutirao = (home: string, ...args: readonly string[]) => run(process.execPath, [cli, ...args, '--home', home]);

/**
 * A broker that speaks TLS takes a user with a certificate from its owner, and no user with one from another authority.
 */
async function checkTls(t: ExecutionContext, client: ExampleClient): Promise<void> {
  const [home, foreign, maria, foreigner] = [
    temporaryFolder(t),
    temporaryFolder(t),
    join(temporaryFolder(t), 'maria'),
    join(temporaryFolder(t), 'maria'),
  ];
  await Promise.all([mutirao(home, 'init'), mutirao(foreign, 'init')]);
  await Promise.all([
    mutirao(home, 'identity', 'issue', '--user', 'maria', '--out', maria),
    mutirao(foreign, 'identity', 'issue', '--user', 'maria', '--out', foreigner),
  ]);
  const broker = new Program('broker', ['--home', home, '--listen', 'tls://127.0.0.1:0'], { MUTIRAO_HOME: home });
  t.teardown(() => broker.kill());
  await broker.start();
  const as = (folder: string) => [
    '--broker',
    broker.address,
    '--ca',
    join(maria, 'ca.crt'),
    '--cert',
    join(folder, 'user.crt'),
    '--key',
    join(folder, 'user.key'),
  ];
  const submission = new Run(t, client, ['submit', ...as(maria), 'true']);
  const intrusion = new Run(t, client, ['submit', ...as(foreigner), 'true']);
  t.is(await submission.ended(), 0, submission.complaints);
  const cancellation = new Run(t, client, ['cancel', ...as(maria), '1']);
  t.is(await cancellation.ended(), 0, cancellation.complaints);
  const follower = new Run(t, client, ['follow', ...as(maria), '1']);
  t.is(await follower.ended(), 4, follower.complaints);
  const { stdout } = await mutirao(home, 'events', '--json', '--broker', broker.address);
  t.is(stdout, '', 'the job is not of the owner of the broker but of maria');
  t.is(await intrusion.ended(), 1);
  t.regex(intrusion.complaints, /^error: UNAUTHENTICATED no certificate that is good here/i);
}

/** Does something to the broker's folder while the broker is stopped. */
async function whileStopped(grid: Grid, act: (folder: string) => void): Promise<void> {
  await grid.broker.kill('SIGTERM');
  act(join(grid.home, 'broker'));
  await grid.broker.start();
}

for (const language of ['python', 'go'] as const) {
  test.serial(
    `a client in ${language} that follows a job starts over, and says so, when the broker's journal was put back from a back-up`,
    async (t) => {
      const { grid, start, submit } = await world(t, language);
      // The job cannot end before the journal was put back, however long the broker takes to stop.
      const gate = join(temporaryFolder(t), 'closed');
      const jobId = await submit(
        '--count',
        '60',
        `while [ -e '${gate}' ]; do sleep 0.1; done; sleep 0.5; echo from-{}`,
      );
      const finished = async (count: number): Promise<void> => {
        await until(async () => (await grid.client.job(jobId)).finishedCount >= count, `${count} tasks are finished`);
      };
      await finished(4);
      const copy = join(temporaryFolder(t), 'broker');
      await whileStopped(grid, (folder) => {
        cpSync(folder, copy, { recursive: true, filter: (path) => !path.includes('sockets') });
      });
      const follower = start('follow', '--into', temporaryFolder(t), String(jobId));
      await finished(20);
      writeFileSync(gate, '');
      await until(() => follower.tasks.length >= 15, 'much is known that the back-up lacks');
      await whileStopped(grid, (folder) => {
        rmSync(folder, { recursive: true });
        cpSync(copy, folder, { recursive: true });
      });
      rmSync(gate);
      t.is(await follower.ended(), 0, follower.complaints);
      t.regex(follower.complaints, /^the broker has another journal, starting over: .*journal/m);
      const truth = await listEvents(grid, jobId);
      t.deepEqual(essence(follower.events).slice(-truth.length), truth);
      t.true(follower.events.length > truth.length);
    },
  );

  test.serial(
    `a client in ${language} submits a bag, misses no event when its connection breaks or the broker is killed, fetches outputs, cancels, and says what it is refused, with a token and with certificates`,
    async (t) => {
      const { grid, client, wire, start, submit } = await world(t, language);
      const into = temporaryFolder(t);
      const jobId = await submit(
        '--count',
        '40',
        '--get',
        'made',
        'sleep 0.1; echo from-{}; mkdir made; echo {} > "made/a file"',
      );
      const follower = start('follow', '--into', into, String(jobId));
      await until(() => follower.tasks.length >= 5, '5 outputs are fetched');
      wire.cut();
      const before = (await grid.client.job(jobId)).finishedCount;
      await until(
        async () => (await grid.client.job(jobId)).finishedCount >= before + 4,
        'much happens while the client is cut off',
      );
      wire.mend();
      await until(() => follower.tasks.length >= 15, '15 outputs are fetched');
      await grid.broker.crash();
      t.is(await follower.ended(), 0, follower.complaints);
      t.regex(follower.complaints, /^the broker is away/m, 'it never reconnected');
      const truth = await listEvents(grid, jobId);
      t.deepEqual(essence(follower.events), truth);
      t.deepEqual(
        follower.tasks.map(({ task }) => task).sort((one, other) => one - other),
        Array.from({ length: 40 }, (_, index) => index),
      );
      for (const { task, output, files } of follower.tasks) {
        t.is(output, `from-${task}\n`);
        t.deepEqual(files, [join(into, String(task), 'made/a file')]);
        t.is(readFileSync(files[0] ?? '', 'utf8'), `${task}\n`);
      }
      const late = start('follow', '--into', into, '--after', String(truth[20]!.sequence), String(jobId));
      t.is(await late.ended(), 0, late.complaints);
      t.deepEqual(
        essence(late.events),
        truth.filter(({ sequence }) => sequence > truth[20]!.sequence),
      );

      const longJobId = await submit('--count', '3', 'sleep 600');
      const waiter = start('follow', String(longJobId));
      await until(() => waiter.events.some(({ type }) => type === 'tasks.started'), 'tasks are running');
      t.is(await start('cancel', '--reason', 'enough', String(longJobId)).ended(), 0);
      t.is(await waiter.ended(), 4, waiter.complaints);
      t.like(await grid.client.job(longJobId), { status: JobStatus.CANCELLED, cancelReason: { text: 'enough' } });

      const wrongToken = join(temporaryFolder(t), 'token');
      writeFileSync(wrongToken, 'nonsense');
      const refusals: [RegExp, Run][] = [
        [/^error: UNAUTHENTICATED the credential/, start('submit', '--token', wrongToken, 'true')],
        [/^error: NOT_?FOUND there is no job 999999/, start('follow', '999999')],
        [/^error: INVALID_?ARGUMENT .*count is 0/, start('submit', '--count', '0', 'true')],
      ];
      for (const [expected, refused] of refusals) {
        t.is(await refused.ended(), 1);
        t.regex(refused.complaints, new RegExp(expected, 'i'));
      }
      await grid.stop();
      await checkTls(t, client);
    },
  );
}
