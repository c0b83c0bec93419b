// How often an allocation that is held ahead is there when its reservation begins: whole simulated grids with a
// provider that holds, against the rule for when it asks and the load
// of the cluster by its local users. Nothing fails here, for a cluster that fails is a less loaded one;
// `held-worlds.test.ts` has the faults. Prints a table, and the same as JSON.
import {
  shareWithInterval,
  calmFaults,
  honestManager,
  runWorld,
  worldStart,
  type ClusterPlan,
  type JobPlan,
  type Scenario,
} from '@mutirao/sim';
import type { ProviderCommand } from '@mutirao/core/machines/provider';
import type { LeadRule } from '@mutirao/core/reservations';
import type { Duration, Instant } from '@mutirao/core/shared';
import { option } from './harness.ts';

const worlds = option('worlds', 20);
const minute: Duration = 60_000;
const hour: Duration = 60 * minute;
/** By then the queue is as full as it gets. */
const warmUp: Duration = 9 * hour;
const [processors, widthMax, walltimeMax] = [16, 8, 6 * hour];
/** The reservations of each world, one after the other: how many, processors of each, duration and distance. */
const [reservations, count, duration, apart] = [5, 3, hour, 3 * hour];
const rules: readonly (readonly [string, LeadRule])[] = [
  ['fixed:10m', { kind: 'fixed', lead: 10 * minute }],
  ['fixed:1h', { kind: 'fixed', lead: hour }],
  ['fixed:4h', { kind: 'fixed', lead: 4 * hour }],
  ['forecast:1h', { kind: 'forecast', margin: hour }],
];
/**
 * Mean processor time of what a local user of a simulated world asks for and gets: widths up to `widthMax`, walltimes
 * up to a tenth beyond the longest, run times up to these.
 */
const localWork = (((widthMax + 1) / 2) * (walltimeMax / 4) * (widthMax / (widthMax + 1))) / 1.1;

function getScenario(seed: string, { rule, load }: Setup): Scenario {
  const jobs = Array.from(
    { length: reservations },
    (_, index): JobPlan => ({
      submittedAfter: minute,
      taskCount: 4,
      meanTaskTime: 2 * minute,
      spread: 0.5,
      replicasMax: 1,
      failuresMax: 3,
      brokenTaskCount: 0,
      failureProbability: 0,
      inputCount: 0,
      hasOutput: false,
      isChecked: false,
      reservation: { cluster: 0, startsAfter: warmUp + index * apart, duration, count },
    }),
  );
  const cluster: ClusterPlan = {
    processors,
    requestsMax: 4,
    widthMax,
    walltimeMax,
    compression: 'start-now',
    heuristic: 'static',
    localPerHour: (load * processors * hour) / localWork,
    isWatched: true,
    speedSpread: 0,
    holding: rule,
    faults: honestManager,
  };
  return {
    version: 1,
    seed,
    jobs,
    clusters: [cluster],
    labs: [],
    network: { delayMax: 20, lossProbability: 0, duplicateProbability: 0 },
    turnDelayMax: 1,
    faults: calmFaults,
    stormDuration: warmUp + reservations * apart,
  };
}

interface Setup {
  readonly rule: LeadRule;
  readonly load: number;
}

/** The last report about a reservation, and the idle time for it. */
interface Reported {
  at: Instant;
  held: number;
  idle: number;
}

/** Whether each reservation of a world had all at its start, and the processor time that was held for it before. */
function runOne(scenario: Scenario): { readonly hits: number; readonly idle: number } {
  const reported = new Map<number, Reported>();
  const startOf = (id: number): Instant => worldStart + (scenario.jobs[id - 1]?.reservation?.startsAfter ?? 0);
  const note = (id: number, at: Instant, held: number): void => {
    const last = reported.get(id) ?? { at, held: 0, idle: 0 };
    const until = Math.min(at, startOf(id));
    if (until < last.at) return;
    reported.set(id, {
      at: until,
      held: at > startOf(id) ? last.held : held,
      idle: last.idle + last.held * (until - last.at),
    });
  };
  const { failure } = runWorld(scenario, ({ at, commands }) => {
    for (const command of commands as readonly ProviderCommand[])
      if (command.kind === 'ReportProvisioning') note(command.reservationId, at, command.ahead.heldCount);
  });
  if (failure !== undefined) throw new Error(`seed ${scenario.seed}: ${failure.message}`);
  for (const id of scenario.jobs.keys()) note(id + 1, Infinity, 0);
  const all = [...reported.values()];
  return { hits: all.filter(({ held }) => held >= count).length, idle: all.reduce((sum, { idle }) => sum + idle, 0) };
}

function measure(setup: Setup): { readonly hits: number; readonly total: number; readonly idle: number } {
  let [hits, idle] = [0, 0];
  for (let seed = 0; seed < worlds; seed += 1) {
    const one = runOne(getScenario(`held ${seed}`, setup));
    hits += one.hits;
    idle += one.idle;
  }
  const total = worlds * reservations;
  return { hits, total, idle: idle / (total * count * duration) };
}

process.stderr.write(
  '| load | asked for | there at the start | held idle, over the reservation |\n|---|---|---|---|\n',
);
const rows = [0.5, 0.8, 0.95].flatMap((load) =>
  rules.map(([name, rule]) => {
    const { hits, total, idle } = measure({ rule, load });
    process.stderr.write(
      `| ${Math.round(100 * load)} % | \`${name}\` | ${shareWithInterval(hits, total)} | ${idle.toFixed(2)} |\n`,
    );
    return { rule: name, load, hits, total, idle };
  }),
);
process.stdout.write(`${JSON.stringify(rows)}\n`);
