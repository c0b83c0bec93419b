import test from 'ava';
import { AttachResponse, OutputState } from '@mutirao/api/machine';
import { ConnectResponse } from '@mutirao/api/provider';
import { streamPair, type StreamEnd } from '@mutirao/testkit';
import {
  Bench,
  fromBroker,
  fromAgent,
  offer,
  aReport,
  acknowledge,
  settle,
  sentToBroker,
  sentToAgent,
  received,
} from './relay-bench.ts';

test('a broker that takes the status of the resource receives it, and its own reports are read', async (t) => {
  const bench = new Bench();
  const [near, far] = streamPair<Buffer, Buffer>();
  bench.relay.connectBroker(far, { userId: 'ana' });
  near.write(
    fromBroker({
      $case: 'hello',
      value: { protocolVersion: 1, programVersion: '0', capabilities: ['resource'], speakerId: 'b1' },
    }),
  );
  const said = received(near);
  bench.broker('b2');
  await settle();
  t.like(bench.inputs, [
    { kind: 'BrokerConnected', brokerId: 'b1', takesResource: true },
    { kind: 'BrokerConnected', brokerId: 'b2' },
  ]);
  t.false('takesResource' in bench.inputs[1]!);
  bench.relay.perform({
    kind: 'ReportResource',
    brokerId: 'b1',
    resourceStatus: { processors: 8, widthMax: 6, isTimeShared: false, isDraining: true },
  });
  await settle();
  const reported = ConnectResponse.decode(said.at(-1)!).message;
  t.like(reported, {
    $case: 'resource',
    value: { processors: 8, widthProcessorsMax: 6, draining: true, queue: undefined },
  });
});

test('a broker and an agent present themselves, and the machine receives both', async (t) => {
  const bench = new Bench();
  bench.broker('b1');
  bench.agent('c1/q1.0', 'request:q1', [4]);
  await settle();
  t.deepEqual(
    bench.inputs.map((input) => input.kind),
    ['BrokerConnected', 'AgentAttached'],
  );
  t.like(bench.inputs[1], {
    facts: { machineId: 'c1/q1.0', requestId: 'q1', attributes: { site: 'c1' } },
    heldReplicaIds: [4],
  });
});

test('an agent cannot name itself into another request or another provider', async (t) => {
  const bench = new Bench();
  bench.agent('c9/q7.3', 'request:q1');
  bench.agent('lab1', 'machine:lab1');
  bench.agent('c1/lab2', 'machine:lab2');
  await settle();
  t.deepEqual(
    bench.inputs.map((input) =>
      input.kind === 'AgentAttached' ? `${input.facts.machineId} of ${input.facts.requestId}` : '',
    ),
    ['c1/q1.3 of q1', 'c1/lab1 of ', 'c1/lab2 of '],
  );
});

test('reports wait until the machine has a broker, and then go to it in order', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  const agent = bench.agent('c1/q1.0');
  received(broker);
  await settle();
  agent.write(aReport(1, [5]));
  agent.write(aReport(2, [6]));
  await settle();
  t.deepEqual(sentToBroker(broker), ['hello']);
  bench.join('b1', 'c1/q1.0');
  await settle();
  t.deepEqual(sentToBroker(broker), ['hello', 'joined', 'fromMachine', 'fromMachine']);
  t.deepEqual(bench.measure.take(), [
    { kind: 'TasksMeasured', requestId: 'q1', longest: 40, total: 80, count: 2, shortest: 40, squares: 3200 },
  ]);
});

test('what gangs need is passed on both ways, and a machine takes gangs where its agent said so', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  const agent = bench.agent('c1/q1.0', 'request:q1', [], { capabilities: ['gang'] });
  bench.agent('c1/q1.1', 'request:q1');
  received(broker);
  received(agent);
  await settle();
  t.deepEqual(
    bench.inputs.map((input) => (input.kind === 'AgentAttached' ? input.facts.takesGangs : 'broker')),
    ['broker', true, undefined],
  );
  bench.join('b1', 'c1/q1.0');
  agent.write(
    fromAgent({
      $case: 'report',
      value: {
        sequence: 1,
        started: [],
        ended: [],
        gangMemberReady: [{ replicaId: 3, name: 'ana@one', addresses: ['one:1'] }],
      },
    }),
  );
  const startGang = { replicaId: 3, members: [{ rank: 0, name: 'ana@one', addresses: ['one:1'], processors: 1 }] };
  broker.write(
    fromBroker({
      $case: 'toMachine',
      value: { machineId: 'c1/q1.0', message: { $case: 'startGang', value: startGang } },
    }),
  );
  await settle();
  t.like(ConnectResponse.decode(received(broker)[2] as Buffer).message?.value, {
    message: { value: { gangMemberReady: [{ replicaId: 3, name: 'ana@one', addresses: ['one:1'] }] } },
  });
  t.deepEqual(AttachResponse.decode(received(agent)[2] as Buffer).message, { $case: 'startGang', value: startGang });
});

test('an agent that answers requests for output gets them, and the provider answers for an older one', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  const said = received(broker);
  const [newer, older] = [
    received(bench.agent('c1/q1.0', 'request:q1', [], { capabilities: ['output'] })),
    received(bench.agent('c1/q1.1', 'request:q1')),
  ];
  await settle();
  for (const machineId of ['c1/q1.0', 'c1/q1.1']) bench.join('b1', machineId);
  const request = {
    requestId: 5,
    replicaId: 3,
    standardOutputOffset: 4,
    standardErrorOffset: 2,
    bytesMax: 9,
    waitMs: 1000,
  };
  for (const machineId of ['c1/q1.0', 'c1/q1.1'])
    broker.write(
      fromBroker({
        $case: 'toMachine',
        value: { machineId, message: { $case: 'outputRequest', value: request } },
      }),
    );
  await settle();
  const isRequest = (bytes: Buffer): boolean => AttachResponse.decode(bytes).message?.$case === 'outputRequest';
  t.deepEqual([newer.filter(isRequest).length, older.filter(isRequest).length], [1, 0]);
  const answer = ConnectResponse.decode(said.at(-1) as Buffer).message;
  t.like(answer?.value, {
    machineId: 'c1/q1.1',
    message: {
      $case: 'outputPart',
      value: {
        requestId: 5,
        replicaId: 3,
        state: OutputState.UNREADABLE,
        standardOutputOffset: 4,
        standardErrorOffset: 2,
      },
    },
  });
});

test('a lost machine is reported as lost, and the agent that has its name stays where it is', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  const said = received(broker);
  bench.agent('c1/q1.0').write(aReport(1));
  await settle();
  const facts = {
    machineId: 'c1/q1.0',
    incarnation: 'former',
    processors: 1,
    attributes: {},
    until: undefined,
    requestId: 'q1',
  };
  bench.relay.perform({ kind: 'ReportMachineJoined', brokerId: 'b1', facts, heldReplicaIds: [3], isGone: true });
  await settle();
  const [hello, joined, ...rest] = said.map((bytes) => ConnectResponse.decode(bytes).message);
  t.is(hello?.$case, 'hello');
  t.like(joined, { $case: 'joined', value: { heldReplicaIds: [3], isGone: true } });
  t.deepEqual(rest, []);
});

test('a broker reaches its own machines only', async (t) => {
  const bench = new Bench();
  const [one, other] = [bench.broker('b1'), bench.broker('b2')];
  const agent = bench.agent('c1/q1.0');
  received(agent);
  await settle();
  bench.join('b1', 'c1/q1.0');
  other.write(acknowledge('c1/q1.0', 1));
  one.write(acknowledge('c1/q1.1', 1));
  one.write(acknowledge('c1/q1.0', 1));
  await settle();
  t.deepEqual(sentToAgent(agent), ['hello', 'served', 'acknowledged']);
  t.is(bench.relay.droppedCount, 2);
});

test('a machine receives the user whose broker it works for before the first message of that broker, and no broker can say so itself', async (t) => {
  const bench = new Bench();
  const [own, other] = [bench.broker('b1'), bench.broker('b1', 1, 'eva')];
  const agent = bench.agent('c1/q1.0');
  received(agent);
  await settle();
  bench.join('b1', 'c1/q1.0');
  bench.join('b1', 'c1/q1.0');
  own.write(acknowledge('c1/q1.0', 1));
  await settle();
  bench.join('eva/b1', 'c1/q1.0');
  other.write(acknowledge('c1/q1.0', 2));
  await settle();
  t.deepEqual(
    received(agent)
      .slice(1)
      .map((bytes) => AttachResponse.decode(bytes).message),
    [
      { $case: 'served', value: { userId: 'ana', isOwner: true } },
      { $case: 'acknowledged', value: { sequence: 1 } },
      { $case: 'served', value: { userId: 'eva', isOwner: false } },
      { $case: 'acknowledged', value: { sequence: 2 } },
    ],
  );
  const forged = AttachResponse.encode({
    message: { $case: 'served', value: { userId: 'ana', isOwner: true } },
  }).finish();
  const name = Buffer.from('c1/q1.0');
  const frame = Buffer.concat([Buffer.of(0x1a, 2 + name.length + forged.length, 0x0a, name.length), name, forged]);
  const closed = new Promise<unknown>((resolve) => {
    other.listen({ onMessage: () => undefined, onClosed: resolve });
  });
  other.write(frame);
  t.like(await closed, { code: 'MUT_PROTOCOL' });
  t.is(received(agent).length, 5);
});

test('nobody waits for a machine to take what it was offered when it is gone', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  const agent = bench.agent('c1/q1.0');
  await settle();
  bench.join('b1', 'c1/q1.0');
  broker.write(offer('c1/q1.0', 't1'));
  broker.write(offer('c1/q1.9', 't2'));
  await settle();
  t.deepEqual(bench.untaken, ['t2']);
  agent.close();
  await settle();
  t.deepEqual(bench.untaken, ['t2', 't1']);
});

test('while a broker is behind its agents are not read', async (t) => {
  const bench = new Bench();
  const [near, far] = streamPair<Buffer, Buffer>();
  bench.relay.connectBroker(far, { userId: 'ana' });
  near.write(
    fromBroker({
      $case: 'hello',
      value: { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: 'b1' },
    }),
  );
  const agent = bench.agent('c1/q1.0');
  await settle();
  bench.join('b1', 'c1/q1.0');
  far.isBehind = true;
  agent.write(aReport(1));
  await settle();
  const before = far.sent.length;
  agent.write(aReport(2));
  await settle();
  t.is(far.sent.length, before);
  far.drain();
  await settle();
  t.is(far.sent.length, before + 1);
});

test('an agent that is asked to attach again, or sent away, receives the code', async (t) => {
  const bench = new Bench();
  const [one, other] = [bench.agent('c1/q1.0'), bench.agent('c1/q1.1')];
  const codes: (string | undefined)[] = [];
  for (const agent of [one, other])
    agent.listen({
      onMessage: () => undefined,
      onClosed: (error) => {
        codes.push(error?.code);
      },
    });
  await settle();
  bench.relay.perform({ kind: 'ReattachAgent', machineId: 'c1/q1.0', attachmentId: 1 });
  bench.relay.perform({
    kind: 'RefuseAgent',
    attachmentId: 2,
    code: 'MUT_ALLOCATION_ENDED',
    requestId: 'q1',
  });
  await settle();
  t.deepEqual(codes, ['MUT_REATTACH', 'MUT_ALLOCATION_ENDED']);
  t.deepEqual(
    bench.inputs.slice(2).map((input) => input.kind),
    ['AgentDetached', 'AgentDetached'],
  );
});

test("a broker does not take the place of another user's broker by calling itself so", async (t) => {
  const bench = new Bench();
  const mine = bench.broker('b1');
  await settle();
  const other = bench.broker('b1', 1, 'maria');
  await settle();
  t.false(mine.isClosed);
  t.false(other.isClosed);
  t.deepEqual(
    bench.inputs.map((input) => (input.kind === 'BrokerConnected' ? input.brokerId : '')),
    ['b1', 'maria/b1'],
  );
});

test('an agent that is cleared has its reports taken, and attaches again once all has ended', async (t) => {
  const bench = new Bench();
  const agent = bench.agent('lab1', 'machine:lab1', [4, 5]);
  const messages = received(agent);
  await settle();
  bench.relay.perform({ kind: 'ClearAgent', machineId: 'c1/lab1', attachmentId: 1, heldReplicaIds: [4, 5] });
  await settle();
  t.deepEqual(sentToAgent(agent), ['hello', 'cancel']);
  agent.write(aReport(7, [4]));
  await settle();
  t.deepEqual(AttachResponse.decode(messages.at(-1) ?? Buffer.alloc(0)).message, {
    $case: 'acknowledged',
    value: { sequence: 7 },
  });
  t.false(agent.isClosed);
  agent.write(aReport(8, [5]));
  await settle();
  t.true(agent.isClosed);
});

test('a broker says for which journal it speaks, in letters that names may have', async (t) => {
  const bench = new Bench();
  for (const instance of [undefined, 'one', 'not one']) {
    const hello = { protocolVersion: 1, programVersion: '1', capabilities: [], speakerId: 'b', instance };
    const [near, far] = streamPair<Buffer, Buffer>();
    bench.relay.connectBroker(far, { userId: 'ana' });
    received(near);
    near.write(fromBroker({ $case: 'hello', value: hello }));
    await settle();
    t.is(near.isClosed, instance === 'not one');
  }
  const connected = bench.inputs.filter((input) => input.kind === 'BrokerConnected');
  t.deepEqual(
    connected.map((input) => input.instance),
    [undefined, 'one'],
  );
});

test('a broker is notified that the provider is draining, and that it takes work again', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  const messages = received(broker);
  await settle();
  bench.relay.perform({
    kind: 'ReportDraining',
    brokerId: 'b1',
    draining: { since: 5, reason: 'moving house', isAtOnce: true },
  });
  bench.relay.perform({ kind: 'ReportDraining', brokerId: 'b1', draining: undefined });
  await settle();
  const reported = messages
    .map((bytes) => ConnectResponse.decode(bytes).message)
    .filter((message) => message?.$case === 'draining');
  t.deepEqual(
    reported.map((message) => message?.value),
    [
      { sinceUnixMs: 5, reason: 'moving house', atOnce: true },
      { sinceUnixMs: undefined, reason: '', atOnce: false },
    ],
  );
});

test('a broker or agent that attaches again takes the place of its former stream', async (t) => {
  const bench = new Bench();
  const [firstBroker, firstAgent] = [bench.broker('b1'), bench.agent('c1/q1.0')];
  for (const stream of [firstBroker, firstAgent]) received(stream);
  await settle();
  bench.broker('b1');
  bench.agent('c1/q1.0');
  await settle();
  t.true(firstBroker.isClosed && firstAgent.isClosed);
  t.deepEqual(
    bench.inputs.map((input) => input.kind),
    ['BrokerConnected', 'AgentAttached', 'BrokerDisconnected', 'BrokerConnected', 'AgentDetached', 'AgentAttached'],
  );
});

test('a peer that speaks nonsense loses its stream and nothing else', async (t) => {
  const bench = new Bench();
  const good = bench.broker('b1');
  const wrongVersion = bench.broker('b2', 2);
  const noise = bench.broker('b3');
  await settle();
  noise.write(Buffer.from([0xff, 0xff, 0xff]));
  const agent = bench.agent('c1/q1.0');
  await settle();
  for (const stream of [good, wrongVersion, noise, agent]) received(stream);
  bench.join('b1', 'c1/q1.0');
  agent.write(Buffer.from([0x12, 0x7f, 0x01]));
  await settle();
  t.deepEqual(
    [good, wrongVersion, noise, agent].map((stream) => stream.isClosed),
    [false, true, true, true],
  );
});

test('demand reaches the machine as the broker states it', async (t) => {
  const bench = new Bench();
  const broker = bench.broker('b1');
  broker.write(
    fromBroker({
      $case: 'demand',
      value: {
        pendingTasks: 9,
        processors: 2,
        taskTimeMsMax: 5,
        taskTimeMsMean: undefined,
        deadlineUnixMs: undefined,
        userId: 'ana',
        reserved: [],
      },
    }),
  );
  await settle();
  t.deepEqual(bench.inputs[1], {
    kind: 'DemandChanged',
    brokerId: 'b1',
    demand: {
      pendingTasks: 9,
      processors: 2,
      taskTimeMax: 5,
      taskTimeMean: undefined,
      deadline: undefined,
      userId: 'ana',
    },
  });
});

test('a broker of a copied home folder does not take the place of the original while that is connected', async (t) => {
  const bench = new Bench();
  const dial = (instance: string): StreamEnd<Buffer, Buffer> => {
    const [near, far] = streamPair<Buffer, Buffer>();
    bench.relay.connectBroker(far, { userId: 'ana' });
    received(near);
    near.write(
      fromBroker({
        $case: 'hello',
        value: { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: 'b', instance },
      }),
    );
    return near;
  };
  const original = dial('one');
  const copy = dial('two');
  await settle();
  t.deepEqual([original.isClosed, copy.isClosed], [false, true]);
  const again = dial('one');
  await settle();
  t.deepEqual([original.isClosed, again.isClosed], [true, false], 'the original itself may connect again');
  again.end();
  await settle();
  t.false(dial('two').isClosed, 'a home folder that was put back from a back-up goes on where the former one is gone');
});
