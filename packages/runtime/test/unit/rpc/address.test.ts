import test from 'ava';
import { farAddress, nearAddress, parseAddress, parseLoopbackAddress } from '@mutirao/runtime/rpc';

test('a host is spoken to with TLS, on loopback too', (t) => {
  t.deepEqual(parseAddress('127.0.0.1:0'), { host: '127.0.0.1', port: 0, isTls: true });
  t.deepEqual(parseAddress('[::1]:7000'), { host: '::1', port: 7000, isTls: true });
  t.deepEqual(parseAddress('localhost:7000'), { host: 'localhost', port: 7000, isTls: true });
  t.deepEqual(parseAddress('tls://localhost:7000'), { host: 'localhost', port: 7000, isTls: true });
  for (const host of ['0.0.0.0', '192.0.2.7', 'login1.example.org', '[::]', '[2001:db8::7]', 'localhost.example.org'])
    t.true(parseAddress(`${host}:1`).isTls, host);
});

test('a socket is an absolute path that the kernel takes, spoken to in plain unless it leads to a server that speaks TLS', (t) => {
  t.deepEqual(parseAddress('unix:/home/ana/run/a b:c'), { path: '/home/ana/run/a b:c', isTls: false });
  t.deepEqual(parseAddress('tls://unix:/run/x'), { path: '/run/x', isTls: true });
  t.is(parseAddress(`unix:/${'x'.repeat(106)}`).isTls, false);
  for (const text of [
    'unix:',
    'unix:run',
    'unix:/',
    'unix:/run/',
    'unix:/a\nb',
    'unix:/%h',
    'unix:/$HOME/x',
    'unix:/a"b',
    `unix:/${'x'.repeat(107)}`,
    `unix:/${'é'.repeat(54)}`,
  ]) {
    t.throws(() => parseAddress(text), { code: 'MUT_BAD_CONFIG' }, text);
  }
  t.is(nearAddress('unix:/run/x'), 'unix:/run/x');
  t.is(farAddress('unix:/run/x', '', 'front'), 'unix:/run/x');
  t.throws(() => farAddress('unix:/run/x', 'front.cluster', 'front'), {
    code: 'MUT_BAD_CONFIG',
    message: /expected --listen-agents/,
  });
  t.throws(() => parseLoopbackAddress('unix:/run/x'), { code: 'MUT_LOOPBACK_ONLY' });
});

test('a text that is not an address is refused', (t) => {
  for (const text of [
    '',
    'localhost',
    ':1',
    'a:b',
    'a:70000',
    'http://a:1',
    'tls://',
    '[x]:1',
    'a b:1',
    '::1:7',
    'a/b:1',
  ]) {
    t.throws(() => parseAddress(text), { code: 'MUT_BAD_CONFIG' }, text);
  }
});

test('a process of the same host reaches a server on all addresses over loopback', (t) => {
  t.is(nearAddress('0.0.0.0:7000'), '127.0.0.1:7000');
  t.is(nearAddress('[::]:7000'), '[::1]:7000');
  t.is(nearAddress('127.0.0.1:7000'), '127.0.0.1:7000');
  t.is(nearAddress('n1:7000'), 'n1:7000');
});

test("agents receive the bound address, the host's name where that address is a wildcard, or the address that the user gives", (t) => {
  t.is(farAddress('10.0.0.5:7000', '', 'front'), '10.0.0.5:7000');
  t.is(farAddress('0.0.0.0:7000', '', 'front'), 'front:7000');
  t.is(farAddress('0.0.0.0:7000', 'front.cluster', 'front'), 'front.cluster:7000');
  t.is(farAddress('0.0.0.0:7000', '2001:db8::7', 'front'), '[2001:db8::7]:7000');
  t.is(farAddress('0.0.0.0:7000', '[2001:db8::7]:80', 'front'), '[2001:db8::7]:80');
  t.is(farAddress('0.0.0.0:7000', 'front.cluster:443', 'front'), 'front.cluster:443');
  t.is(farAddress('0.0.0.0:7000', '127.0.0.1:443', 'front'), '127.0.0.1:443', "a tunnel's end");
  t.throws(() => farAddress('0.0.0.0:7000', 'front:0', 'front'), { code: 'MUT_BAD_CONFIG' });
  t.throws(() => farAddress('0.0.0.0:7000', 'a front', 'front'), { code: 'MUT_BAD_CONFIG' });
});
