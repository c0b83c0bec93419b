// What the page makes of the messages of its stream.
import test from 'ava';
import type { GridEvent } from '@mutirao/web/schema';
import {
  emptyLiveState,
  eventsKept,
  findTrouble,
  isSampled,
  reduceLive,
  sayNotice,
  type LiveState,
} from '../../../client/src/model/live-state.ts';

const event = (sequence: number): GridEvent => ({
  sequence,
  at_unix_ms: sequence,
  type: 'tasks.finished',
  job_id: 1,
  task_indexes: [sequence],
  task_count: 1,
  machine_id: '',
  provider_id: '',
  request_id: '',
  reason: '',
  why: '',
});
const receive = (state: LiveState, sequences: readonly number[], sampled = false): LiveState =>
  reduceLive(state, {
    kind: 'MessageArrived',
    topic: 'events',
    value: { events: sequences.map(event), is_sampled: sampled },
  });

test('a level replaces the one before it and leaves the others', (t) => {
  const first = reduceLive(emptyLiveState, {
    kind: 'MessageArrived',
    topic: 'jobs',
    value: { jobs: [], next_before_job_id: null },
  });
  const second = reduceLive(first, { kind: 'MessageArrived', topic: 'ledger', value: { rows: [] } });
  t.is(second.jobs, first.jobs);
  t.deepEqual(second.ledger as unknown, { rows: [] });
});

test('events that are repeated after a restart of the gateway are not shown twice', (t) => {
  const received = receive(receive(emptyLiveState, [1, 2, 3]), [2, 3, 4]);
  t.deepEqual(
    received.events.map(({ sequence }) => sequence),
    [1, 2, 3, 4],
  );
  t.is(receive(received, [3, 4]), received);
});

test('only the newest events are kept, and that some were left out is remembered', (t) => {
  const many = receive(
    emptyLiveState,
    Array.from({ length: eventsKept + 50 }, (_, index) => index + 1),
    true,
  );
  t.is(many.events.length, eventsKept);
  t.is(many.events.at(-1)?.sequence, eventsKept + 50);
  const more = receive(many, [1000]);
  t.true(isSampled(more));
  t.false(
    isSampled(
      receive(
        more,
        Array.from({ length: eventsKept }, (_, index) => 1001 + index),
      ),
    ),
    'those have gone by',
  );
});

test('the events of a journal that counts again replace those of the one before it', (t) => {
  const old = receive(emptyLiveState, [4990, 5000], true);
  const again = receive(old, [1, 2, 2]);
  t.deepEqual(
    again.events.map(({ sequence }) => sequence),
    [1, 2, 2],
  );
  t.false(isSampled(again));
  const mixed = receive(again, [4990, 5000, 1, 2, 2, 3]);
  t.deepEqual(
    mixed.events.map(({ sequence }) => sequence),
    [1, 2, 2, 3],
    'a gateway that received both sends both',
  );
});

test('a broken stream is reported before a broker that is away, and a full disk last', (t) => {
  t.is(findTrouble(emptyLiveState), undefined);
  const away = reduceLive(emptyLiveState, {
    kind: 'MessageArrived',
    topic: 'link',
    value: { connected: false, since_unix_ms: 0, code: 'MUT_UNREACHABLE', message: 'Nothing listens.' },
  });
  t.regex(findTrouble(away)?.text ?? '', /broker has not answered since .*Nothing listens\. The page/);
  const broken = reduceLive(away, { kind: 'StreamBroken', reason: 'it does not answer.' });
  t.regex(findTrouble(broken)?.text ?? '', /lost the connection to its server: it does not answer/);
  const back = reduceLive(reduceLive(broken, { kind: 'StreamOpened' }), {
    kind: 'MessageArrived',
    topic: 'link',
    value: { connected: true, since_unix_ms: 0, code: '', message: '' },
  });
  t.is(findTrouble(back), undefined);
  const full = reduceLive(back, { kind: 'MessageArrived', topic: 'summary', value: { trouble: 'the disk is full' } });
  t.deepEqual(findTrouble(full), { text: 'The broker accepts no new work: the disk is full', isLost: false });
});

test('a provider that is not connected is said, and not while the page itself sees nothing', (t) => {
  const summary = (away: readonly string[], connected = 1) =>
    ({ providers_away: away, provider_count: 4, providers_connected: connected }) as unknown as LiveState['summary'];
  const notice = (away: readonly string[], connected?: number): string =>
    sayNotice({ ...emptyLiveState, stream: 'open', summary: summary(away, connected)! });
  t.regex(notice(['alpha'], 3), /^Provider alpha is not connected\./);
  t.regex(notice(['alpha', 'beta'], 1), /^Providers alpha, beta and 1 more are not connected\./);
  t.is(notice([]), '');
  t.is(sayNotice({ ...emptyLiveState, stream: 'broken', summary: summary(['alpha'])! }), '');
  t.is(sayNotice(emptyLiveState), '');
});
