import test from 'ava';
import { InvariantError } from '@mutirao/core/shared';
import { HeuristicPromises } from '../../../src/world/heuristic-promises.ts';
import type { WorldTurn } from '../../../src/world/machine-process.ts';

const turn = (...changes: readonly { readonly kind: string }[]): WorldTurn => ({
  at: 1,
  process: 'provider c',
  inputs: [],
  changes,
  commands: [],
});
const switched = (heuristic: string): { kind: string } =>
  ({ kind: 'HeuristicSwitched', to: { heuristic, defaultTime: 1 } }) as { kind: string };
const drafted = (heuristic: string): { kind: string } =>
  ({ kind: 'RequestDrafted', requestId: 'q1', heuristic }) as { kind: string };

test('until the user is notified, a fall may take a switch back; from then on it may not', (t) => {
  const promises = new HeuristicPromises();
  promises.begin('provider c', 'static');
  t.notThrows(() => {
    promises.receive(turn(switched('mixed'), drafted('mixed')));
  });
  t.notThrows(() => {
    promises.receive(turn(drafted('static')));
  });
  promises.report('provider c', 'mixed');
  t.throws(
    () => {
      promises.receive(turn(drafted('static')));
    },
    { instanceOf: InvariantError, message: /drafts q1 by static/ },
  );
  t.throws(
    () => {
      promises.report('provider c', 'static');
    },
    { instanceOf: InvariantError },
  );
});

test('what decides without a switch is found, and other processes are none of its business', (t) => {
  const promises = new HeuristicPromises();
  promises.begin('provider c', 'static');
  t.throws(
    () => {
      promises.receive(turn(drafted('adaptive')));
    },
    { instanceOf: InvariantError },
  );
  t.notThrows(() => {
    promises.receive({ ...turn(drafted('adaptive')), process: 'provider lab0' });
  });
});
