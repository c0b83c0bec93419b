import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { AgentGate } from '../../src/agent-gate.ts';

const q1 = { kind: 'request', requestId: 'q1' } as const;
const lab1 = { kind: 'machine', name: 'lab1', isInvited: false } as const;
const copied = { code: 'MUT_CREDENTIAL_COPIED' };

/** A gate where request q1 has two processors. */
function aGate(
  database = new DatabaseSync(':memory:'),
  widths: Readonly<Record<string, number>> = { q1: 2 },
): AgentGate {
  return new AgentGate(database, { findWidth: (requestId) => widths[requestId] ?? 0 }, { join: () => undefined });
}

test('each machine of a request has one agent, which may come back', (t) => {
  const gate = aGate();
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  gate.enter(q1, 'p/q1.1', 'q1.x~b');
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  t.throws(() => {
    gate.enter(q1, 'p/q1.0', 'q1.x~b');
  }, copied);
  t.throws(() => {
    gate.enter(q1, 'p/q1.0', 'q1.x');
  }, copied);
});

test('a request has no more machines than processors', (t) => {
  const gate = aGate();
  for (const name of ['p/q1.2', 'p/q1.99999999', 'p/q1.thief', 'p/q1', 'p/q1.00', 'p/q1.01', 'p/q1.0000001'])
    t.throws(
      () => {
        gate.enter(q1, name, 'q1.x~c');
      },
      copied,
      name,
    );
  t.notThrows(() => {
    gate.enter(q1, 'p/q1.1', 'q1.x~c');
  });
});

test('what was bound outlives a restart, but not its request', (t) => {
  const database = new DatabaseSync(':memory:');
  aGate(database).enter(q1, 'p/q1.0', 'q1.x~a');
  const again = aGate(database);
  t.throws(() => {
    again.enter(q1, 'p/q1.0', 'q1.x~b');
  }, copied);
  t.notThrows(() => {
    again.requireEntered('q1', 'q1.x~a');
  });
  aGate(database, {});
  t.notThrows(() => {
    aGate(database).enter(q1, 'p/q1.0', 'q1.x~b');
  });
});

test('transfers are for agents that have attached', (t) => {
  const gate = aGate();
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  t.notThrows(() => {
    gate.requireEntered('q1', 'q1.x~a');
  });
  t.throws(() => {
    gate.requireEntered('q1', 'q1.x~b');
  }, copied);
  t.throws(() => {
    gate.requireEntered('q2', 'q2.x~a');
  }, copied);
});

test("a machine of a request stays its first agent's, also when that has left or was cut off", (t) => {
  const gate = aGate();
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  gate.leave('p/q1.0');
  t.throws(() => {
    gate.enter(q1, 'p/q1.0', 'q1.x~b');
  }, copied);
  t.notThrows(() => {
    gate.enter(q1, 'p/q1.0', 'q1.x~a');
  });
});

test("a time-shared machine's name is free when its agent is gone", (t) => {
  const gate = aGate();
  gate.enter(lab1, 'p/lab1', 'token~a');
  t.throws(() => {
    gate.enter(lab1, 'p/lab1', 'token~b');
  }, copied);
  gate.leave('p/lab1');
  t.notThrows(() => {
    gate.enter(lab1, 'p/lab1', 'token~b');
  });
});

test('when a request is over nothing of it is kept, and the machine passes that on to its agents', (t) => {
  const database = new DatabaseSync(':memory:');
  const gate = aGate(database);
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  gate.forgetRequest('q1');
  t.is(database.prepare('SELECT count(*) AS n FROM agent_secrets').get()?.['n'], 0);
  const over = aGate(database, {});
  t.notThrows(() => {
    over.enter(q1, 'p/q1.0', 'q1.x~b');
  });
  t.throws(() => {
    over.requireEntered('q1', 'q1.x~b');
  }, copied);
});

test('an invitation is exchanged when its agent enters, and takes the name from the agent before', (t) => {
  const joined: unknown[][] = [];
  const by = { who: 'invited:lab1', from: '10.0.0.9:40022' };
  const gate = new AgentGate(
    new DatabaseSync(':memory:'),
    { findWidth: () => 0 },
    {
      join: (...words) => {
        joined.push(words);
      },
    },
  );
  gate.enter(lab1, 'p/lab1', 'used~a');
  gate.enter({ ...lab1, isInvited: true }, 'p/lab1', 'invitation-x~b', by);
  t.deepEqual(joined, [['lab1', 'invitation-x', 'b', by]]);
  t.notThrows(() => {
    gate.demandAgentOf('p/lab1', 'anything~b');
  });
  t.throws(() => {
    gate.demandAgentOf('p/lab1', 'used~a');
  }, copied);
  t.throws(() => {
    gate.demandAgentOf('p/lab2', 'anything~b');
  }, copied);
  t.deepEqual([gate.machinesOf('', 'used~a'), gate.machinesOf('', 'anything~b')], [[], ['p/lab1']]);
});

test("a machine's credential is for its own name alone, and a refused invitation is not exchanged", (t) => {
  const joined: string[] = [];
  const gate = new AgentGate(
    new DatabaseSync(':memory:'),
    { findWidth: () => 0 },
    {
      join: (name) => {
        joined.push(name);
      },
    },
  );
  for (const isInvited of [false, true]) {
    t.throws(
      () => {
        gate.enter({ ...lab1, isInvited }, 'p/lab2', 'x~a');
      },
      {
        code: 'MUT_CREDENTIAL_NAME',
        message: /is for machine lab1, and the agent calls itself lab2; expected --machine-id lab1/,
      },
    );
  }
  t.deepEqual(joined, []);
});
