// Who is let in: the page itself, by its own name and with its token, and nobody else.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import { TaskStatus } from '@mutirao/api/broker';
import { acceptToken } from '@mutirao/runtime/rpc';
import { quietLogger } from '@mutirao/runtime/log';
import {
  aJobSummary,
  AnsweringBroker,
  fakePageGrid,
  temporaryFolder,
  webHeaders,
  webHost,
  webToken,
} from '@mutirao/testkit';
import type { TailMessage } from '../../src/schema/index.ts';
import { loopbackHosts, makeGateway, makeStaticFiles, type Gateway } from '../../src/server/index.ts';
import { followStaticFolder, type StaticFiles } from '../../src/server/static-files.ts';

const builtFiles = makeStaticFiles(
  new Map([
    ['index.html', Buffer.from('<!doctype html>')],
    ['app.js', Buffer.from('let a = 1;\n'.repeat(100))],
    ['assets/chunk-ABCDEFGH.js', Buffer.from('let b = 1;\n'.repeat(100))],
    ['assets/chunk-ABCDEFGH.js.br', Buffer.from('small')],
  ]),
);

function aGateway(broker = new AnsweringBroker(), files = (): StaticFiles => builtFiles): Gateway {
  return makeGateway({
    grid: fakePageGrid(broker),
    clock: { now: () => 10_000 },
    userId: 'ana',
    home: '/home/ana/.mutirao',
    program: 'mutirao',
    directory: '/home/ana',
    version: '0',
    tokens: acceptToken(webToken, 'ana'),
    hosts: () => loopbackHosts(7777),
    files,
    log: quietLogger,
    instance: 'i1',
  });
}

const acting = { method: 'POST', url: '/api/v1/jobs/1/cancel', payload: {} } as const;

test('a call with the token, by a name of this host, is answered', async (t) => {
  const { server } = aGateway();
  const { statusCode, json } = await server.inject({ url: '/api/v1/session', headers: webHeaders });
  t.is(statusCode, 200);
  t.is(json<{ user_id: string }>().user_id, 'ana');
});

test('a page that is built after the start is served, and what is missing is said with advice', async (t) => {
  const folder = join(temporaryFolder(t), 'dist');
  const { server } = aGateway(new AnsweringBroker(), followStaticFolder(folder));
  const get = async (url: string, headers = {}) => server.inject({ url, headers: { ...webHeaders, ...headers } });
  const missing = await get('/');
  t.is(missing.statusCode, 404);
  t.regex(missing.json<{ advice: string }>().advice, /scripts\/setup/);
  mkdirSync(folder);
  writeFileSync(join(folder, 'index.html'), 'built');
  t.is((await get('/')).body, 'built');
  t.regex((await get('/api/v1/nothing')).json<{ advice: string }>().advice, /api\/v1\/session/);
  const refused = await get('/api/v1/session', { authorization: '' });
  t.is(refused.statusCode, 401);
  t.regex(refused.json<{ advice: string }>().advice, /MUTIRAO_HOME\/web\/token/);
});

test('the copy that the build made is sent to who takes it, and a chunk is kept by the browser', async (t) => {
  const { server } = aGateway();
  const get = (url: string, accepted: string) =>
    server.inject({ url, headers: { ...webHeaders, 'accept-encoding': accepted } });
  const chunk = await get('/assets/chunk-ABCDEFGH.js', 'gzip, deflate, br');
  t.deepEqual([chunk.headers['content-encoding'], chunk.body], ['br', 'small']);
  t.regex(String(chunk.headers['cache-control']), /immutable/);
  t.is((await get('/assets/chunk-ABCDEFGH.js', 'gzip')).headers['content-encoding'], 'gzip');
  const plain = await get('/app.js', 'br');
  t.deepEqual([plain.headers['content-encoding'], plain.headers['cache-control']], [undefined, 'no-cache']);
  t.is((await get('/assets/chunk-ABCDEFGH.js.br', 'br')).statusCode, 404);
});

test('the output of a task is sent as it comes: cut characters are joined, and gaps are reported', async (t) => {
  const broker = new AnsweringBroker();
  const { server } = aGateway(broker);
  broker.jobs = [aJobSummary({ jobId: 1 })];
  const bytes = Buffer.from('héllo');
  const message = (given: object) => ({
    status: TaskStatus.RUNNING,
    replicaId: 7,
    machineId: 'lab/m1',
    standardOutputOffset: 0,
    standardOutput: Buffer.alloc(0),
    standardErrorOffset: 0,
    standardError: Buffer.alloc(0),
    unreadable: false,
    ...given,
  });
  broker.tails = [
    message({}),
    message({ standardOutput: bytes.subarray(0, 2) }),
    message({ standardOutputOffset: 2, standardOutput: bytes.subarray(2) }),
    message({ standardOutputOffset: 900, standardOutput: Buffer.from('</script>') }),
    message({ replicaId: 8, standardOutput: Buffer.from('again') }),
  ];
  const url = '/api/v1/jobs/1/tasks/3/tail';
  const { statusCode, body } = await server.inject({ url, headers: webHeaders });
  t.is(statusCode, 200);
  const messages = body
    .split('\n\n')
    .filter((one) => one.startsWith('event: output'))
    .map((one) => JSON.parse(one.slice(one.indexOf('data: ') + 6)) as TailMessage);
  t.deepEqual(
    messages.map((one) => [one.replica_id, one.standard_output, one.is_cut]),
    [
      [7, '', false],
      [7, 'h', false],
      [7, 'éllo', false],
      [7, '</script>', true],
      [8, 'again', false],
    ],
  );
  t.true(body.endsWith('event: end\ndata: {}\n\n'));
  t.regex((await server.inject({ url: '/api/v1/jobs/2/tasks/3/tail', headers: webHeaders })).body, /event: problem/);
  t.is((await server.inject({ url: '/api/v1/jobs/x/tasks/3/tail', headers: webHeaders })).statusCode, 400);
  const { authorization: _token, ...bare } = webHeaders;
  t.is((await server.inject({ url, headers: bare })).statusCode, 401);
});

test('without the token, with a wrong one, or with it in the address the interface reveals nothing', async (t) => {
  const { server } = aGateway();
  const { authorization: _token, ...bare } = webHeaders;
  for (const headers of [
    bare,
    { ...bare, authorization: 'Bearer wrong' },
    { ...bare, authorization: `Basic ${webToken}` },
    { ...bare, authorization: `Bearer ${webToken}x` },
  ]) {
    for (const url of [
      '/api/v1/session',
      '/api/v1/events?topics=summary',
      '/api/nothing',
      '/API/v1/session',
      '//api/v1/session',
      '/%61pi/v1/session',
      '/./api/v1/session',
      `/api/v1/session?token=${webToken}`,
    ]) {
      const { statusCode, body } = await server.inject({ url, headers });
      t.true(statusCode === 401 || statusCode === 404 || body === '<!doctype html>', `${url} ${statusCode}`);
      t.false(body.includes('ana'), url);
      t.false(body.includes(webToken), url);
    }
  }
});

test('a name that only leads here is refused, for the page as for the interface', async (t) => {
  const { server } = aGateway();
  for (const host of [
    'evil.example',
    'evil.example:7777',
    '127.0.0.1',
    '127.0.0.1:7778',
    'localhost.evil.example:7777',
    '',
  ]) {
    for (const url of ['/', '/api/v1/session'])
      t.is((await server.inject({ url, headers: { ...webHeaders, host } })).statusCode, 403, `${host} ${url}`);
  }
  for (const host of ['localhost:7777', 'LOCALHOST:7777', '[::1]:7777', webHost])
    t.is((await server.inject({ url: '/api/v1/session', headers: { ...webHeaders, host } })).statusCode, 200, host);
});

test('what another page sends does not act, also with the token', async (t) => {
  const broker = new AnsweringBroker();
  const { server } = aGateway(broker);
  const foreign = [
    { ...webHeaders, origin: 'http://evil.example' },
    { ...webHeaders, origin: 'null' },
    { ...webHeaders, origin: `https://${webHost}` },
    { ...webHeaders, origin: 'http://127.0.0.1:8888' },
    { ...webHeaders, 'sec-fetch-site': 'cross-site' },
    { ...webHeaders, 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of foreign)
    t.is((await server.inject({ ...acting, headers })).statusCode, 403, JSON.stringify(headers));
  t.is(broker.timesAsked('cancelJob'), 0);
  t.is((await server.inject({ ...acting, headers: { ...webHeaders, origin: `http://${webHost}` } })).statusCode, 200);
  t.is(broker.timesAsked('cancelJob'), 1);
});

test('a form of another page cannot act: it cannot send the token, nor JSON', async (t) => {
  const broker = new AnsweringBroker();
  const { server } = aGateway(broker);
  const { statusCode } = await server.inject({
    ...acting,
    payload: 'reason=x',
    headers: { ...webHeaders, 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.is(statusCode, 400);
  t.is(broker.timesAsked('cancelJob'), 0);
});

test('the files of the page need no token, and every answer forbids scripts that are not its own', async (t) => {
  const { server } = aGateway();
  for (const url of ['/', '/app.js', '/jobs/5', '/api/v1/session']) {
    const { headers } = await server.inject({ url, headers: { host: webHost } });
    t.regex(String(headers['content-security-policy']), /default-src 'none'; script-src 'self'/);
    t.notRegex(String(headers['content-security-policy']), /unsafe|\*/);
    t.is(headers['x-content-type-options'], 'nosniff');
    t.is(headers['access-control-allow-origin'], undefined);
  }
  t.is((await server.inject({ url: '/jobs/5', headers: { host: webHost } })).body, '<!doctype html>');
  t.is((await server.inject({ url: '/../../etc/passwd', headers: { host: webHost } })).body.includes('root:'), false);
  const { headers } = await server.inject({
    url: '/app.js',
    headers: { host: webHost, 'accept-encoding': 'gzip, br' },
  });
  t.is(headers['content-encoding'], 'gzip');
  t.is(
    (await server.inject({ url: '/app.js', headers: { host: webHost, 'if-none-match': String(headers['etag']) } }))
      .statusCode,
    304,
  );
});

test('a body that is larger than the session says is refused before it is read', async (t) => {
  const { server } = aGateway();
  const { statusCode, json } = await server.inject({
    ...acting,
    headers: { ...webHeaders, 'content-type': 'application/json', 'content-length': String(64 * 1024 * 1024) },
    payload: '{}',
  });
  t.is(statusCode, 413);
  t.is(json<{ code: string }>().code, 'MUT_CONTENT_TOO_LARGE');
});
