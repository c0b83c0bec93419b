import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { AgentGate } from '../../src/agent-gate.ts';

const q1 = { kind: 'request', requestId: 'q1' } as const;
const machine = { kind: 'machine' } as const;
const copied = { code: 'MUT_CREDENTIAL_COPIED' };

/** A gate where request q1 has two processors. */
function aGate(database = new DatabaseSync(':memory:'), widths: Readonly<Record<string, number>> = { q1: 2 }): AgentGate {
  return new AgentGate(database, { widthOf: (requestId) => widths[requestId] ?? 0 });
}

test('each machine of a request has one agent, which may come back', (t) => {
  const gate = aGate();
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  gate.enter(q1, 'p/q1.1', 'q1.x~b');
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  t.throws(() => { gate.enter(q1, 'p/q1.0', 'q1.x~b'); }, copied);
  t.throws(() => { gate.enter(q1, 'p/q1.0', 'q1.x'); }, copied);
});

test('a request has no more machines than processors', (t) => {
  const gate = aGate();
  for (const name of ['p/q1.2', 'p/q1.99999999', 'p/q1.thief', 'p/q1']) t.throws(() => { gate.enter(q1, name, 'q1.x~c'); }, copied, name);
  t.notThrows(() => { gate.enter(q1, 'p/q1.1', 'q1.x~c'); });
});

test('what was bound outlives a restart, but not its request', (t) => {
  const database = new DatabaseSync(':memory:');
  aGate(database).enter(q1, 'p/q1.0', 'q1.x~a');
  const again = aGate(database);
  t.throws(() => { again.enter(q1, 'p/q1.0', 'q1.x~b'); }, copied);
  t.notThrows(() => { again.demandEntered('q1', 'q1.x~a'); });
  aGate(database, {});
  t.notThrows(() => { aGate(database).enter(q1, 'p/q1.0', 'q1.x~b'); });
});

test('transfers are for agents that have attached', (t) => {
  const gate = aGate();
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  t.notThrows(() => { gate.demandEntered('q1', 'q1.x~a'); });
  t.throws(() => { gate.demandEntered('q1', 'q1.x~b'); }, copied);
  t.throws(() => { gate.demandEntered('q2', 'q2.x~a'); }, copied);
});

test('who leaves with a good-bye frees the name, who is cut off does not', (t) => {
  const gate = aGate();
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  gate.leave('p/q1.0', false);
  t.throws(() => { gate.enter(q1, 'p/q1.0', 'q1.x~b'); }, copied);
  gate.leave('p/q1.0', true);
  t.notThrows(() => { gate.enter(q1, 'p/q1.0', 'q1.x~b'); });
});

test('a time-shared machine\'s name is free when its agent is gone', (t) => {
  const gate = aGate();
  gate.enter(machine, 'p/lab1', 'token~a');
  t.throws(() => { gate.enter(machine, 'p/lab1', 'token~b'); }, copied);
  gate.leave('p/lab1', false);
  t.notThrows(() => { gate.enter(machine, 'p/lab1', 'token~b'); });
});

test('when a request is over nothing of it is kept, and the machine tells its agents so', (t) => {
  const database = new DatabaseSync(':memory:');
  const gate = aGate(database);
  gate.enter(q1, 'p/q1.0', 'q1.x~a');
  gate.forgetRequest('q1');
  t.is(database.prepare('SELECT count(*) AS n FROM agent_secrets').get()?.['n'], 0);
  const over = aGate(database, {});
  t.notThrows(() => { over.enter(q1, 'p/q1.0', 'q1.x~b'); });
  t.throws(() => { over.demandEntered('q1', 'q1.x~b'); }, copied);
});
