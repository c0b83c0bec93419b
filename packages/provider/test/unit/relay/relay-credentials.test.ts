// Whose agent takes which machine's place.
import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { type StreamEnd } from '@mutirao/testkit';
import { Bench, settle, received } from './relay-bench.ts';

test('an agent that comes back takes its place again; one that was invited after it takes its name for good', async (t) => {
  const bench = new Bench();
  const codes: (string | undefined)[] = [];
  const attach = async (userId: string, incarnation: string, credential: string): Promise<void> => {
    bench.agent('lab1', userId, [], { incarnation, credential }).listen({
      onMessage: () => undefined,
      onClosed: (error) => {
        codes.push(error?.code);
      },
    });
    await settle();
  };
  for (let times = 0; times < 2; times += 1) await attach('machine:lab1', 'i', 'used~the-secret-of-lab1');
  t.deepEqual(codes, ['MUT_REATTACH']);
  await attach('invited:lab1', 'another', `${bench.machines.invite('lab1', 0).secret}~another-secret-of-lab1`);
  t.deepEqual(codes, ['MUT_REATTACH', 'MUT_MACHINE_NAME_TAKEN_OVER']);
  t.deepEqual(bench.machines.recognise('', 'another-secret-of-lab1'), { name: 'lab1', isInvited: false });
});

test("a second process with a machine's credential is refused while the first is attached, whichever machine it is, and gets in when that is gone", async (t) => {
  for (const [machineId, userId] of [
    ['lab1', 'machine:lab1'],
    ['c1/q1.0', 'request:q1'],
  ] as const) {
    const bench = new Bench();
    const first = bench.agent(machineId, userId);
    received(first);
    await settle();
    let code: string | undefined;
    bench.agent(machineId, userId, [], { incarnation: 'a copy' }).listen({
      onMessage: () => undefined,
      onClosed: (error) => {
        code = error?.code;
      },
    });
    await settle();
    t.deepEqual([first.isClosed, code], [false, 'MUT_MACHINE_ATTACHED']);
    first.close(new MutiraoError('MUT_UNREACHABLE', 'the machine is gone'));
    await settle();
    t.false(bench.agent(machineId, userId, [], { incarnation: 'a copy' }).isClosed);
  }
});

test("a credential opens no other machine's place, whether that has an agent or not", async (t) => {
  const bench = new Bench();
  const codes: (string | undefined)[] = [];
  for (const [name, userId] of [
    ['lab2', 'machine:lab1'],
    ['c1/lab2', 'machine:lab1'],
    ['lab2', 'invited:lab1'],
    ['q1.0', 'machine:lab1'],
  ] as const) {
    bench.agent(name, userId).listen({
      onMessage: () => undefined,
      onClosed: (error) => {
        codes.push(error?.code);
      },
    });
    await settle();
  }
  t.deepEqual(
    codes,
    Array.from(codes, () => 'MUT_CREDENTIAL_NAME'),
  );
  t.is(codes.length, 4);
  t.deepEqual(bench.inputs, []);
});

test('a machine that is removed is sent away for good, as if it had left', async (t) => {
  const bench = new Bench();
  const agent = bench.agent('lab1', 'machine:lab1');
  let code: string | undefined;
  agent.listen({
    onMessage: () => undefined,
    onClosed: (error) => {
      code = error?.code;
    },
  });
  await settle();
  bench.relay.dropMachine('c1/lab1', new MutiraoError('MUT_MACHINE_REMOVED', 'it was removed'));
  bench.relay.dropMachine('c1/nobody', new MutiraoError('MUT_MACHINE_REMOVED', 'it was removed'));
  await settle();
  t.is(code, 'MUT_MACHINE_REMOVED');
  t.like(bench.inputs.at(-1), { kind: 'AgentDetached', machineId: 'c1/lab1', hasLeft: true });
});

test('a copied credential does not take a machine from its agent, nor after that agent is gone; the agent itself comes back', async (t) => {
  const bench = new Bench();
  const codes: string[] = [];
  const attach = async (name: string, credential: string): Promise<StreamEnd<Buffer, Buffer>> => {
    const agent = bench.agent('c1/q1.0', 'request:q1', [], { credential });
    agent.listen({
      onMessage: () => undefined,
      onClosed: (error) => {
        codes.push(`${name} ${error?.code ?? 'ended'}`);
      },
    });
    await settle();
    return agent;
  };
  const first = await attach('agent', 'q1.x~mine');
  await attach('thief', 'q1.x~other');
  await attach('thief without a secret', 'q1.x');
  t.deepEqual(codes, ['thief MUT_CREDENTIAL_COPIED', 'thief without a secret MUT_CREDENTIAL_COPIED']);
  first.close(new MutiraoError('MUT_UNREACHABLE', 'the connection broke'));
  await settle();
  await attach('thief again', 'q1.x~other');
  t.is(codes.at(-1), 'thief again MUT_CREDENTIAL_COPIED');
  const back = await attach('agent back', 'q1.x~mine');
  t.false(back.isClosed);
  t.deepEqual(
    bench.inputs.map(({ kind }) => kind),
    ['AgentAttached', 'AgentDetached', 'AgentAttached'],
  );
});

test('the audit log has each agent that was let in with its credential, and none that was refused', async (t) => {
  const bench = new Bench();
  for (const [name, userId] of [
    ['lab1', 'machine:lab1'],
    ['lab2', 'machine:lab1'],
    ['c1/q1.0', 'request:q1'],
  ] as const) {
    received(bench.agent(name, userId));
    await settle();
  }
  t.deepEqual(bench.audited, [
    { action: 'credential.use', who: 'machine:lab1', from: 'socket', target: 'machine c1/lab1' },
    { action: 'credential.use', who: 'request:q1', from: 'socket', target: 'machine c1/q1.0' },
  ]);
});
