import test from 'ava';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { MachineFacts, MachineReport, ReplicaEnd } from '@mutirao/core/messages';
import type { FromAgent, FromBroker, ToAgent, ToBroker } from '../../../src/world/messages.ts';
import type { StreamEnd } from '../../../src/world/network.ts';
import { SimulatedSpool } from '../../../src/world/spool.ts';
import { SimulatedRelay } from '../../../src/world/relay.ts';

/** The other side of a stream that a relay serves. */
class Peer<Out, In extends { readonly kind: string }> implements StreamEnd<In, Out> {
  onMessage: (message: Out) => void = () => undefined;
  onClosed: (code: string) => void = () => undefined;
  isOpen = true;
  readonly received: In[] = [];
  closedWith: string | undefined;

  get kinds(): string[] {
    return this.received.map(({ kind }) => kind);
  }

  write(message: In): void {
    this.received.push(message);
  }

  close(code: string): void {
    this.closedWith = code;
  }
}

const end = (replicaId: number): ReplicaEnd => ({
  replicaId,
  outcome: 'cancelled',
  exitStatus: 0,
  startedAt: 0,
  endedAt: 0,
  reason: '',
  detail: '',
  standardOutput: new Uint8Array(0),
  standardError: new Uint8Array(0),
  outputTruncated: false,
  outputs: [],
});
const reportOf = (sequence: number, ...ended: readonly number[]): MachineReport => ({
  sequence,
  started: [],
  ended: ended.map(end),
});
const saying = (report: MachineReport): FromAgent => ({ kind: 'report', report });
const listFacts = (machineId: string, incarnation = 'a1'): MachineFacts => ({
  machineId,
  incarnation,
  processors: 1,
  attributes: {},
  until: 5000,
  requestId: 'q1',
});

function setUp() {
  const inputs: ProviderInput[] = [];
  const measured: string[] = [];
  const relay = new SimulatedRelay({
    now: () => 4711,
    resourceId: undefined,
    deliver: (input) => {
      inputs.push(input);
    },
    nameMachine: (machineId, requestId) => `p/${requestId}.${machineId}`,
    onReport: ({ requestId }, { sequence }) => {
      measured.push(`${requestId} ${sequence}`);
    },
    onAway: () => undefined,
    spool: new SimulatedSpool(),
    onLease: () => undefined,
  });
  const attach = (
    machineId: string,
    { incarnation = 'a1', held = [] as number[], credential = 'q1' } = {},
  ): Peer<FromAgent, ToAgent> => {
    const agent = new Peer<FromAgent, ToAgent>();
    relay.acceptAgent(agent);
    agent.onMessage({ kind: 'hello', facts: listFacts(machineId, incarnation), heldReplicaIds: held, credential });
    return agent;
  };
  const connect = (brokerId = 'b'): Peer<FromBroker, ToBroker> => {
    const broker = new Peer<FromBroker, ToBroker>();
    relay.acceptBroker(broker);
    broker.onMessage({ kind: 'hello', brokerId, instance: 'i' });
    return broker;
  };
  const offer = (machineId: string, brokerId = 'b'): void => {
    relay.perform({ kind: 'ReportMachineJoined', brokerId, facts: listFacts(`p/q1.${machineId}`), heldReplicaIds: [] });
  };
  return { relay, inputs, measured, attach, connect, offer };
}

test('brokers and agents are greeted and announced to the state machine, each under a number of its own', (t) => {
  const { inputs, attach, connect } = setUp();
  const agent = attach('0', { held: [3] });
  const broker = connect();
  t.deepEqual(agent.received, [{ kind: 'hello' }]);
  t.deepEqual(broker.received, [{ kind: 'hello', clock: 4711, resourceId: undefined }]);
  t.like(inputs[0], {
    kind: 'AgentAttached',
    attachmentId: 1,
    heldReplicaIds: [3],
    facts: { machineId: 'p/q1.0', until: undefined, requestId: 'q1' },
  });
  t.deepEqual(inputs[1], {
    kind: 'BrokerConnected',
    brokerId: 'b',
    connectionId: 1,
    instance: 'i',
    takesResource: false,
  });
});

test("messages of a broker's machine go to that broker, and those of the broker to the machine", (t) => {
  const { measured, attach, connect, offer } = setUp();
  const [agent, other] = [attach('0'), attach('1')];
  const broker = connect();
  offer('0');
  agent.onMessage(saying(reportOf(1, 7)));
  broker.onMessage({ kind: 'toMachine', machineId: 'p/q1.0', message: { kind: 'acknowledged', sequence: 1 } });
  t.deepEqual(broker.kinds, ['hello', 'joined', 'fromMachine']);
  t.deepEqual(agent.kinds, ['hello', 'acknowledged']);
  t.deepEqual(measured, ['q1 1']);
  broker.onMessage({ kind: 'toMachine', machineId: 'p/q1.1', message: { kind: 'drain' } });
  t.deepEqual(other.kinds, ['hello'], 'a machine of another broker does not receive it');
});

test('what a machine says before it belongs to a broker is kept, in its order', (t) => {
  const { measured, attach, connect, offer } = setUp();
  const agent = attach('0');
  for (const sequence of [1, 2, 3]) agent.onMessage(saying(reportOf(sequence)));
  const broker = connect();
  t.deepEqual([broker.kinds, measured], [['hello'], []]);
  offer('0');
  t.deepEqual(
    broker.received
      .slice(2)
      .map((message) => (message as { message: { report: MachineReport } }).message.report.sequence),
    [1, 2, 3],
  );
  t.deepEqual(measured, ['q1 1', 'q1 2', 'q1 3']);
});

test('a machine that is reported lost, and one whose broker is gone, are no longer relayed', (t) => {
  const { relay, inputs, attach, connect, offer } = setUp();
  const [lost, left] = [attach('0'), attach('1')];
  const broker = connect();
  for (const name of ['0', '1']) offer(name);
  relay.perform({ kind: 'ReportMachineLost', brokerId: 'b', machineId: 'p/q1.0', reason: 'MUT_MACHINE_LOST' });
  lost.onMessage(saying(reportOf(1)));
  broker.onMessage({ kind: 'toMachine', machineId: 'p/q1.0', message: { kind: 'drain' } });
  t.deepEqual([broker.kinds, lost.kinds], [['hello', 'joined', 'joined', 'lost'], ['hello']]);
  broker.onClosed('MUT_UNREACHABLE');
  left.onMessage(saying(reportOf(1)));
  t.is(broker.received.length, 4);
  t.deepEqual(inputs.at(-1), { kind: 'BrokerDisconnected', brokerId: 'b', connectionId: 1 });
});

test('a broker that connects again takes the place of its former stream', (t) => {
  const { inputs, connect, relay } = setUp();
  const [former, latter] = [connect(), connect()];
  t.is(former.closedWith, 'MUT_CANCELLED');
  t.deepEqual(
    inputs.map(({ kind }) => kind),
    ['BrokerConnected', 'BrokerDisconnected', 'BrokerConnected'],
  );
  relay.perform({ kind: 'ReportSynced', brokerId: 'b' });
  former.onClosed('MUT_UNREACHABLE');
  relay.perform({ kind: 'ReportSynced', brokerId: 'b' });
  t.deepEqual(
    [former.kinds, latter.kinds],
    [['hello'], ['hello', 'settled', 'settled']],
    'the end of the former does not touch the latter',
  );
});

test('an agent that attaches again replaces its former stream; another one under its name replaces it for good', (t) => {
  for (const [incarnation, code] of [
    ['a1', 'MUT_REATTACH'],
    ['a2', 'MUT_MACHINE_NAME_TAKEN_OVER'],
  ] as const) {
    const { inputs, attach, connect, offer } = setUp();
    const former = attach('0');
    const latter = attach('0', { incarnation });
    t.is(former.closedWith, code);
    t.deepEqual(
      inputs.map((input) => ('attachmentId' in input ? `${input.kind} ${input.attachmentId}` : '')),
      ['AgentAttached 1', 'AgentDetached 1', 'AgentAttached 2'],
    );
    former.onClosed('');
    t.is(inputs.length, 3, 'the end of the former connection is not reported twice');
    const broker = connect();
    offer('0');
    broker.onMessage({ kind: 'toMachine', machineId: 'p/q1.0', message: { kind: 'drain' } });
    t.deepEqual([former.kinds, latter.kinds], [['hello'], ['hello', 'drain']]);
  }
});

test('an agent that says good-bye has left; one whose stream breaks has not', (t) => {
  const { inputs, attach } = setUp();
  attach('0').onClosed('');
  attach('1').onClosed('MUT_UNREACHABLE');
  t.deepEqual(
    inputs.filter(({ kind }) => kind === 'AgentDetached').map((input) => (input as { hasLeft: boolean }).hasLeft),
    [true, false],
  );
});

test('an agent is cleared of a broker that is gone: cancelled, acknowledged, and asked to come again when all has ended', (t) => {
  const { relay, measured, inputs, attach } = setUp();
  const agent = attach('0', { held: [1, 2, 3] });
  agent.onMessage(saying(reportOf(1, 2)));
  relay.perform({ kind: 'ClearAgent', machineId: 'p/q1.0', attachmentId: 1, heldReplicaIds: [1, 2, 3] });
  t.deepEqual(agent.received.slice(1), [
    { kind: 'cancel', replicaIds: [1, 2, 3], onlyWaiting: false },
    { kind: 'acknowledged', sequence: 1 },
  ]);
  agent.onMessage(saying(reportOf(2, 1)));
  t.is(agent.closedWith, undefined);
  agent.onMessage(saying(reportOf(3, 3)));
  t.is(agent.closedWith, 'MUT_REATTACH');
  t.deepEqual(agent.received.at(-1), { kind: 'acknowledged', sequence: 3 });
  t.like(inputs.at(-1), { kind: 'AgentDetached', attachmentId: 1, hasLeft: false });
  t.deepEqual(measured, [], "times of a broker that is gone are nobody's");
});

test('an agent that is refused or asked to attach again is closed with the code, and only under that attachment', (t) => {
  const { relay, attach } = setUp();
  const [one, two] = [attach('0'), attach('1')];
  relay.perform({ kind: 'RefuseAgent', attachmentId: 1, code: 'MUT_ALLOCATION_ENDED', requestId: 'q1' });
  relay.perform({ kind: 'ReattachAgent', machineId: 'p/q1.0', attachmentId: 1 });
  relay.perform({ kind: 'ReattachAgent', machineId: 'p/q1.1', attachmentId: 2 });
  t.deepEqual([one.closedWith, two.closedWith], ['MUT_ALLOCATION_ENDED', 'MUT_REATTACH']);
});
