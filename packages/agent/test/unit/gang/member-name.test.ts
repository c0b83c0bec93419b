import test from 'ava';
import { findGangHosts, nameMember } from '../../../src/gang/member-name.ts';

test('a member is called by its user, the first word of its host, and its machine', (t) => {
  t.is(nameMember('lab/pc3', 'ana', 'pc3.example.org'), 'ana@pc3-pc3');
  t.is(nameMember('pc3', 'ana', 'pc3'), 'ana@pc3-pc3');
});

test('machines whose names differ in what host files do not take have different names all the same', (t) => {
  const names = ['q3.1', 'q3-1', 'q3_1', 'q3 1', 'ä'].map((name) => nameMember(`alpha/${name}`, 'ana', 'node7'));
  t.is(new Set(names).size, names.length);
  for (const name of names) t.regex(name, /^ana@node7-[A-Za-z0-9-]+$/);
});

test('a user or a host of odd characters is one word', (t) => {
  t.is(nameMember('lab/pc', 'DOMAIN\\ana b', ''), 'DOMAIN-ana-b@x-pc');
  t.is(nameMember('lab/pc', '-l', 'h'), 'l@h-pc', 'no option of $RSH_CMD');
});

test('an agent that reaches its provider by loopback is reached by loopback, another one at the addresses of its machine', (t) => {
  for (const provider of ['127.0.0.1:7001', 'tls://[::1]:7001', 'localhost:1'])
    t.deepEqual(findGangHosts(provider), ['127.0.0.1']);
  for (const provider of ['head.example.org:7721', 'unix:/run/provider']) {
    const hosts = findGangHosts(provider);
    t.true(hosts.length > 0 && hosts.every((host) => !host.startsWith('fe80:')));
  }
});
