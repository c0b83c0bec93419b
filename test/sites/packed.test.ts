// The one executable in an empty folder, with neither PATH nor anything else of Mutirao: everything works within it.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import test from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeGang, temporaryFolder } from '@mutirao/testkit';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

test.before((t) => {
  if (!existsSync(join(dist, 'mutirao'))) t.fail('dist/mutirao is not there; scripts/pack makes it');
});

/** Runs the executable in an empty folder, where it finds only what it makes itself. */
function runner(folder: string): (...words: string[]) => Promise<Said> {
  const program = join(folder, 'mutirao');
  symlinkSync(join(dist, 'mutirao'), program);
  return (...words) =>
    new Promise((resolve) => {
      execFile(program, words, { cwd: folder, env: { PATH: '', HOME: folder }, timeout: 30_000 }, (error, out, err) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? 99), out, err });
      });
    });
}

test.serial('a whole grid runs within it: cluster, providers, broker, agents and their tasks', async (t) => {
  const folder = temporaryFolder(t);
  const run = runner(folder);
  const up = await run('up', '--clusters', '2', '--machines', '1', '--detach');
  t.teardown(async () => {
    await run('down');
  });
  t.is(up.status, 0, up.err);
  const job = await run('job', 'submit', '--array', '0-19', '--wait', '--json', '--', 'sh', '-c', 'echo out-{}');
  t.is(job.status, 0, job.err);
  t.like(JSON.parse(job.out), { finished_count: 20 });
  t.is((await run('task', 'output', 'last', '7')).out, 'out-7\n');
  // Machines of the cluster as well: agents that its allocations start.
  const asked = await run('job', 'submit', '--array', '0-11', '--wait', '--', 'sleep', '0.3');
  t.is(asked.status, 0, asked.err);
  t.regex((await run('job', 'machines', 'last')).out, /^alpha\/q/m);
  t.regex((await run('explain', 'request', 'alpha/q1')).out, /alpha\/q1/);
  t.is((await run('ledger', '--json')).status, 0);
  const { address } = JSON.parse(readFileSync(join(folder, '.mutirao', 'broker.json'), 'utf8')) as { address: string };
  const services = await listServices(address, readFileSync(join(folder, '.mutirao', 'token'), 'utf8').trim());
  t.regex(services, /mutirao\.broker\.v1\.BrokerService/);
  t.regex(services, /grpc\.health\.v1\.Health/);
  const logs = readdirSync(join(folder, '.mutirao', 'logs'))
    .map((name) => readFileSync(join(folder, '.mutirao', 'logs', name), 'utf8'))
    .join('');
  t.false(/"level":"(?:error|fatal)"/.test(logs), logs);
});

/** What server reflection answers to "list services", as raw text. */
function listServices(address: string, token: string): Promise<string> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const keep = (bytes: Buffer): Buffer => bytes;
  return new Promise<string>((resolve, reject) => {
    const call = client.makeBidiStreamRequest(
      '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
      keep,
      keep,
      metadata,
      {},
    );
    call.on('data', (bytes: Buffer) => {
      resolve(bytes.toString('latin1'));
    });
    call.on('error', reject);
    call.write(Buffer.from([0x3a, 0x00])); // list_services = ""
    call.end();
  }).finally(() => {
    client.close();
  });
}

test.serial("it prints its release, its help and its processes' help, and refuses errors as ever", async (t) => {
  const run = runner(temporaryFolder(t));
  const { version } = JSON.parse(readFileSync(join(dist, 'mutirao.json'), 'utf8')) as { version: string };
  t.is((await run('--version')).out, `mutirao ${version}\n`);
  for (const name of ['agent', 'broker', 'cluster', 'provider'])
    t.regex((await run('run', name, '--help')).out, /--config/, name);
  t.is((await run('run', 'provider', '--nix')).status, 2);
  t.is((await run('nix')).status, 2);
  t.like(await run('job', 'list'), { status: 3 });
});

test.serial('threads of the simulator start within it', async (t) => {
  const { status, out, err } = await runner(temporaryFolder(t))('sim', 'swarm', '--seeds', '4', '--workers', '2');
  t.is(status, 0, err);
  t.regex(out, /4 passed, 0 failed/);
});

test.serial('it stays below 140 MiB', (t) => {
  t.true(statSync(join(dist, 'mutirao')).size < 140 * 2 ** 20);
});

test.serial('its agents take gangs: what $RSH_CMD needs is in it', async (t) => {
  const gang = await FakeGang.start({ home: temporaryFolder(t), members: 2, packed: join(dist, 'mutirao') });
  t.teardown(() => gang.stop());
  const end = await gang.run(aTemplate('echo in | $RSH_CMD $PROC1 "cat; echo err >&2; exit 3"; echo $?'));
  t.is(
    Buffer.from(end.standardOutput).toString(),
    'in\n3\n',
    `${sayCause(end.detail)} ${Buffer.from(end.standardError).toString()}`,
  );
  t.is(Buffer.from(end.standardError).toString(), 'err\n');
});
