import test from 'ava';
import { AgentCredentials, originOf, secretOf } from '../../src/credentials.ts';

const credentials = new AgentCredentials('a secret of sixteen', 'a token for lab machines');

test('the credential of a request tells which one it is', (t) => {
  const userId = credentials.check(credentials.of('q17'));
  t.deepEqual(originOf(userId ?? ''), { kind: 'request', requestId: 'q17' });
});

test('the machine token is for time-shared machines', (t) => {
  t.deepEqual(originOf(credentials.check('a token for lab machines') ?? ''), { kind: 'machine' });
});

test('a forged, borrowed or cut credential is refused', (t) => {
  const good = credentials.of('q1');
  const signature = good.split('.')[1] ?? '';
  for (const bad of ['', '.', 'q1', 'q1.', `q2.${signature}`, `${good}x`, good.slice(0, -2), new AgentCredentials('another secret....', 'x').of('q1')]) {
    t.is(credentials.check(bad), undefined, bad);
  }
});

test('credentials outlive a restart', (t) => {
  t.is(new AgentCredentials('a secret of sixteen', 'other').of('q1'), credentials.of('q1'));
});

test('a credential is the same with the agent\'s own secret after it', (t) => {
  t.is(credentials.check(`${credentials.of('q17')}~mine`), 'request:q17');
  t.is(secretOf(`${credentials.of('q17')}~mine`), 'mine');
  t.is(secretOf(credentials.of('q17')), '');
  t.is(credentials.check('a token for lab machines~mine'), 'machine');
  t.is(credentials.check(`${credentials.of('q17')}x~mine`), undefined);
});
