import test from 'ava';
import { isTimeToAsk, Leads, WaitHistory, type AskingView } from '@mutirao/core/reservations';

const minute = 60_000;
const hour = 60 * minute;
const view: AskingView = {
  now: 0,
  startsAt: 10 * hour,
  endsAt: 12 * hour,
  width: 8,
  waits: new WaitHistory(),
  forecast: () => 0,
};

function listWaits(...each: readonly (readonly [count: number, width: number, wait: number])[]): WaitHistory {
  const waits = new WaitHistory();
  for (const [count, width, wait] of each) for (let index = 0; index < count; index += 1) waits.add({ width, wait });
  return waits;
}

test('a fixed lead is kept to the instant', (t) => {
  const rule = { kind: 'fixed', lead: hour } as const;
  t.false(isTimeToAsk(rule, { ...view, now: 9 * hour - 1 }));
  t.true(isTimeToAsk(rule, { ...view, now: 9 * hour }));
});

test('a learned lead is that share of the waits of requests as wide, of wider ones too where those are few, and of all where even these are', (t) => {
  const many = listWaits([19, 8, hour], [1, 8, 3 * hour], [50, 64, 9 * hour], [50, 1, minute]);
  t.is(many.leadFor(8, 0.9), hour);
  t.is(many.leadFor(8, 0.95), 3 * hour);
  t.is(many.leadFor(5, 0.5), hour, 'widths from 5 to 8 are of one class');
  const few = listWaits([5, 8, hour], [50, 64, 9 * hour], [50, 1, minute]);
  t.is(few.leadFor(8, 0.05), hour);
  t.is(few.leadFor(8, 0.5), 9 * hour);
  t.is(listWaits([19, 64, 9 * hour], [50, 1, 30 * minute]).leadFor(64, 0.5), 30 * minute);
  t.true(isTimeToAsk({ kind: 'learned', share: 0.95 }, { ...view, now: 7 * hour, waits: many }));
  t.false(isTimeToAsk({ kind: 'learned', share: 0.95 }, { ...view, now: 7 * hour - 1, waits: many }));
});

test('a lead is never below ten minutes, is an hour before anything is known, and old waits are forgotten', (t) => {
  t.is(listWaits([30, 8, 0]).leadFor(8, 0.99), 10 * minute);
  t.is(new WaitHistory().leadFor(8, 0.5), hour);
  t.is(listWaits([30, 8, 9 * hour], [200, 8, hour]).leadFor(8, 0.99), hour);
});

test('leads by one rule and history are those of each width, and a fixed one is that of all', (t) => {
  const waits = [
    ...Array.from({ length: 25 }, () => ({ width: 8, wait: hour })),
    ...Array.from({ length: 25 }, () => ({ width: 64, wait: 9 * hour })),
  ];
  const learned = new Leads({ kind: 'learned', share: 0.5 }, waits);
  t.deepEqual(
    [8, 64, 8].map((width) => learned.of(width)),
    [hour, 9 * hour, hour],
  );
  t.is(new Leads({ kind: 'fixed', lead: 3 * hour }, waits).of(64), 3 * hour);
});

test('a forecast has us ask for all that is left until the end, as soon as the queue promises no earlier start than the margin allows', (t) => {
  const asked: number[] = [];
  const promising = (start: number): AskingView => ({
    ...view,
    now: 2 * hour,
    forecast: (width, walltime) => {
      asked.push(width, walltime);
      return start;
    },
  });
  const rule = { kind: 'forecast', margin: hour } as const;
  t.true(isTimeToAsk(rule, promising(9 * hour)));
  t.false(isTimeToAsk(rule, promising(9 * hour - 1)));
  t.deepEqual(asked, [8, 10 * hour, 8, 10 * hour]);
  t.true(isTimeToAsk(rule, { ...view, now: 10 * hour, forecast: () => 0 }), 'at the start it is asked for in any case');
});
