import test from 'ava';
import { Supervisor, type Host, type ProcessPlan } from '../../../src/grid/supervisor.ts';

/** A host whose processes live as long as the test says; time passes when somebody sleeps. */
class FakeHost implements Host {
  readonly started: {
    name: string;
    command: readonly string[];
    end: (status: number) => void;
    pid: number;
    at: number;
  }[] = [];
  readonly signals: string[] = [];
  /** Whether SIGTERM ends a process. */
  isObedient = true;
  #now = 0;

  start(name: string, command: readonly string[], onExit: (status: number) => void): number {
    const pid = 100 + this.started.length;
    this.started.push({ name, command, end: onExit, pid, at: this.#now });
    return pid;
  }

  signal(pid: number, name: string): void {
    this.signals.push(`${name} ${pid}`);
    if (name === 'SIGKILL' || this.isObedient) this.started.find((one) => one.pid === pid)?.end(143);
  }

  now(): number {
    return this.#now;
  }

  async sleep(durationMs: number): Promise<void> {
    this.#now += durationMs;
    await Promise.resolve();
  }
}

const listening: ProcessPlan = {
  name: 'broker',
  command: (address) => ['run', address ?? 'free'],
  findAddress: (pid) => `h:${pid}`,
};
const silent = { note: () => undefined };

/** Lets what was promised happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

test('a process that ends is started again at the address that it had', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  t.is(await supervisor.start(listening, 1000), 'h:100');
  host.started[0]?.end(137);
  await settle();
  t.deepEqual(
    host.started.map(({ command }) => command),
    [
      ['run', 'free'],
      ['run', 'h:100'],
    ],
  );
  t.deepEqual(supervisor.processes(), { broker: 101 });
});

test('the pause before each further start doubles up to 15 s, and begins again after a long life', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  await supervisor.start(listening, 1000);
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    if (round === 8) await host.sleep(40_000);
    const before = host.now();
    host.started.at(-1)?.end(70);
    await settle();
    pauses.push((host.started.at(-1)?.at ?? 0) - before);
  }
  t.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 250]);
});

test('a process that ends before it ever listened is reported to the caller and left alone', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  const starting = supervisor.start({ ...listening, findAddress: () => undefined }, 1000);
  host.started[0]?.end(3);
  t.is(await starting, undefined);
  await settle();
  t.is(host.started.length, 1);
});

test('a process that lives and does not listen yet is listed as starting until it listens', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  const steps: string[] = [];
  supervisor.onChange = () => steps.push(supervisor.starting().join());
  await supervisor.start({ ...listening, findAddress: () => (host.now() < 30 ? undefined : 'h:1') }, 1000);
  t.deepEqual(steps, ['broker', '']);
});

test('a process that does not listen in time is reported to the caller', async (t) => {
  t.is(
    await new Supervisor(new FakeHost(), silent).start({ ...listening, findAddress: () => undefined }, 1000),
    undefined,
  );
});

test('what is stopped is not started again', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  await supervisor.start(listening, 1000);
  await supervisor.stop(() => true, 10_000);
  await settle();
  t.deepEqual(host.signals, ['SIGTERM 100']);
  t.is(host.started.length, 1);
});

test('what does not end after ten seconds is killed', async (t) => {
  const host = new FakeHost();
  host.isObedient = false;
  const supervisor = new Supervisor(host, silent);
  await supervisor.start(listening, 1000);
  await supervisor.stop(() => true, 10_000);
  t.deepEqual(host.signals, ['SIGTERM 100', 'SIGKILL 100']);
  t.true(host.now() >= 10_000);
});

test('a process that ended during the pause before its restart is not started when all stops', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  await supervisor.start(listening, 1000);
  host.started[0]?.end(1);
  await supervisor.stop(() => true, 10_000);
  await settle();
  t.is(host.started.length, 1);
});

test('a disk that is full when a process starts again ends nothing, and it is tried until there is room', async (t) => {
  const host = new FakeHost();
  const notes: string[] = [];
  const supervisor = new Supervisor(host, { note: (line) => notes.push(line) });
  await supervisor.start(listening, 1000);
  let failures = 0;
  const start = host.start.bind(host);
  host.start = (name, command, onExit) => {
    failures += 1;
    if (failures < 3) throw new Error('no space left on device');
    return start(name, command, onExit);
  };
  host.started[0]?.end(1);
  await settle();
  t.deepEqual(supervisor.processes(), { broker: 101 });
  t.is(notes.filter((line) => line === 'broker: no space left on device').length, 2);
  let changes = 0;
  supervisor.onChange = () => {
    changes += 1;
    throw new Error('no space left on device');
  };
  host.started.at(-1)?.end(1);
  await settle();
  t.is(changes, 1);
  t.deepEqual(supervisor.processes(), { broker: 102 }, 'it lives, whether that can be written down or not');
});

test('a process that refuses its settings is named', async (t) => {
  const host = new FakeHost();
  const supervisor = new Supervisor(host, silent);
  await supervisor.start({ name: 'agent', command: () => ['agent'], findAddress: undefined }, 1000);
  t.is(supervisor.findRefusing(), undefined);
  host.started[0]?.end(2);
  t.is(supervisor.findRefusing(), 'agent');
});
