import test from 'ava';
import { type BrokerInput, brokerMachine, createBrokerState, restore, snapshot } from '@mutirao/core/machines/broker';
import type { AllocationRequest, RequestStatus } from '@mutirao/core/messages';
import { aJob } from '@mutirao/testkit';

/** A broker with providers p and r connected and a job of ten tasks; the demands that a step sets, by provider. */
function aBroker() {
  let state = createBrokerState({ demandInterval: 0 });
  const step = (now: number, ...inputs: BrokerInput[]): Record<string, number> => {
    const { commands } = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return Object.fromEntries(commands.flatMap((command) => (command.kind === 'SetDemand' ? [[command.providerId, command.demand.pendingTasks]] : [])));
  };
  for (const providerId of ['p', 'r']) step(0, { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' }, { kind: 'ProviderConnected', providerId });
  step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(10) });
  return { step, restart: () => { state = restore(snapshot(state), { demandInterval: 0 }); } };
}

function told(providerId: string, requestId: string, status: RequestStatus, submittedAt: number): BrokerInput & { kind: 'RequestsChanged' } {
  const request: AllocationRequest = {
    providerId, requestId, managerRequestId: '', width: 10, walltime: 1000, status, seenAt: 0, submittedAt, startedAt: 0, endedAt: 0, reasons: [], heuristic: 'static',
  };
  return { kind: 'RequestsChanged', providerId, requests: [request] };
}

test('a request that waits covers tasks for the providers whose own was heard of later', (t) => {
  const { step } = aBroker();
  t.deepEqual(step(2, told('p', 'q1', 'queued', 2)), { p: 10, r: 0 });
  t.deepEqual(step(3, told('r', 'q1', 'queued', 3)), {}, 'p keeps its place, and r is to give its up');
  t.deepEqual(step(4, told('p', 'q1', 'ended', 2)), { r: 10, p: 0 }, 'the place of p is gone, and that of r counts');
});

test('a new request is behind those that wait, whatever instant it states', (t) => {
  const { step } = aBroker();
  step(2, told('r', 'q1', 'queued', 900_000));
  // By a clock that was set, the new one was submitted long before the other.
  t.deepEqual(step(3, told('p', 'q1', 'submitting', 0)), {});
  t.deepEqual(step(4, told('p', 'q1', 'queued', 4)), {}, 'p was told that it is to have nothing, and stays so');
});

test('a request that is about to wait has its place already', (t) => {
  const { step } = aBroker();
  t.deepEqual(step(2, told('p', 'q1', 'submitting', 0)), { p: 10, r: 0 });
  t.deepEqual(step(3, told('r', 'q1', 'queued', 1)), {}, 'what r has does not count for p, which was first');
  t.deepEqual(step(4, told('p', 'q1', 'queued', 2)), {});
});

test('what nothing covers is dealt out, the odd task to who was added first, and each is told of what the other left lying', (t) => {
  const state = createBrokerState({ demandInterval: 0, shareWait: 2000 });
  const demands = (now: number, ...inputs: BrokerInput[]): Record<string, number> => {
    const { commands } = brokerMachine.step(state, inputs, now);
    return Object.fromEntries(commands.flatMap((command) => (command.kind === 'SetDemand' ? [[command.providerId, command.demand.pendingTasks]] : [])));
  };
  for (const providerId of ['p', 'q', 'r']) demands(0, { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' }, { kind: 'ProviderConnected', providerId });
  t.deepEqual(demands(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(11) }), { p: 4, q: 4, r: 3 });
  t.is(state.wakeAt, 2001);
  // q is a cluster of three processors; of the eight tasks that are left three are p's to ask for, three its own and two r's.
  const asked = told('q', 'q1', 'queued', 2);
  const narrow = { ...asked, requests: asked.requests.map((request) => ({ ...request, width: 3 })) };
  t.deepEqual(demands(2, narrow), { p: 3, q: 6, r: 2 });
  t.deepEqual(demands(2001, { kind: 'TimerFired' }), { p: 8, q: 11, r: 8 });
});

test('places in line outlast a restart', (t) => {
  const { step, restart } = aBroker();
  step(2, told('r', 'q1', 'queued', 900_000), told('p', 'q1', 'queued', 2));
  restart();
  t.deepEqual(step(3, { kind: 'ProviderConnected', providerId: 'p' }, { kind: 'ProviderConnected', providerId: 'r' }), { p: 0, r: 10 });
});
