// Resident runners: processes that take one task after another from an agent, as frames. Here the runner is a few lines
// of JavaScript.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { ReplicaEnd, ReplicaStart, TaskTemplate } from '@mutirao/core/messages';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeProvider, isAlive, Program, temporaryFolder, until } from '@mutirao/testkit';

const runner = `
const { readSync, writeSync, writeFileSync, readFileSync, readlinkSync } = require('node:fs');
function read(size) {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const count = readSync(0, bytes, at, size - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
}
function frame(kind, ...fields) {
  const parts = fields.map(String).map((field) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(Buffer.byteLength(field));
    return Buffer.concat([size, Buffer.from(field)]);
  });
  const body = Buffer.concat([Buffer.from(kind), ...parts]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  writeSync(3, Buffer.concat([size, body]));
}
if (process.argv[2] === 'fails') process.exit(9);
frame('R', process.argv[2] === 'new' ? 2 : 1, 'test');
let count = 0;
for (;;) {
  const body = read(read(4).readUInt32BE());
  const fields = [];
  for (let at = 1; at < body.length; ) {
    const size = body.readUInt32BE(at);
    fields.push(body.toString('utf8', at + 4, at + 4 + size));
    at += 4 + size;
  }
  const [number, folder, value, ...variables] = fields;
  frame('B', number);
  process.chdir(folder);
  const [verb, argument = ''] = value.split(' ');
  count++;
  let status = 0;
  if (verb === 'about' || verb === 'last') writeSync(1, JSON.stringify({ pid: process.pid, count, folder, variables }));
  if (verb === 'say') writeSync(2, argument + '\\n'), writeSync(1, argument + '\\n');
  if (verb === 'exit') status = Number(argument);
  if (verb === 'die') process.kill(process.pid, 'SIGKILL');
  if (verb === 'leave') process.exit(Number(argument));
  if (verb === 'garble') writeSync(3, Buffer.alloc(4, 255));
  if (verb === 'lie') frame('E', 999, 0, '');
  if (verb === 'hang') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  if (verb === 'hold') { globalThis.held = Buffer.alloc(Number(argument), 1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30000); }
  if (verb === 'write') writeFileSync('out', argument);
  if (verb === 'link') writeSync(1, readlinkSync('data') + ' ' + readFileSync('data', 'utf8'));
  frame('E', number, status, 5);
  if (verb === 'last') process.exit(0);
  if (verb === 'grow') { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000); globalThis.held = Buffer.alloc(Number(argument), 1); }
}
`;

interface Rig {
  readonly provider: FakeProvider;
  readonly home: string;
  readonly agent: Program;
  run(value: string, more?: Partial<TaskTemplate>, replica?: Partial<ReplicaStart>): Promise<ReplicaEnd>;
  place(value: string, more?: Partial<TaskTemplate>): number;
}

async function startRig(t: ExecutionContext, ...args: readonly string[]): Promise<Rig> {
  const provider = new FakeProvider();
  await provider.start();
  const home = temporaryFolder(t);
  const usual = ['--home', home, '--provider', provider.address, '--machine-id', 'lab/pc', '--kill-grace', '300ms'];
  const agent = new Program('agent', [...usual, ...args], { MUTIRAO_CREDENTIAL: FakeProvider.token });
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  const program = provider.addContent(Buffer.from(runner));
  const inputs = [{ root: 'playpen', path: 'bin/runner.js', content: program, mode: 0o644 }] as const;
  const template = (more: Partial<TaskTemplate>): TaskTemplate =>
    aTemplate('echo by the command', { runner: { command: 'exec node bin/runner.js', protocolVersion: 1 }, ...more });
  return {
    provider,
    home,
    agent,
    run: (value, more = {}, replica = {}) => provider.run(template(more), { value, inputs, ...replica }),
    place: (value, more = {}) => provider.place(template(more), [{ value, inputs }])[0] ?? -1,
  };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

interface About {
  readonly pid: number;
  readonly count: number;
  readonly folder: string;
  readonly variables: readonly string[];
}

const about = ({ standardOutput }: ReplicaEnd): About => JSON.parse(text(standardOutput)) as About;

test.serial('a runner takes one task after another, each in a folder and with variables of its own', async (t) => {
  const { run } = await startRig(t, '--processors', '1');
  const first = about(await run('about'));
  const second = about(await run('about', {}, { taskIndex: 7 }));
  t.is(second.pid, first.pid);
  t.deepEqual([first.count, second.count], [1, 2]);
  t.not(first.folder, second.folder);
  t.true(second.variables.includes('TASK=7'));
  t.true(second.variables.includes(`PLAYPEN=${second.folder}`));
  await until(() => !existsSync(first.folder), 'the folder of the first task is removed');
});

test.serial('the output, files and usage of a task are its own', async (t) => {
  const { run } = await startRig(t, '--processors', '1');
  const ends = [await run('say one'), await run('say two'), await run('about')];
  t.deepEqual(
    ends.map(({ standardError }) => text(standardError)),
    ['one\n', 'two\n', ''],
  );
  t.deepEqual(
    ends.slice(0, 2).map(({ standardOutput }) => text(standardOutput)),
    ['one\n', 'two\n'],
  );
  t.is(ends[0]?.usage?.processorTime, 5);
  const outputs = [{ root: 'playpen', path: 'out' }] as const;
  const written = await run('write result', {}, { outputs });
  t.deepEqual(
    written.outputs.map(({ inline }) => text(inline ?? new Uint8Array())),
    ['result'],
  );
  t.like(await run('about', {}, { outputs }), { outcome: 'failed', reason: 'MUT_OUTPUT_MISSING' });
});

test.serial('an input is brought once for all tasks of a runner, under the name of its content', async (t) => {
  const { run, provider } = await startRig(t, '--processors', '1');
  const content = provider.addContent(Buffer.from('data'));
  const program = provider.addContent(Buffer.from(runner));
  const inputs = [
    { root: 'playpen', path: 'bin/runner.js', content: program, mode: 0o644 },
    { root: 'playpen', path: 'data', content, mode: 0o644 },
  ] as const;
  for (const end of [await run('link', {}, { inputs }), await run('link', {}, { inputs })]) {
    const [target = '', data] = text(end.standardOutput).split(' ');
    t.true(target.endsWith(`/inputs/${content.sha256}`));
    t.is(data, 'data');
  }
  t.is(provider.wanted.filter((sha256) => sha256 === content.sha256).length, 1);
});

test.serial('a task that fails leaves its runner, and one that ends its runner fails alone', async (t) => {
  const { run } = await startRig(t, '--processors', '1');
  const first = about(await run('about'));
  t.like(await run('exit 3'), { outcome: 'failed', exitStatus: 3, reason: 'MUT_COMMAND_FAILED' });
  t.is(about(await run('about')).pid, first.pid);
  t.like(await run('die'), { outcome: 'failed', exitStatus: 137 });
  const second = about(await run('about'));
  t.deepEqual([second.count, second.pid === first.pid], [1, false]);
  t.like(await run('leave 4'), { outcome: 'failed', exitStatus: 4 });
  const silent = await run('leave 0');
  t.is(silent.outcome, 'failed');
  t.regex(sayCause(silent.detail), /the runner ended without an answer/);
  // One that ends between two tasks is started again for the next.
  const last = about(await run('last'));
  await until(() => !isAlive(last.pid), 'the runner has ended');
  t.is(about(await run('about')).count, 1);
});

test.serial('a runner that cannot start, or speaks other frames, fails its task', async (t) => {
  const { run } = await startRig(t, '--processors', '1');
  const by = (command: string, protocolVersion = 1): Partial<TaskTemplate> => ({
    runner: { command, protocolVersion },
  });
  t.like(await run('about', by('exec node bin/runner.js fails')), { outcome: 'failed', exitStatus: 9 });
  t.like(await run('about', by('exec no-such-program')), { outcome: 'failed', reason: 'MUT_COMMAND_NOT_FOUND' });
  const newer = await run('hang', by('exec node bin/runner.js new'));
  t.regex(sayCause(newer.detail), /the runner sent frames of version 2; expected 1/);
  const garbled = await run('garble');
  t.regex(sayCause(garbled.detail), /the runner sent a frame of 4294967295 bytes/);
  const lied = await run('lie');
  t.regex(sayCause(lied.detail), /the runner sent the end of call 999, which it does not run/);
  // A protocol that this agent does not know is the command's task.
  t.is(text((await run('about', by('exec node bin/runner.js', 2))).standardOutput), 'by the command\n');
});

test.serial('a cancelled task ends with its runner, and so does one beyond its time or memory', async (t) => {
  const { run, place, provider } = await startRig(t, '--processors', '1');
  const limits = { runTimeMax: 0, memoryMax: 0, outputMax: 0 };
  const hanging = place('hang');
  await until(() => provider.reports.some(({ started }) => started.length > 0), 'the task has started');
  provider.cancel([hanging]);
  t.like(await provider.findEnd(hanging), { outcome: 'cancelled' });
  t.like(await run('hang', { limits: { ...limits, runTimeMax: 300 } }), {
    outcome: 'limited',
    reason: 'MUT_RUN_TIME_MAX',
  });
  const memory = { ...limits, memoryMax: 200 * 2 ** 20 };
  t.like(await run('hold 300000000', { limits: memory }), { outcome: 'limited', reason: 'MUT_MEMORY_MAX' });
  t.is(about(await run('about')).count, 1);
});

test.serial('a runner that holds too much memory while it is idle is ended', async (t) => {
  const { run } = await startRig(t, '--processors', '2');
  const neighbour = about(await run('about', { jobId: 2 })).pid;
  const resources = { memory: 200 * 2 ** 20, gpus: 0, named: {} };
  const { pid } = about(await run('about', { resources }));
  t.is((await run('grow 400000000', { resources })).outcome, 'succeeded');
  await until(() => !isAlive(pid), 'the runner is ended');
  t.true(isAlive(neighbour), 'one that has been idle for longer stays');
  t.is(about(await run('about', { resources })).count, 1);
});

test.serial('a runner serves one job of one user, and makes room for other tasks', async (t) => {
  const { run, provider, home } = await startRig(t, '--processors', '1');
  const first = about(await run('about', { jobId: 1 }));
  const second = about(await run('about', { jobId: 2 }));
  t.false(isAlive(first.pid));
  const third = about(await run('about', { jobId: 2, userId: 'bob' }));
  t.false(isAlive(second.pid));
  t.deepEqual([second.count, third.count], [1, 1]);
  t.is(text((await provider.run(aTemplate('pwd'))).standardOutput).includes('playpens'), true);
  t.false(isAlive(third.pid));
  // Nothing is left of them.
  const agents = join(home, 'agents');
  const [own = ''] = readdirSync(agents).filter((name) => !name.startsWith('.'));
  t.deepEqual(readdirSync(join(agents, own, 'runners')), []);
});

test.serial('runners end when the agent drains, and when it is killed', async (t) => {
  const draining = await startRig(t, '--processors', '2');
  const idle = about(await draining.run('about')).pid;
  draining.provider.drain();
  await until(() => !isAlive(idle), 'the runner ends');
  await until(() => !draining.agent.isRunning, 'the agent ends');

  const killed = await startRig(t, '--processors', '1');
  const left = about(await killed.run('about')).pid;
  await killed.agent.kill('SIGKILL');
  await until(() => !isAlive(left), 'the runner ends with its agent');
  t.pass();
});
