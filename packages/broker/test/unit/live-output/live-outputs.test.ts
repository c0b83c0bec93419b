import test from 'ava';
import type { LiveOutputPart, LiveOutputRequest } from '@mutirao/api/codecs';
import { LiveOutputs } from '../../../src/live-output/live-outputs.ts';

const place = {
  providerId: 'lab',
  machineId: 'lab/a',
  replicaId: 7,
  standardOutputOffset: 3,
  standardErrorOffset: 0,
};

function prepare() {
  const sent: LiveOutputRequest[] = [];
  const alarms: (() => void)[] = [];
  const outputs = new LiveOutputs({
    timers: { start: (_delay, run) => alarms.push(run), cancel: () => undefined },
    send: (_providerId, _machineId, request) => sent.push(request),
  });
  return { outputs, sent, alarms };
}

function answerTo(requestId: number, changes: Partial<LiveOutputPart> = {}): LiveOutputPart {
  const nothing = { offset: 0, bytes: Buffer.alloc(0) };
  return { requestId, replicaId: 7, state: 'running', standardOutput: nothing, standardError: nothing, ...changes };
}

test('an answer goes to who asked', async (t) => {
  const { outputs, sent } = prepare();
  const { answer } = outputs.ask(place);
  t.like(sent[0], { replicaId: 7, standardOutputOffset: 3 });
  outputs.take('lab/a', answerTo(1));
  t.is((await answer)?.requestId, 1);
  t.is(outputs.openCount, 0);
});

test('another machine cannot answer, nor for another replica, and nothing is answered twice', async (t) => {
  const { outputs } = prepare();
  const { answer, drop } = outputs.ask(place);
  outputs.take('lab/b', answerTo(1));
  outputs.take('lab/a', answerTo(1, { replicaId: 8 }));
  t.is(outputs.openCount, 1);
  drop();
  outputs.take('lab/a', answerTo(1));
  t.is(await answer, undefined);
});

test('a machine that does not answer in time is waited for no longer', async (t) => {
  const { outputs, alarms } = prepare();
  const { answer } = outputs.ask(place);
  alarms[0]?.();
  t.is(await answer, undefined);
  t.is(outputs.openCount, 0);
});
