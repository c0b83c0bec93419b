import test from 'ava';
import { agentEnvironment } from '../../src/agent-environment.ts';

const start = {
  address: '127.0.0.1:7',
  providerId: 'c1',
  requestId: 'q1',
  credential: 'q1.x',
  home: '/home/ana/.mutirao',
  authority: '',
  orphanTimeout: 0,
  isolation: '',
};

test('an agent receives the address to dial, its identity and the folder of its files', (t) => {
  t.deepEqual(agentEnvironment(start), {
    MUTIRAO_AGENT_PROVIDER: '127.0.0.1:7',
    MUTIRAO_AGENT_PROVIDER_ID: 'c1',
    MUTIRAO_AGENT_REQUEST: 'q1',
    MUTIRAO_CREDENTIAL: 'q1.x',
    MUTIRAO_HOME: '/home/ana/.mutirao',
  });
});

test('where the agent chooses its folder itself, none is named', (t) => {
  t.false('MUTIRAO_HOME' in agentEnvironment({ ...start, home: '' }));
});

test('a provider that is spoken to with TLS comes with the certificate of its authority', (t) => {
  t.is(agentEnvironment({ ...start, authority: 'MIIB' })['MUTIRAO_CA'], 'MIIB');
});

test('an agent receives a configured time to wait for its provider', (t) => {
  t.is(agentEnvironment({ ...start, orphanTimeout: 60_000 })['MUTIRAO_AGENT_ORPHAN_TIMEOUT'], '60000ms');
});

test('an agent receives a configured way to isolate tasks', (t) => {
  t.is(agentEnvironment({ ...start, isolation: 'account=tasks' })['MUTIRAO_AGENT_ISOLATION'], 'account=tasks');
  t.false('MUTIRAO_AGENT_ISOLATION' in agentEnvironment(start));
});
