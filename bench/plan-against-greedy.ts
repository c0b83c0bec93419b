// Workflow instances on a simulated grid, through the broker's own decisions: makespans under a plan of the whole grid
// and under the greedy order (ready tasks, critical path first, to whatever is free). Reads MUTIRAO_DATA; exit 3
// without it. --tables also prints the table of docs/studies/workflow-plans.md; --only NAME takes the instances whose
// name contains NAME.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { JobSpec, SchedulerName } from '@mutirao/core/messages';
import { findBound, makeWorkflow, platformCosts, type Workflow } from '@mutirao/core/workflow';
import { getDraft, makeWorkflowJob, parseWorkflow } from '@mutirao/formats/workflow';
import { BrokerGrid } from '@mutirao/sim';
import { aGroup, aJob } from '@mutirao/testkit';
import { plain, report } from './harness.ts';

const data = join(process.env['MUTIRAO_DATA'] ?? '', 'workflows');
if (process.env['MUTIRAO_DATA'] === undefined || !existsSync(data)) {
  console.error('MUTIRAO_DATA names no folder with workflows/wfinstances, the instances of WfCommons');
  process.exit(3);
}
const onlyAt = process.argv.indexOf('--only');
const only = onlyAt < 0 ? '' : (process.argv[onlyAt + 1] ?? '');
/** Eight machines at the speed of the measurement and eight at half of it, one processor each, on 1 Gbit/s. */
const machines = Array.from({ length: 16 }, (_, index) => ({
  machineId: `m${index}`,
  processors: 1,
  speed: index % 2 === 0 ? 1 : 0.5,
}));
const platform = {
  processors: machines.map(({ machineId, speed }) => ({ name: machineId, speed: 1000 * speed })),
  startUp: 10,
  bandwidth: 125e6,
};

interface Way {
  readonly name: string;
  readonly scheduler: SchedulerName;
  readonly replicasMax: number;
  /** How fast the machines are the broker knows from a bag that ran before. */
  readonly isWarm: boolean;
}

const ways: readonly Way[] = [
  { name: 'greedy', scheduler: 'workqueue', replicasMax: 1, isWarm: true },
  { name: 'plan', scheduler: 'plan', replicasMax: 1, isWarm: true },
  { name: 'plan, speeds unknown', scheduler: 'plan', replicasMax: 1, isWarm: false },
  { name: 'greedy with replicas', scheduler: 'wqr', replicasMax: 2, isWarm: true },
  { name: 'plan with replicas', scheduler: 'plan', replicasMax: 2, isWarm: true },
];

/** From submission to the last end of a task's accepted run, in milliseconds. */
function run(job: JobSpec, workflow: Workflow, { scheduler, replicasMax, isWarm }: Way): number {
  const workOf = (jobId: number, index: number): number =>
    isWarm && jobId === 1 ? 100_000 : Math.max(1, Math.ceil(workflow.tasks[index]?.work ?? 0));
  const grid = new BrokerGrid({ machines, workOf });
  if (isWarm) {
    grid.submit(aJob(1, { groups: [aGroup(16 * 20, { expectedTime: 100_000 })], scheduler: 'plan', replicasMax: 1 }));
    grid.run();
  }
  const [start, before] = [grid.now, grid.runs.length];
  grid.submit({
    ...job,
    groups: job.groups.map((group) => ({ ...group, inputs: [], outputs: [] })),
    scheduler,
    replicasMax,
  });
  grid.run();
  const ended = [...grid.state.jobs.values()].every(({ status }) => status === 'finished');
  if (!ended) throw new Error(`a job did not finish under ${scheduler}`);
  return (
    grid.runs
      .slice(before)
      .filter(({ outcome }) => outcome === 'succeeded')
      .reduce((last, { end }) => Math.max(last, end), start) - start
  );
}

const rows = readdirSync(join(data, 'wfinstances'))
  .sort()
  .filter((file) => file.includes(only))
  .map((file) => {
    const document = parseWorkflow(gunzipSync(readFileSync(join(data, 'wfinstances', file))).toString(), file);
    const workflow = makeWorkflow(getDraft(document));
    const { job } = makeWorkflowJob(document, { directory: '/home', taskCommand: 'true' });
    const bound = findBound(workflow, platformCosts(workflow, platform), machines.length);
    return {
      name: file.replace(/\.json\.gz$/, ''),
      taskCount: workflow.tasks.length,
      bound,
      makespans: ways.map((way) => run(job, workflow, way)),
    };
  });
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const ratios = (over: number, under: number): number[] =>
  rows.map(({ makespans }) => (makespans[over] ?? NaN) / (makespans[under] ?? NaN));

if (process.argv.includes('--tables')) {
  console.log(
    `| instance | tasks | bound, s | ${ways.map(({ name }) => `${name}: makespan, s | over bound`).join(' | ')} |`,
  );
  console.log(`|${'---|'.repeat(3 + 2 * ways.length)}`);
  for (const { name, taskCount, bound, makespans } of rows) {
    const columns = makespans.map((makespan) => `${(makespan / 1000).toFixed(1)} | ${(makespan / bound).toFixed(2)}`);
    console.log(`| ${name} | ${taskCount} | ${(bound / 1000).toFixed(1)} | ${columns.join(' | ')} |`);
  }
}
const pairs = [
  ['plan over greedy', 1, 0],
  ['plan over greedy, speeds unknown', 2, 0],
  ['plan over greedy, with replicas', 4, 3],
] as const;
report(
  'plan against greedy',
  pairs.flatMap(([name, over, under]) => {
    const all = ratios(over, under);
    return [
      plain(`${name}: makespan, mean of ${rows.length} instances`, mean(all), 'x'),
      plain(`${name}: least`, Math.min(...all), 'x'),
      plain(`${name}: greatest`, Math.max(...all), 'x'),
      plain(
        `${name}: instances on which the plan is more than 1 % longer`,
        all.filter((ratio) => ratio > 1.01).length,
        '',
      ),
    ];
  }),
);
