import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { ClusterServiceClient, ClusterServiceService } from '@mutirao/api/cluster';
import { removeTree } from '@mutirao/runtime/files';
import { quietLogger } from '@mutirao/runtime/log';
import {
  acceptToken,
  bind,
  callUnary,
  dial,
  listMessages,
  makeSocketFolder,
  serve,
  socketIn,
  type RunningServer,
} from '@mutirao/runtime/rpc';
import { forbidLeaks, temporaryFolder, until } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

forbidLeaks(test);

const listing = { atUnixMs: 7, processorsFree: 3, requests: [], reservations: [], ranking: undefined, nodes: [] };
const binding = bind(ClusterServiceService, {
  allocate: (request) => ({ requestId: `${request.userId}-1`, walltimeGain: undefined }),
  release: () => ({}),
  getLimits: () => ({
    processors: 1,
    requestsMax: 1,
    walltimeMsMax: 1,
    widthProcessorsMax: 1,
    walltimeGranularityMs: 1,
    nodes: [],
  }),
  getQueue: () => listing,
  getScores: () => ({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: [] }),
  watchQueue: async () => undefined,
});

const serveAt = (path: string): Promise<RunningServer> =>
  serve({ address: `unix:${path}`, tokens: acceptToken('secret', 'ana'), log: quietLogger, services: [binding] });
const dialAt = (path: string): ClusterServiceClient => dial(ClusterServiceClient, `unix:${path}`, { token: 'secret' });
const asked = (client: ClusterServiceClient): Promise<unknown> =>
  callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 });

/** Counts connections to a socket, as another user who took its place would see them. */
async function attackAt(t: ExecutionContext, path: string): Promise<() => number> {
  let received = 0;
  const attacker = createServer((socket) => {
    received += 1;
    socket.destroy();
  });
  t.teardown(() => {
    attacker.close();
  });
  await new Promise<void>((resolve) => {
    attacker.listen(path, resolve);
  });
  return () => received;
}

test.serial(
  'where another account has taken the short name of a folder there is another one, and always the same',
  (t) => {
    if (process.getuid?.() !== 0) {
      t.pass('only root has files of several accounts');
      return;
    }
    const long = join(temporaryFolder(t), 'x'.repeat(100));
    const folderOf = (): string => dirname(socketIn(long, 'p').slice('unix:'.length));
    const first = folderOf();
    const third = `${first}-2`;
    const folders = [first, `${first}-1`, third];
    t.teardown(() => {
      for (const folder of folders) removeTree(folder);
    });
    for (const folder of folders.slice(0, 2)) {
      mkdirSync(folder, { mode: 0o700 });
      t.is(folderOf(), folder);
      chownSync(folder, 54_321, 54_321);
    }
    t.is(folderOf(), third);
    makeSocketFolder(join(third, 'p'));
    removeTree(first);
    t.is(folderOf(), third, 'one that is in use stays so when an earlier name is free again');
  },
);

test.serial('a server at a socket is for its user alone, and takes it away when it stops', async (t) => {
  const folder = join(temporaryFolder(t), 'run');
  const path = join(folder, 'server');
  const server = await serveAt(path);
  t.is(server.address, `unix:${path}`);
  t.deepEqual(
    [folder, path].map((each) => lstatSync(each).mode & 0o777),
    [0o700, 0o600],
  );
  const client = dialAt(path);
  t.deepEqual(await asked(client), listing);
  const foreign = dial(ClusterServiceClient, server.address, { token: 'other' });
  await t.throwsAsync(asked(foreign), { code: 'MUT_UNAUTHENTICATED' });
  foreign.close();
  client.close();
  await server.drain(1000);
  t.false(existsSync(path));
});

test.serial(
  'a socket that a killed server left is replaced, and a client that is there finds the next one',
  async (t) => {
    const path = join(temporaryFolder(t), 'server');
    const first = await serveAt(path);
    const client = dialAt(path);
    t.deepEqual(await asked(client), listing);
    // As after a kill, when nobody takes it away.
    renameSync(path, `${path}.left`);
    await first.drain(0);
    renameSync(`${path}.left`, path);
    await t.throwsAsync(asked(client), { code: 'MUT_UNREACHABLE' });
    const second = await serveAt(path);
    await until(
      () =>
        asked(client).then(
          () => true,
          () => false,
        ),
      'the next one answers',
    );
    client.close();
    await second.drain(1000);
  },
);

test.serial(
  'a server takes neither the socket of one that lives, nor a file that is not a socket, nor a folder that others can enter',
  async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'server');
    const server = await serveAt(path);
    await t.throwsAsync(serveAt(path), { code: 'MUT_ALREADY_RUNNING', message: /another process does/ });
    writeFileSync(join(folder, 'file'), '');
    await t.throwsAsync(serveAt(join(folder, 'file')), { code: 'MUT_BAD_CONFIG', message: /is not a socket/ });
    await server.drain(1000);
    chmodSync(folder, 0o750);
    await t.throwsAsync(serveAt(path), { code: 'MUT_TOKEN_UNSAFE', message: /has mode 750; expected 700/ });
    await t.throwsAsync(serveAt(join(folder, 'x'.repeat(120))), {
      code: 'MUT_BAD_CONFIG',
      message: /and the kernel takes 107; expected a folder with a shorter name/,
    });
  },
);

test.serial(
  'a client says nothing to a socket in a folder that others can write to, by a call or by a stream, also when it was safe before',
  async (t) => {
    const folder = join(temporaryFolder(t), 'run');
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, 'server');
    const client = dialAt(path);
    await t.throwsAsync(asked(client), { code: 'MUT_UNREACHABLE' });
    chmodSync(folder, 0o777);
    const received = await attackAt(t, path);
    await t.throwsAsync(asked(client), { code: 'MUT_TOKEN_UNSAFE', message: /others may write to the folder/ });
    await t.throwsAsync(
      async () => {
        for await (const _level of listMessages(client.watchQueue({}))) t.fail();
      },
      { code: 'MUT_TOKEN_UNSAFE' },
    );
    t.is(received(), 0);
    client.close();
  },
);

test('a socket whose path would be too long has one in a folder of its own, always the same', (t) => {
  t.is(socketIn('/home/ana/.mutirao/run', 'p'), 'unix:/home/ana/.mutirao/run/p');
  const long = `/home/${'a'.repeat(100)}`;
  t.regex(socketIn(long, 'p'), /^unix:\/.*\/mutirao-\d+-[0-9a-f]{16}\/p$/);
  t.is(socketIn(long, 'p'), socketIn(long, 'p'));
  t.not(socketIn(long, 'p'), socketIn(`${long}b`, 'p'));
});
