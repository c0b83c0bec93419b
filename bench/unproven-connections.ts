// Connections that show no credential: what opening and closing thousands of them, and holding a thousand, leaves in
// the memory of a broker.
//
//   --connections N   for each round (1,500)
//   --rounds N        (4)
//   --at-once N       open at a time within a round (50)
//   --way N           only the N-th way of connecting (0: all)
//   --semi-space N    MiB of V8's semi-space, for comparison (0: as V8 has it)
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HostileClient, Program, until } from '@mutirao/testkit';
import type { MemoryAccount } from './memory-probe.ts';
import { below, option, plain, report, residentMebibytes, type Figure } from './harness.ts';

const connections = option('connections', 1500);
const rounds = option('rounds', 4);
const atOnce = option('at-once', 50);
const semiSpace = option('semi-space', 0);
const only = option('way', 0);
const held = 1000;
const mebibyte = 2 ** 20;
/** What all connections without a credential together may add to a server. */
const aim = 10;

type Way = 'says nothing' | 'speaks TLS and http2' | 'begins a call';

/** A broker under attack, and what its memory is made of. */
class Attacked {
  readonly home = mkdtempSync(join(tmpdir(), 'mutirao-unproven-'));
  readonly #file = join(this.home, 'memory.json');
  readonly broker = new Program(
    'broker',
    ['--home', this.home, '--listen', '127.0.0.1:0'],
    {
      NODE_OPTIONS:
        '--expose-gc ' +
        `--disable-warning=ExperimentalWarning${semiSpace === 0 ? '' : ` --max-semi-space-size=${semiSpace}`}`,
      MUTIRAO_BENCH_MEMORY: this.#file,
    },
    { preload: new URL('memory-probe.ts', import.meta.url) },
  );

  /** Memory after a collection. */
  async collected(): Promise<MemoryAccount> {
    rmSync(this.#file, { force: true });
    process.kill(this.broker.pid, 'SIGUSR2');
    await until(() => existsSync(this.#file), 'the broker reports its memory');
    return JSON.parse(readFileSync(this.#file, 'utf8')) as MemoryAccount;
  }

  async stop(): Promise<void> {
    await this.broker.kill('SIGTERM');
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Opens one connection; resolves when the server has dealt with it, or closed it. */
async function knock(client: HostileClient, way: Way): Promise<void> {
  if (way === 'says nothing') {
    const socket = client.connectSilently();
    await new Promise((resolve) => {
      socket.once('connect', resolve).once('close', resolve);
    });
    socket.destroy();
    return;
  }
  const session = client.connect();
  await new Promise((resolve) => {
    session.once('remoteSettings', resolve).once('close', resolve);
  });
  if (way === 'begins a call' && !session.destroyed) {
    const call = client.begin(session, '/mutirao.broker.v1.BrokerService/GetOverview');
    await new Promise((resolve) => {
      call.stream.once('close', resolve);
    });
  }
  session.destroy();
}

async function attack(client: HostileClient, way: Way): Promise<void> {
  let left = connections;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1;
        await knock(client, way);
      }
    }),
  );
}

/** Holds many connections at once. @returns the most that the broker grew meanwhile, in MiB. */
async function hold(client: HostileClient, pid: number, before: number): Promise<number> {
  let most = 0;
  for (let count = 0; count < held; count += 1) client.connect();
  for (let look = 0; look < 60; look += 1) {
    await pause(50);
    most = Math.max(most, residentMebibytes(pid) - before);
  }
  return most;
}

async function measureChurn(way: Way): Promise<Figure[]> {
  const attacked = new Attacked();
  try {
    await attacked.broker.start();
    const client = new HostileClient(attacked.broker.address);
    const idle = await attacked.collected();
    const grown: number[] = [];
    const start = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      await attack(client, way);
      grown.push(residentMebibytes(attacked.broker.pid) - idle.rss / mebibyte);
    }
    const seconds = (performance.now() - start) / 1000;
    await client.close();
    const after = await attacked.collected();
    const more = (part: keyof MemoryAccount): number => (after[part] - idle[part]) / mebibyte;
    return [
      plain(`each ${way}: resident before`, idle.rss / mebibyte, 'MiB'),
      ...grown.map((mebibytes, round) =>
        plain(`each ${way}: grown after ${connections * (round + 1)}`, mebibytes, 'MiB'),
      ),
      below(`each ${way}: objects kept after a collection`, more('heapUsed') + more('external'), 'MiB', aim),
      plain(`each ${way}: heap for new objects, committed`, more('newSpace'), 'MiB'),
      plain(`each ${way}: heap for others, committed`, more('oldSpaces'), 'MiB'),
      plain(`each ${way}: resident after a collection`, more('rss'), 'MiB'),
      below(
        `each ${way}: resident after one that gives memory back`,
        (after.rssLeast - idle.rss) / mebibyte,
        'MiB',
        aim,
      ),
      plain(`each ${way}: connections a second`, (connections * rounds) / seconds, '/s'),
    ];
  } finally {
    await attacked.stop();
  }
}

async function measureHeld(): Promise<Figure[]> {
  const attacked = new Attacked();
  try {
    await attacked.broker.start();
    const client = new HostileClient(attacked.broker.address);
    const idle = await attacked.collected();
    const most = await hold(client, attacked.broker.pid, idle.rss / mebibyte);
    const openCount = client.openCount;
    await client.close();
    return [
      below(`${held} opened at once and held: grown at most`, most, 'MiB', aim),
      plain('of which the broker kept open', openCount, 'connections'),
    ];
  } finally {
    await attacked.stop();
  }
}

const ways = ['says nothing', 'speaks TLS and http2', 'begins a call'] as const;
const figures: Figure[] = await measureHeld();
for (const [index, way] of ways.entries())
  if (only === 0 || only === index + 1) figures.push(...(await measureChurn(way)));
report('connections without a credential', figures);
