import { sayReason } from '@mutirao/api/reasons';
import test from 'ava';
import {
  createProviderState,
  takeSnapshot,
  heuristicInForce,
  isWatching,
  providerDefaults,
  providerMachine,
  restoreSnapshot,
  type ProviderInput,
  type ProviderSnapshot,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import type { Reply } from '@mutirao/core/shared';

const config = { ...providerDefaults, providerId: 'p' };
const usual = { heuristic: 'finish', defaultTime: config.heuristicOptions.defaultTime };

function ask(state: ProviderState, heuristic: string, defaultTime?: number): Reply | undefined {
  const { commands } = providerMachine.step(
    state,
    [{ kind: 'HeuristicAsked', replyTo: 3, heuristic, defaultTime }],
    10,
  );
  return commands.find((command) => command.kind === 'Reply')?.reply;
}

test('a provider without a heuristic in its options uses finish, as the usual settings do', (t) => {
  t.deepEqual(heuristicInForce(createProviderState(config)), usual);
  t.true(isWatching(createProviderState(config)));
});

test('a switch is a change, its answer says what decides then, and what is so already changes nothing', (t) => {
  const state = createProviderState(config);
  const switchTo = (heuristic: string): ProviderInput => ({
    kind: 'HeuristicAsked',
    replyTo: 3,
    heuristic,
    defaultTime: 7,
  });
  const { changes, commands } = providerMachine.step(state, [switchTo('mixed')], 10);
  const to = { heuristic: 'mixed', defaultTime: 7 };
  t.deepEqual(changes, [{ kind: 'HeuristicSwitched', to, over: usual, at: 10 }]);
  t.deepEqual(commands, [{ kind: 'Reply', replyTo: 3, reply: { ok: true, value: to } }]);
  t.deepEqual(providerMachine.step(state, [switchTo('mixed'), switchTo('')], 11).changes, []);
});

test('a heuristic that there is not is refused with the nearest word, a time below 1 ms and a provider of machines are refused too', (t) => {
  const state = createProviderState(config);
  const refusals = [
    ask(state, 'Adaptve'),
    ask(state, 'xyzzy'),
    ask(state, '', 0),
    ask(state, '', Number.NaN),
    ask(createProviderState({ ...config, resourceKind: 'machines' }), 'mixed'),
  ];
  t.deepEqual(
    refusals.map((reply) => (reply?.ok === false ? `${reply.code}: ${sayReason(reply.fault)}` : 'ok')),
    [
      'MUT_BAD_REQUEST: heuristic is "Adaptve"; expected one of static, initial, adaptive, mixed, finish, auto; did ' +
        'you mean "adaptive"?',
      'MUT_BAD_REQUEST: heuristic is "xyzzy"; expected one of static, initial, adaptive, mixed, finish, auto',
      'MUT_BAD_REQUEST: the default task time is 0 ms; expected 1 ms or more',
      'MUT_BAD_REQUEST: the default task time is NaN ms; expected 1 ms or more',
      'MUT_BAD_REQUEST: p makes no requests: machines attach by themselves',
    ],
  );
  t.deepEqual(heuristicInForce(state), usual);
});

test('a snapshot keeps the switch, and one of before there were switches opens without', (t) => {
  const state = createProviderState(config);
  const before = JSON.parse(JSON.stringify(takeSnapshot(state))) as ProviderSnapshot;
  t.deepEqual(heuristicInForce(restoreSnapshot(config, before)), usual);
  ask(state, 'initial', 99);
  const after = JSON.parse(JSON.stringify(takeSnapshot(state))) as ProviderSnapshot;
  t.deepEqual(heuristicInForce(restoreSnapshot(config, after)), { heuristic: 'initial', defaultTime: 99 });
});

test('a switch to what this release does not have is forgotten at the start', (t) => {
  const state = createProviderState(config);
  providerMachine.apply(state, {
    kind: 'HeuristicSwitched',
    to: { heuristic: 'oracle', defaultTime: 5 },
    over: usual,
    at: 1,
  });
  const { changes } = providerMachine.step(state, [{ kind: 'ProviderStarted', instance: 'i' }], 2);
  t.true(changes.some(({ kind }) => kind === 'HeuristicSwitchForgotten'));
  t.deepEqual(heuristicInForce(state), usual);
});
