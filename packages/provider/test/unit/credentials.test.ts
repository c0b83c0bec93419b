import test from 'ava';
import { AgentCredentials, getOrigin, getSecret, withoutSecret } from '../../src/credentials.ts';

/** Knows one machine by its secret, and one invitation. */
const machines = {
  recognise: (given: string, secret: string) =>
    given === 'invitation-x'
      ? { name: 'pc1', isInvited: true }
      : secret === 'mine'
        ? { name: 'pc2', isInvited: false }
        : undefined,
};
const credentials = new AgentCredentials('a secret of sixteen', machines);

test('the credential of a request identifies it', (t) => {
  const userId = credentials.check(credentials.of('q17'));
  t.deepEqual(getOrigin(userId ?? ''), { kind: 'request', requestId: 'q17' });
});

test('an invitation, and then the secret that an agent made, identify the machine', (t) => {
  t.deepEqual(getOrigin(credentials.check('invitation-x~mine') ?? ''), {
    kind: 'machine',
    name: 'pc1',
    isInvited: true,
  });
  t.deepEqual(getOrigin(credentials.check('whatever~mine') ?? ''), { kind: 'machine', name: 'pc2', isInvited: false });
  t.is(credentials.check('whatever~other'), undefined);
});

test('a forged, borrowed or cut credential is refused', (t) => {
  const good = credentials.of('q1');
  const signature = good.split('.')[1] ?? '';
  for (const bad of [
    '',
    '.',
    'q1',
    'q1.',
    `q2.${signature}`,
    `${good}x`,
    good.slice(0, -2),
    new AgentCredentials('another secret....', machines).of('q1'),
  ]) {
    t.is(credentials.check(bad), undefined, bad);
  }
});

test('credentials outlive a restart', (t) => {
  t.is(new AgentCredentials('a secret of sixteen', machines).of('q1'), credentials.of('q1'));
});

test("a credential is the same with the agent's own secret after it", (t) => {
  t.is(credentials.check(`${credentials.of('q17')}~own`), 'request:q17');
  t.is(getSecret(`${credentials.of('q17')}~own`), 'own');
  t.is(withoutSecret(`${credentials.of('q17')}~own`), credentials.of('q17'));
  t.is(getSecret(credentials.of('q17')), '');
  t.is(credentials.check(`${credentials.of('q17')}x~own`), undefined);
});
