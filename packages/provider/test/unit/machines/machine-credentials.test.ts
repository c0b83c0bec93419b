// Invitations and the credentials of machines: what is taken, what is refused and with which words, and what a restart
// leaves.
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import type { AuditEntry } from '@mutirao/runtime/audit';
import { MachineCredentials, validDefault, validMax } from '../../../src/machines/machine-credentials.ts';

const secret = 'a-secret-that-the-agent-made';
const joined = { name: 'pc', isInvited: false };

class Store {
  readonly database = new DatabaseSync(':memory:');
  now = 1_000_000_000_000;
  machines!: MachineCredentials;
  readonly audited: AuditEntry[] = [];

  constructor() {
    this.restart();
  }

  restart(): MachineCredentials {
    this.machines = new MachineCredentials(
      this.database,
      { now: () => this.now },
      {
        record: (entry) => {
          this.audited.push(entry);
        },
        close: () => undefined,
      },
    );
    return this.machines;
  }

  /** Everything that the database holds, as text. */
  dump(): string {
    return JSON.stringify(
      ['machine_invitations', 'machine_credentials'].map((table) =>
        this.database.prepare(`SELECT * FROM ${table}`).all(),
      ),
    );
  }
}

test('an invitation is exchanged for the secret that the agent made, which is good from then on, also after a restart', (t) => {
  const store = new Store();
  const { secret: invitation, expiresAt } = store.machines.invite('pc', 0);
  t.is(expiresAt, store.now + validDefault);
  t.is(store.machines.recognise('', secret), undefined);
  t.deepEqual(store.restart().recognise(invitation, secret), { name: 'pc', isInvited: true });
  store.machines.join('pc', invitation, secret);
  for (const machines of [store.machines, store.restart()]) {
    t.deepEqual(machines.recognise('', secret), joined);
    t.deepEqual(
      machines.recognise(invitation, secret),
      joined,
      'an agent that shows the used invitation with its secret is still itself',
    );
  }
  t.deepEqual(store.machines.list(), [{ name: 'pc', status: 'joined', since: store.now }]);
});

test('no secret is stored', (t) => {
  const store = new Store();
  const invitation = store.machines.invite('pc', 0).secret;
  store.machines.join('pc', invitation, secret);
  t.false(store.dump().includes(secret));
  t.false(store.dump().includes(invitation) || store.dump().includes(invitation.slice('invitation-'.length)));
});

test('an invitation that was used, has expired, was replaced, withdrawn or never made is refused, and the words say which', (t) => {
  const store = new Store();
  const used = store.machines.invite('pc', 0).secret;
  store.machines.join('pc', used, secret);
  const expired = store.machines.invite('old', 1000).secret;
  const replaced = store.machines.invite('twice', 0).secret;
  store.machines.invite('twice', 0);
  const withdrawn = store.machines.invite('gone', 0).secret;
  store.machines.remove('gone');
  store.now += 1000;
  const refusals = [
    [used, /machine pc was used at 2001-09-09 01:46:40 UTC/],
    [expired, /machine old expired at/],
    [replaced, /machine twice is void since/],
    [withdrawn, /machine gone was withdrawn at/],
    ['invitation-guessed', /made no such invitation/],
  ] as const;
  for (const machines of [store.machines, store.restart()]) {
    for (const [invitation, message] of refusals) {
      t.throws(() => machines.recognise(invitation, 'a-secret-of-somebody-else'), {
        code: 'MUT_INVITATION_REFUSED',
        message,
      });
      t.throws(
        () => {
          machines.join('pc', invitation, 'a-secret-of-somebody-else');
        },
        { code: 'MUT_INVITATION_REFUSED' },
      );
    }
  }
  t.deepEqual(store.machines.recognise(used, secret), joined);
});

test('a removed machine is refused by name, with any invitation that it had, until it is invited again', (t) => {
  const store = new Store();
  store.machines.join('pc', store.machines.invite('pc', 0).secret, secret);
  const open = store.machines.invite('pc', 0).secret;
  t.true(store.machines.remove('pc'));
  t.false(store.machines.remove('pc'));
  t.false(store.machines.remove('nobody'));
  for (const machines of [store.machines, store.restart()]) {
    t.throws(() => machines.recognise('', secret), { code: 'MUT_MACHINE_REMOVED', message: 'machine pc was removed' });
    t.throws(() => machines.recognise(open, 'another-secret-of-some-agent'), { code: 'MUT_INVITATION_REFUSED' });
    t.throws(() => machines.invite('pc', 0, { unlessRemoved: true }), { code: 'MUT_MACHINE_REMOVED' });
  }
  t.like(store.machines.list()[0], { name: 'pc', status: 'removed' });
  // The owner wants it back: an agent that invites itself may, too.
  store.machines.invite('pc', 0);
  t.notThrows(() => store.machines.invite('pc', 0, { unlessRemoved: true }));
  store.machines.join('pc', store.machines.invite('pc', 0).secret, secret);
  t.deepEqual(store.restart().recognise('', secret), joined);
  t.notThrows(() => store.machines.invite('pc', 0, { unlessRemoved: true }));
});

test('a machine that is invited again keeps its credential until the invitation is used, and then another agent has the name', (t) => {
  const store = new Store();
  store.machines.join('pc', store.machines.invite('pc', 0).secret, secret);
  const again = store.machines.invite('pc', 0).secret;
  t.deepEqual(store.machines.recognise('', secret), joined);
  store.machines.join('pc', again, 'the-secret-of-another-agent');
  for (const machines of [store.machines, store.restart()]) {
    t.throws(() => machines.recognise('', secret), { code: 'MUT_MACHINE_NAME_TAKEN_OVER' });
    t.deepEqual(machines.recognise('', 'the-secret-of-another-agent'), joined);
  }
});

test("an invitation is for one name, and a secret is one machine's", (t) => {
  const store = new Store();
  store.machines.join('pc', store.machines.invite('pc', 0).secret, secret);
  const other = store.machines.invite('other', 0).secret;
  t.throws(
    () => {
      store.machines.join('pc', other, 'a-secret-of-another-agent');
    },
    { code: 'MUT_INVITATION_REFUSED' },
  );
  t.throws(
    () => {
      store.machines.join('other', other, secret);
    },
    { code: 'MUT_CREDENTIAL_NAME' },
  );
  t.throws(
    () => {
      store.machines.join('other', other, '');
    },
    { code: 'MUT_BAD_REQUEST', message: /shows no secret of its own/ },
  );
  t.deepEqual(store.machines.recognise('', secret), joined);
  t.deepEqual(store.machines.recognise(other, secret), { name: 'other', isInvited: true });
});

test('names and times that make no sense are refused', (t) => {
  const { machines } = new Store();
  for (const name of ['', '..', 'a/b', 'a b', 'a\nb', 'x'.repeat(65), '-x'])
    t.throws(() => machines.invite(name, 0), { code: 'MUT_BAD_REQUEST' }, name);
  t.throws(() => machines.invite('pc', validMax + 1), { code: 'MUT_BAD_REQUEST', message: /expected 365 at most/ });
});

test('what nobody can use any more is forgotten in time, and of one name little is kept', (t) => {
  const store = new Store();
  for (let time = 0; time < 100; time += 1) {
    store.now += 1;
    store.machines.join('pc', store.machines.invite('pc', 0).secret, secret);
  }
  t.true((store.database.prepare('SELECT count(*) AS n FROM machine_invitations').get()?.['n'] as number) < 12);
  t.is(store.database.prepare('SELECT count(*) AS n FROM machine_credentials').get()?.['n'], 1);
  store.machines.remove('pc');
  store.now += validMax;
  t.throws(() => store.restart().invite('pc', 0, { unlessRemoved: true }), { code: 'MUT_MACHINE_REMOVED' });
  t.is(store.database.prepare('SELECT count(*) AS n FROM machine_invitations').get()?.['n'], 0);
});

test('when the disk is full nothing is changed, in the database or in memory', (t) => {
  const store = new Store();
  const invitation = store.machines.invite('pc', 0).secret;
  store.database.exec(
    "CREATE TRIGGER full BEFORE INSERT ON machine_credentials BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
  t.throws(() => {
    store.machines.join('pc', invitation, secret);
  });
  store.database.exec('DROP TRIGGER full');
  t.deepEqual(store.machines.recognise(invitation, secret), { name: 'pc', isInvited: true });
  t.notThrows(() => {
    store.restart().join('pc', invitation, secret);
  });
});

test('each credential that is made or withdrawn is in the audit log with who did it and from where, and no secret is', (t) => {
  const store = new Store();
  const owner = { who: 'ana', from: '10.0.0.7:52144' };
  const agent = { who: 'invited:pc', from: '10.0.0.9:40022' };
  const { secret: invitation } = store.machines.invite('pc', 1000, { by: owner });
  store.machines.join('pc', invitation, secret, agent);
  t.throws(
    () => {
      store.machines.join('pc', invitation, secret, agent);
    },
    { code: 'MUT_INVITATION_REFUSED' },
  );
  store.machines.remove('pc', owner);
  store.machines.remove('pc', owner);
  store.machines.invite('pc', 1000);
  const invited = 'an invitation, good once until 2001-09-09T01:46:41.000Z';
  t.deepEqual(store.audited, [
    { action: 'credential.issue', ...owner, target: 'machine pc', detail: invited },
    {
      action: 'credential.issue',
      ...agent,
      target: 'machine pc',
      detail: 'the credential of its agent, for an invitation that is used up',
    },
    { action: 'credential.revoke', ...owner, target: 'machine pc' },
    { action: 'credential.issue', who: '', target: 'machine pc', detail: invited },
  ]);
});
