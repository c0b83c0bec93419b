import test from 'ava';
import type { BrokerChange } from '@mutirao/core/machines/broker';
import {
  calmFaults,
  drawScenario,
  honestManager,
  runWorld,
  type ClusterPlan,
  type JobPlan,
  type LabPlan,
  type Scenario,
  type WorldTurn,
} from '../../src/index.ts';

const minute = 60_000;

/** Five processors of one provider that are there whenever nothing goes wrong. */
const hall: LabPlan = {
  machines: [1, 1, 2, 1].map((processors) => ({ processors, speed: 1, isLiar: false })),
  downTime: 1000,
};

function cluster(processors: number, changes: Partial<ClusterPlan> = {}): ClusterPlan {
  return {
    processors,
    requestsMax: 4,
    widthMax: processors,
    walltimeMax: 60 * minute,
    compression: 'start-now',
    heuristic: 'static',
    localPerHour: 0,
    speedSpread: 0,
    faults: honestManager,
    isWatched: true,
    ...changes,
  };
}

function gangs(width: number, changes: Partial<JobPlan> = {}): JobPlan {
  return {
    submittedAfter: 20_000,
    taskCount: 4,
    meanTaskTime: minute,
    spread: 0.3,
    replicasMax: 1,
    failuresMax: 3,
    brokenTaskCount: 0,
    failureProbability: 0,
    inputCount: 0,
    hasOutput: false,
    isChecked: false,
    gangProcessors: width,
    siteSelection: 'min-ct:0.1',
    ...changes,
  };
}

const calm: Scenario = {
  version: 1,
  seed: 'dispatched',
  clusters: [cluster(4), cluster(32)],
  labs: [],
  faults: calmFaults,
  turnDelayMax: 1,
  stormDuration: 30 * minute,
  network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
  jobs: [gangs(2), gangs(16), gangs(3, { siteSelection: 'min-lb' })],
};

/** Where tasks of each job were placed, and where their gangs began. */
class Places {
  readonly placed = new Map<number, Set<string>>();
  readonly begun = new Map<number, Set<string>>();

  receive({ process, changes }: WorldTurn): void {
    if (process !== 'broker') return;
    for (const change of changes as readonly BrokerChange[]) {
      if (change.kind === 'TasksAssigned')
        for (const { providerId } of change.assignments) add(this.placed, change.jobId, providerId);
      if (change.kind === 'GangDispatched')
        add(this.begun, change.jobId, change.seats[0]?.machineId.split('/')[0] ?? '');
    }
  }
}

function add(places: Map<number, Set<string>>, jobId: number, providerId: string): void {
  places.set(jobId, (places.get(jobId) ?? new Set()).add(providerId));
}

test('without faults narrow gangs stay off the large cluster, wide ones go there, and those that may choose use both', (t) => {
  const places = new Places();
  const { failure } = runWorld(calm, (turn) => {
    places.receive(turn);
  });
  t.is(failure, undefined, failure?.message);
  t.is(places.placed.size, 3);
  const [narrow, wide] = [[...places.placed.get(1)!], [...places.placed.get(2)!]];
  t.is(narrow.length, 1);
  t.is(wide.length, 1);
  t.not(narrow[0], wide[0]);
  t.is(places.placed.get(3)?.size, 2);
  for (const jobId of [1, 2, 3])
    t.deepEqual([...places.begun.get(jobId)!].sort(), [...places.placed.get(jobId)!].sort());
});

const placements = ['min-ct:0.3', 'random', 'min-lp:0.5', 'min-wwt:adaptive', 'min-lb:0', 'min-lbal'];

/** Of each two jobs of a world one is of gangs that are placed, at clusters of several widths and a lab. */
function withPlaced(scenario: Scenario): Scenario {
  const jobs = scenario.jobs.map(
    ({ voteCount: _votes, credibility: _credibility, reservation: _reservation, scheduler, ...job }, index): JobPlan =>
      index % 2 === 0
        ? {
            ...job,
            taskCount: Math.min(job.taskCount, 20),
            brokenTaskCount: Math.min(job.brokenTaskCount, 20),
            gangProcessors: 2 + (index % 4),
            siteSelection: placements[index % placements.length] ?? 'random',
          }
        : { ...job, ...(scheduler === undefined ? {} : { scheduler }) },
  );
  const [first] = scenario.clusters;
  const clusters =
    first === undefined
      ? []
      : [4, 8, 16].map(
          (processors): ClusterPlan => ({
            ...first,
            processors,
            widthMax: processors,
            requestsMax: Math.max(2, first.requestsMax),
          }),
        );
  return { ...scenario, jobs, labs: [...scenario.labs, hall], clusters };
}

test('under faults assigned tasks run only at their provider, and worlds with assigned gangs come to their end', (t) => {
  let dispatchedCount = 0;
  for (let seed = 0; seed < 10; seed += 1) {
    const places = new Places();
    const { failure } = runWorld(withPlaced(drawScenario(String(seed))), (turn) => {
      places.receive(turn);
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
    for (const providers of places.placed.values()) dispatchedCount += providers.size;
  }
  t.true(dispatchedCount > 10, `${dispatchedCount} places`);
});

test('the same world with placed gangs has the same turns', (t) => {
  const [one, other] = [runWorld(calm), runWorld(calm)];
  t.is(one.digest, other.digest);
});
