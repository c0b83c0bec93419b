// costa2005, section 2.3: eager scheduling with replication; Santos-Neto et al. 2004 for storage affinity. Few runs;
// docs/studies/eager-scheduling.md has all.
import test from 'ava';
import {
  compareAll,
  listScenarios,
  getPolicies,
  runBag,
  runScenario,
  type BagSetup,
  type Comparison,
} from '@mutirao/sim/eager';

const quick = { isQuick: true, seed: 'paper' };

function compare(id: string, ...names: readonly string[]): Comparison[] {
  const scenario = listScenarios().find((one) => one.id === id);
  if (scenario === undefined) throw new Error(`there is no scenario ${id}`);
  return compareAll(runScenario(scenario, quick, ['workqueue', ...names]));
}

function get(comparisons: readonly Comparison[], name: string): Comparison {
  const found = comparisons.find(({ policy }) => policy.name === name);
  if (found === undefined) throw new Error(`there is no policy ${name}`);
  return found;
}

test('where speeds differ and tasks are as few as machines, replicas shorten the makespan by a tenth and more (section 2.3)', (t) => {
  const found = compare('speed-4-up-240min-tasks-1x', 'wqr', 'wqr, 4 replicas');
  const { makespan, extra } = get(found, 'wqr');
  t.log(`${makespan.value} of a workqueue's, with ${extra} of extra work`);
  t.true(makespan.value < 0.9);
  t.true(get(found, 'wqr, 4 replicas').makespan.value < makespan.value + 0.02);
  t.is(get(found, 'workqueue').extra, 0);
});

test('where speeds are equal replicas cost cycles and lengthen nothing (section 2.3)', (t) => {
  for (const id of ['speed-1-up-30min-tasks-1x', 'speed-1-up-240min-tasks-2x'])
    t.true(get(compare(id, 'wqr'), 'wqr').makespan.value < 1.02, id);
});

test('losers never take more than the share that a cap allows, in any run', (t) => {
  for (const id of ['speed-4-up-240min-tasks-1x', 'speed-4-up-30min-tasks-2x']) {
    const found = compare(id, 'wqr', 'wqr, 20%', 'wqr, 5%');
    t.true(get(found, 'wqr, 20%').extraMax <= 0.2, id);
    t.true(get(found, 'wqr, 5%').extraMax <= 0.05, id);
    t.true(get(found, 'wqr').extraMax > 0.2, `${id}: without a cap it would hold in any case`);
  }
});

test('where tasks read large files, machines that hold them first bring fewer and end sooner', (t) => {
  const found = compare('data-4-up-240min-tasks-5x', 'storage-affinity');
  const [affinity, workqueue] = [get(found, 'storage-affinity'), get(found, 'workqueue')];
  t.true(affinity.makespan.value < 0.9);
  t.true(affinity.transfers < workqueue.transfers);
});

test('a policy changes no generator: the same setup twice is the same run, and a bag without rivals for machines runs alike under all', (t) => {
  const setup: BagSetup = {
    seed: 'x',
    machineCount: 1,
    speedMax: 4,
    upTime: { mean: 1_800_000, shape: 0.5 },
    downTimeMean: 600_000,
    taskCount: 3,
    taskTimeMean: 60_000,
    taskTimeSpread: 0.5,
  };
  const [first] = listScenarios();
  const makespans = (first === undefined ? [] : getPolicies(first)).map((policy) => runBag(setup, policy).makespan);
  t.is(new Set(makespans).size, 1);
});
