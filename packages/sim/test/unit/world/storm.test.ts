import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { calmFaults, honestManager, World, worldStart, type FaultPlan, type Scenario } from '../../../src/index.ts';
import { drawWeibull, Storm } from '../../../src/world/storm.ts';
import type { WorldEvent } from '../../../src/world/world-event.ts';

const hour = 3_600_000;

/** A lab with nothing to do. */
function labWith(faults: Partial<FaultPlan>, changes: Partial<Scenario> = {}): Scenario {
  return {
    version: 1,
    seed: 'storm',
    jobs: [],
    clusters: [],
    labs: [{ machines: Array.from({ length: 3 }, () => ({ processors: 1, speed: 1, isLiar: false })), downTime: 1000 }],
    network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
    faults: { ...calmFaults, ...faults },
    turnDelayMax: 0,
    stormDuration: 4 * hour,
    ...changes,
  };
}

/** What strikes in a storm of four hours, and in the hour after it. */
function strikes(scenario: Scenario): { during: WorldEvent[]; after: WorldEvent[] } {
  const events: WorldEvent[] = [];
  const world = new World(scenario, () => undefined, {
    onEvent: (event) => {
      if (!event.kind.startsWith('Process') || event.kind === 'ProcessCrashed' || event.kind === 'ProcessPaused')
        events.push(event);
    },
  });
  new Storm(world);
  world.kernel.runUntil(worldStart + 4 * hour);
  const during = events.splice(0);
  world.isStormy = false;
  world.kernel.runUntil(worldStart + 5 * hour);
  return { during, after: events };
}

const kinds = {
  crashesPerHour: 'ProcessCrashed',
  fallsPerHour: 'HostFell',
  pausesPerHour: 'ProcessPaused',
  breaksPerHour: 'StreamBroken',
  cutsPerHour: 'HostsCut',
  fullDisksPerHour: 'DiskFilled',
  journalLossesPerHour: 'JournalLost',
} as const;

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name}: as many strikes as the plan says, of that kind alone, and none after the storm`, (t) => {
    const { during, after } = strikes(labWith({ [name]: 100, pauseMax: 1000, cutMax: 1000 }));
    // 400 are expected; some find nothing to strike, since a stream is down.
    t.true(during.length > 300 && during.length < 480, `${during.length} strikes`);
    t.deepEqual([...new Set(during.map((event) => event.kind))], [kind]);
    t.deepEqual(after, []);
  });
}

test('the user switches heuristics of clusters as often as the plan says, and no more after the storm', (t) => {
  const clusters: Scenario['clusters'] = [
    {
      processors: 4,
      requestsMax: 1,
      widthMax: 4,
      walltimeMax: 600_000,
      compression: 'start-now',
      heuristic: 'static',
      localPerHour: 0,
      speedSpread: 0,
      faults: honestManager,
    },
  ];
  const { during, after } = strikes(labWith({}, { clusters, heuristicSwitchesPerHour: 100 }));
  t.true(during.length > 300 && during.length < 480, `${during.length} switches`);
  t.deepEqual([...new Set(during.map(({ kind }) => kind))], ['HeuristicAsked']);
  t.deepEqual([...new Set(during.map(({ detail }) => detail))].sort(), [
    '',
    'adaptive',
    'finish',
    'initial',
    'mixed',
    'none such',
    'static',
  ]);
  t.deepEqual(after, []);
});

test('no faults, no strikes', (t) => {
  t.deepEqual(strikes(labWith({})), { during: [], after: [] });
});

test('the same seed strikes the same at the same instants, and another seed does not', (t) => {
  const faults = { crashesPerHour: 20, breaksPerHour: 20, pausesPerHour: 20, pauseMax: 1000 };
  const { during } = strikes(labWith(faults));
  t.deepEqual(strikes(labWith(faults)).during, during);
  const instants = (events: readonly WorldEvent[]): number[] => events.map(({ at }) => at);
  t.notDeepEqual(instants(strikes(labWith(faults, { seed: 'other' })).during), instants(during));
});

test('one kind of strike does not shift the instants of another', (t) => {
  const instants = (faults: Partial<FaultPlan>): number[] =>
    strikes(labWith({ pauseMax: 1, ...faults }))
      .during.filter(({ kind }) => kind === 'ProcessCrashed')
      .map(({ at }) => at);
  t.deepEqual(instants({ crashesPerHour: 20 }), instants({ crashesPerHour: 20, pausesPerHour: 50 }));
});

test('machines of a lab go down for their time, and no more after the storm', (t) => {
  const labs: Scenario['labs'] = [
    {
      machines: Array.from({ length: 40 }, () => ({ processors: 1, speed: 1, isLiar: false })),
      upTime: { mean: hour / 4, shape: 1 },
      downTime: 600_000,
    },
  ];
  const { during, after } = strikes(labWith({}, { labs }));
  // 40 machines that are up for 15 min and down for 10 min go down 384 times in four hours.
  t.true(during.length > 320 && during.length < 450, `${during.length} times`);
  t.true(during.every(({ kind }) => kind === 'MachineWentDown'));
  t.deepEqual(after, []);
});

test('up-times have the mean that was asked for, and with shape 0.5 most are far below it', (t) => {
  for (const shape of [0.5, 1, 2]) {
    const rng = new Prng(`weibull ${shape}`);
    const times = Array.from({ length: 100_000 }, () => drawWeibull(rng, { mean: hour, shape })).sort(
      (one, other) => one - other,
    );
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    t.true(Math.abs(mean / hour - 1) < 0.03, `shape ${shape}: mean ${mean / hour} h`);
    if (shape !== 0.5) continue;
    // The median of a Weibull distribution is scale x ln(2) ^ (1 / shape), and its mean at shape 0.5 is twice the
    // scale.
    const median = times[50_000]! / hour;
    t.true(Math.abs(median - Math.LN2 ** 2 / 2) < 0.01, `median ${median} h`);
  }
});

test('local users come as often as the plan says, each for no longer than the cluster gives', (t) => {
  const clusters: Scenario['clusters'] = [
    {
      processors: 64,
      requestsMax: 100,
      widthMax: 8,
      walltimeMax: 600_000,
      compression: 'start-now',
      heuristic: 'static',
      localPerHour: 60,
      speedSpread: 0,
      faults: honestManager,
    },
  ];
  const orders: { readonly userId: string; readonly width: number; readonly walltime: number }[] = [];
  const world = new World(labWith({}, { labs: [], clusters }), ({ process, changes }) => {
    if (process !== 'cluster0-manager') return;
    for (const change of changes)
      if (change.kind === 'RequestQueued') orders.push((change as unknown as { order: (typeof orders)[number] }).order);
  });
  new Storm(world);
  world.kernel.runUntil(worldStart + 4 * hour);
  t.true(orders.length > 190 && orders.length < 290, `${orders.length} requests`);
  t.true(
    orders.every(
      ({ userId, width, walltime }) => userId.startsWith('local') && width >= 1 && width <= 8 && walltime <= 600_000,
    ),
  );
  const before = orders.length;
  world.isStormy = false;
  world.kernel.runUntil(worldStart + 5 * hour);
  t.is(orders.length, before);
});
