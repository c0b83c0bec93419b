import type { ClockStepped, Decision, DriverCommand, Instant, Machine } from '@mutirao/core/shared';
import { FollowedClock, MachineDriver, type Clock, type Timers } from '@mutirao/runtime/driver';
import test from 'ava';

const hour = 3_600_000;

/** The clocks of a host that does what the test says. */
class HostTimes {
  at = 1_000_000_000_000;
  awake = 5000;
  up = 90_000;
  wall = (): number => this.at;
  monotonic = (): number => this.awake;
  sinceBoot = (): number => this.up;

  pass(duration: number): void {
    this.at += duration;
    this.awake += duration;
    this.up += duration;
  }

  sleep(duration: number): void {
    this.at += duration;
    this.up += duration;
  }
}

function clocks(): { readonly host: HostTimes; readonly clock: FollowedClock; readonly work: FollowedClock } {
  const host = new HostTimes();
  return {
    host,
    clock: new FollowedClock({ stepsBySleep: false, times: host }),
    work: new FollowedClock({ stepsBySleep: true, times: host }),
  };
}

test("a clock shows what the host's shows, also after somebody has set that, and says by how much", (t) => {
  const { host, clock } = clocks();
  host.pass(2000);
  t.deepEqual([clock.now(), clock.stepped], [host.at, 0]);
  host.at += 8 * hour;
  host.pass(1000);
  t.deepEqual([clock.now(), clock.stepped], [host.at, 8 * hour]);
  host.at -= 9 * hour;
  t.deepEqual([clock.now(), clock.stepped], [host.at, -hour]);
});

test('a clock that is kept right a little at a time makes no step, and goes on instead of back', (t) => {
  const { host, clock } = clocks();
  const before = clock.now();
  for (let count = 0; count < 100; count++) {
    host.at -= 400;
    host.pass(1000);
    clock.now();
  }
  t.deepEqual([clock.now(), clock.stepped], [before + 60_000, 0]);
  host.at -= 200;
  t.is(clock.now(), before + 60_000);
});

test('time that the host slept has passed for what others do, and is a step for work that slept with it', (t) => {
  const { host, clock, work } = clocks();
  host.pass(1000);
  host.sleep(8 * hour);
  t.deepEqual([clock.now(), clock.stepped, work.now(), work.stepped], [host.at, 0, host.at, 8 * hour]);
  host.sleep(hour);
  host.at += 60_000;
  t.deepEqual([clock.now(), clock.stepped, work.stepped], [host.at, 60_000, 9 * hour + 60_000], 'set while it slept');
});

type Input = { readonly kind: 'TimerFired' } | ClockStepped;
interface State {
  wakeAt: Instant | undefined;
}

/** Wants to be woken at one instant, which moves along with the clock. */
const waiter: Machine<State, Input, never, DriverCommand> = {
  step(state, inputs): Decision<never, DriverCommand> {
    const before = state.wakeAt;
    for (const input of inputs)
      if (input.kind === 'ClockStepped' && state.wakeAt !== undefined) state.wakeAt += input.by;
    return {
      changes: [],
      commands: state.wakeAt === undefined || state.wakeAt === before ? [] : [{ kind: 'WakeAt', at: state.wakeAt }],
    };
  },
  apply() {
    /* It promises nothing. */
  },
  checkInvariants() {
    /* Nothing can contradict itself. */
  },
};

test("a machine receives a clock step before anything else, its alarm follows the new clock, and the driver's owner is notified", async (t) => {
  const clock: { now(): Instant; stepped: number; onStep: NonNullable<Clock['onStep']> } = {
    now: () => at,
    stepped: 0,
    onStep: (received) => {
      receive = received;
      return () => {
        receive = undefined;
      };
    },
  };
  let at = 1000;
  let receive: (() => void) | undefined;
  const delays: number[] = [];
  const timers: Timers = { start: (delay) => delays.push(delay), cancel: () => undefined };
  const received: Input[][] = [];
  const reported: number[] = [];
  const driver = new MachineDriver<State, Input, never, DriverCommand>({
    machine: {
      ...waiter,
      step: (state, inputs, now) => {
        received.push([...inputs]);
        return waiter.step(state, inputs, now);
      },
    },
    state: { wakeAt: 6000 },
    journal: undefined,
    clock,
    timers,
    perform: () => undefined,
    onFatal: (error) => {
      t.fail(String(error));
    },
    onClockStepped: (by) => {
      reported.push(by);
    },
  });
  at += 8 * hour + 1000;
  clock.stepped = 8 * hour;
  receive?.();
  driver.settle();
  t.deepEqual(received, [[{ kind: 'ClockStepped', by: 8 * hour }, { kind: 'TimerFired' }]]);
  t.deepEqual([delays, reported], [[4000], [8 * hour]]);
  driver.deliver({ kind: 'TimerFired' });
  driver.settle();
  t.deepEqual(received[1], [{ kind: 'TimerFired' }], 'once');
  await driver.stop();
  t.is(receive, undefined, 'nothing listens to the clock any more');
});

test('an alarm for an instant by the wall clock is set again by the new clock, also where an input comes before the watch sees the step', async (t) => {
  const clock = { now: () => at, stepped: 0 };
  let at = 1000;
  const delays: number[] = [];
  const timers: Timers = { start: (delay) => delays.push(delay), cancel: () => undefined };
  const appointment: Machine<State, Input, never, DriverCommand> = {
    ...waiter,
    step: () => ({ changes: [], commands: [{ kind: 'WakeAt', at: 50_000 }] }),
  };
  const driver = new MachineDriver<State, Input, never, DriverCommand>({
    machine: appointment,
    state: { wakeAt: undefined },
    journal: undefined,
    clock,
    timers,
    perform: () => undefined,
    onFatal: (error) => {
      t.fail(String(error));
    },
  });
  driver.deliver({ kind: 'TimerFired' });
  driver.settle();
  at -= 500;
  clock.stepped = -500;
  driver.deliver({ kind: 'TimerFired' });
  driver.settle();
  t.deepEqual(delays, [49_000, 49_500]);
  await driver.stop();
});
