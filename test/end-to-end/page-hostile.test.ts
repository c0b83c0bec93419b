// The gateway of the page over real connections, and programs on this host that mean it ill.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import test, { type ExecutionContext } from 'ava';

import { acceptToken } from '@mutirao/runtime/rpc';
import { quietLogger } from '@mutirao/runtime/log';
import { AnsweringBroker, fakePageGrid, until, webToken } from '@mutirao/testkit';
import { loopbackHosts, makeGateway, makeStaticFiles } from '@mutirao/web/server';

interface Door {
  readonly port: number;
  readonly broker: AnsweringBroker;
  /** What has been logged. */
  readonly logged: string[];
}

async function openDoor(t: ExecutionContext, options: { readonly headersMs?: number } = {}): Promise<Door> {
  const broker = new AnsweringBroker();
  const logged: string[] = [];
  const note = (...reported: readonly unknown[]): void => {
    logged.push(
      JSON.stringify(reported, (_, value: unknown) =>
        value instanceof Error ? `${value.message} ${value.stack ?? ''}` : value,
      ),
    );
  };
  let hosts: ReadonlySet<string> = new Set();
  const { server } = makeGateway({
    grid: fakePageGrid(broker),
    clock: Date,
    userId: 'ana',
    home: '/home/ana/.mutirao',
    program: 'mutirao',
    directory: '/home/ana',
    version: '0',
    tokens: acceptToken(webToken, 'ana'),
    hosts: () => hosts,
    files: () => makeStaticFiles(new Map([['index.html', Buffer.from('<!doctype html>')]])),
    log: { ...quietLogger, error: note, warn: note, info: note },
    instance: 'i1',
    ...options,
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => server.close());
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  hosts = loopbackHosts(port);
  return { port, broker, logged };
}

/** Sends lines as they are, and answers with all that came once the other side has closed. */
async function say(t: ExecutionContext, { port }: Door, ...lines: readonly string[]): Promise<string> {
  const socket = dial(t, port);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
  return received;
}

function dial(t: ExecutionContext, port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined);
  t.teardown(() => {
    socket.destroy();
  });
  return socket;
}

const statusOf = (received: string): string => /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? '';

test('a caller without a token is answered at once and shut out, whatever body is said to follow', async (t) => {
  const door = await openDoor(t);
  for (const length of ['Content-Length: 30000000', 'Transfer-Encoding: chunked']) {
    const received = await say(
      t,
      door,
      'POST /api/v1/jobs/1/cancel HTTP/1.1',
      `Host: 127.0.0.1:${door.port}`,
      'Content-Type: application/json',
      length,
    );
    t.is(statusOf(received), '401', received);
  }
  const large = await say(
    t,
    door,
    'POST /api/v1/jobs/1/cancel HTTP/1.1',
    `Host: 127.0.0.1:${door.port}`,
    `Authorization: Bearer ${webToken}`,
    'Content-Type: application/json',
    'Content-Length: 3000000000',
  );
  t.is(statusOf(large), '413', large);
  t.is(door.broker.timesAsked('cancelJob'), 0);
});

test('a request that names several hosts, none, or another one in its target is not let in', async (t) => {
  const door = await openDoor(t);
  const own = `Host: 127.0.0.1:${door.port}`;
  const token = `Authorization: Bearer ${webToken}`;
  const refused = [
    ['GET /api/v1/session HTTP/1.1', own, 'Host: evil.example', token],
    ['GET /api/v1/session HTTP/1.1', 'Host: evil.example', own, token],
    ['GET /api/v1/session HTTP/1.1', token],
    ['GET /api/v1/session HTTP/1.1', `Host: 127.0.0.1:${door.port}@evil.example`, token],
    ['GET /api/v1/session HTTP/1.1', own, token, 'Origin: http://evil.example'],
    [
      'GET /api/v1/session HTTP/1.1',
      own,
      token,
      `Origin: http://127.0.0.1:${door.port}`,
      'Origin: http://evil.example',
    ],
  ];
  for (const lines of refused) {
    const received = await say(t, door, ...lines, 'Connection: close');
    t.regex(statusOf(received), /^40[03]$/, `${lines.join(' | ')}: ${received}`);
    t.false(received.includes('ana'), received);
  }
});

test('a connection that says nothing, or never ends the head of its request, is closed', async (t) => {
  const { port } = await openDoor(t, { headersMs: 200 });
  const silent = dial(t, port);
  const slow = dial(t, port);
  slow.write('GET /api/v1/session HTTP/1.1\r\nHost: ');
  for (const socket of [silent, slow]) socket.resume();
  // Half of the time after which Node would look by itself.
  await until(() => silent.closed && slow.closed, 'both are closed', 15_000);
  t.pass();
});

test('no more streams than there may be are open, and one that is closed makes room', async (t) => {
  const door = await openDoor(t);
  const ask = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${door.port}/api/v1/events?topics=summary`, {
      headers: { authorization: `Bearer ${webToken}` },
    });
  const open = await Promise.all(Array.from({ length: 64 }, ask));
  t.true(open.every(({ status }) => status === 200));
  t.is((await ask()).status, 429);
  await open[0]?.body?.cancel();
  await until(async () => {
    const more = await ask();
    if (more.status === 200) open.push(more);
    else await more.body?.cancel();
    return more.status === 200;
  }, 'a stream is free again');
  await Promise.all(open.map(({ body }) => body?.cancel().catch(() => undefined)));
});

test('a malformed request is refused, and nothing of it, least of all a token, is logged', async (t) => {
  const door = await openDoor(t);
  const head = [
    `Host: 127.0.0.1:${door.port}`,
    `Authorization: Bearer ${webToken}`,
    'Connection: close',
    'Content-Type: application/json',
  ];
  for (const lines of [
    ['\u0001\u0002 nonsense'],
    ['GET /api/v1/session\u0000 HTTP/1.1', ...head],
    [`GET /api/v1/session?token=${webToken} HTTP/9.9`, ...head],
    ['POST /api/v1/jobs/1/cancel HTTP/1.1', ...head, 'Content-Length: 3', '', '{"a'],
    [
      'POST /api/v1/jobs/1/cancel HTTP/1.1',
      ...head,
      'Content-Length: 40',
      '',
      '{"__proto__":{"admin":true},"reason":"x"',
    ],
    ['POST /api/v1/jobs/1/cancel HTTP/1.1', ...head, 'Content-Length: 4', 'Transfer-Encoding: chunked', '', '0'],
  ])
    t.regex(statusOf(await say(t, door, ...lines)), /^4\d\d$/, lines.join(' | '));
  t.is(door.broker.timesAsked('cancelJob'), 0);
  t.false(
    door.logged.some((line) => line.includes(webToken)),
    door.logged.join('\n'),
  );
});
