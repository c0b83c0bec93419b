import { Metrics, startHttp } from '@mutirao/runtime/metrics';
import { forbidLeaks } from '@mutirao/testkit';
import test from 'ava';

forbidLeaks(test);

const token = 'a-token-of-the-metrics';

test.serial(
  'metrics are served on the loopback to callers with the token, and to all only whether all is well',
  async (t) => {
    const metrics = new Metrics();
    metrics.counter('mutirao_things_total', 'Things.', ['kind']).inc({ kind: 'small' }, 3);
    metrics.counter('mutirao_things_total', 'Things.', ['kind']).inc({ kind: 'small' });
    let level = 0;
    metrics.gauge('mutirao_level', 'A level.', [], (gauge) => {
      gauge.set(level);
    });
    const health: { trouble: string | undefined } = { trouble: undefined };
    const http = await startHttp({ address: '127.0.0.1:0', metrics, token, healthy: () => health.trouble });
    const get = (path: string): Promise<Response> =>
      fetch(`http://${http.address}${path}`, { headers: { authorization: `Bearer ${token}` } });
    const getAsForeign = (path: string, shown = 'guessed'): Promise<Response> =>
      fetch(`http://${http.address}${path}`, { headers: { authorization: `Bearer ${shown}` } });
    level = 7;
    const text = await (await get('/metrics')).text();
    t.regex(text, /mutirao_things_total\{kind="small"\} 4/);
    t.regex(text, /mutirao_level 7/);
    t.is((await get('/healthz')).status, 200);
    health.trouble = 'the journal failed';
    const sick = await get('/healthz');
    t.is(sick.status, 503);
    t.is(await sick.text(), 'the journal failed\n');
    const refused = await getAsForeign('/metrics');
    t.is(refused.status, 401);
    t.notRegex(await refused.text(), /mutirao_/);
    t.is((await fetch(`http://${http.address}/metrics`)).status, 401);
    const vague = await getAsForeign('/healthz');
    t.deepEqual([vague.status, await vague.text()], [503, 'not ok\n']);
    t.is((await get('/else')).status, 404);
    await http.close();
    await t.throwsAsync(startHttp({ address: '0.0.0.0:0', metrics, token, healthy: () => undefined }), {
      code: 'MUT_LOOPBACK_ONLY',
    });
  },
);

test.serial('a port that is taken is said to be taken', async (t) => {
  const metrics = new Metrics();
  const first = await startHttp({ address: '127.0.0.1:0', metrics, token, healthy: () => undefined });
  await t.throwsAsync(startHttp({ address: first.address, metrics, token, healthy: () => undefined }), {
    code: 'MUT_ADDRESS_TAKEN',
    message: `cannot listen on ${first.address}: another process listens there`,
  });
  await first.close();
});
