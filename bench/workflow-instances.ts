// Every workflow algorithm on real instances (WfCommons, Pegasus DAX), and on standard task graphs whose optimum is
// known. Reads MUTIRAO_DATA; exit 3 without it.
// With --tables it prints docs/studies/workflow-instances.md's tables instead of figures.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  findScheduleFault,
  freshProblem,
  makeWorkflow,
  getMakespan,
  measureSchedule,
  platformCosts,
  workflowSchedulers,
  type Platform,
  type Workflow,
  type WorkflowScheduler,
} from '@mutirao/core/workflow';
import { getDraft, parseWorkflow } from '@mutirao/formats/workflow';
import { below, plain, report, type Figure } from './harness.ts';

const data = join(process.env['MUTIRAO_DATA'] ?? '', 'workflows');
if (process.env['MUTIRAO_DATA'] === undefined || !existsSync(data)) {
  console.error(
    'MUTIRAO_DATA names no folder with workflows/; the instances are those of WfCommons (wfinstances), of ' +
      'Pegasus (dax) and of the Standard Task Graph Set (stg)',
  );
  process.exit(3);
}
const alike = (count: number, speed: number): Platform => ({
  startUp: 0.1,
  bandwidth: 125e6,
  processors: Array.from({ length: count }, (_, index) => ({ name: `p${index}`, speed })),
});

/** Eight processors at the speed of the measurement and eight at half of it, on 1 Gbit/s. */
const mixed: Platform = {
  ...alike(16, 1000),
  processors: Array.from({ length: 16 }, (_, index) => ({ name: `p${index}`, speed: index < 8 ? 1000 : 500 })),
};
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What an algorithm made of a workflow; a schedule that cannot be is an error. */
interface Result {
  readonly makespan: number;
  readonly bound: number;
  /** To schedule, in milliseconds. */
  readonly time: number;
}

function run(scheduler: WorkflowScheduler, workflow: Workflow, platform: Platform): Result {
  const count = platform.processors.length;
  const costs = platformCosts(workflow, platform);
  const problem = freshProblem(workflow, costs, count);
  const start = performance.now();
  const schedule = scheduler.schedule(problem);
  const time = performance.now() - start;
  const fault = findScheduleFault(problem, schedule);
  if (fault !== undefined) throw new Error(`${scheduler.name}: ${JSON.stringify(fault)}`);
  const { bound } = measureSchedule(workflow, costs, count, schedule);
  return { makespan: getMakespan(schedule), bound, time };
}

/** An instance and what each algorithm made of it, in the order of the algorithms. */
interface Instance {
  readonly name: string;
  readonly taskCount: number;
  /** The time of all its work on all processors at once, in milliseconds: a bound like the critical path. */
  readonly workBound: number;
  readonly results: readonly Result[];
}

function runFolder(folder: string): Instance[] {
  return readdirSync(join(data, folder))
    .sort()
    .map((file) => {
      const workflow = makeWorkflow(
        getDraft(parseWorkflow(gunzipSync(readFileSync(join(data, folder, file))).toString(), file)),
      );
      const workBound =
        (1000 * workflow.tasks.reduce((sum, { work }) => sum + work, 0)) /
        mixed.processors.reduce((sum, { speed }) => sum + speed, 0);
      return {
        name: file.replace(/\.(json|xml)\.gz$/, ''),
        taskCount: workflow.tasks.length,
        workBound,
        results: workflowSchedulers.map((scheduler) => run(scheduler, workflow, mixed)),
      };
    });
}

function printInstances(instances: readonly Instance[]): void {
  console.log(
    '| instance | tasks | bound, s | work, s | ' +
      `${workflowSchedulers.map(({ name }) => `${name}: makespan, s | over bound | ms`).join(' | ')} |`,
  );
  console.log(`|${'---|'.repeat(4 + 3 * workflowSchedulers.length)}`);
  for (const { name, taskCount, workBound, results } of instances) {
    const columns = results.map(
      ({ makespan, bound, time }) =>
        `${(makespan / 1000).toFixed(1)} | ${(makespan / bound).toFixed(2)} | ${time.toFixed(0)}`,
    );
    console.log(
      `| ${name} | ${taskCount} | ${((results[0]?.bound ?? 0) / 1000).toFixed(1)} | ` +
        `${(workBound / 1000).toFixed(1)} | ${columns.join(' | ')} |`,
    );
  }
}

/** A graph of the Standard Task Graph Set: task, time, count of predecessors, predecessors. */
function parseStg(text: string): Workflow {
  const rows = text
    .split('\n')
    .slice(1)
    .filter((line) => /^\s*\d/.test(line))
    .map((line) => line.trim().split(/\s+/).map(Number));
  return makeWorkflow({
    tasks: rows.map(([id = 0, time = 0]) => ({ id: String(id), work: time })),
    edges: rows.flatMap(([id = 0, , , ...before]) => before.map((from) => ({ from: String(from), to: String(id) }))),
  });
}

/** How far each algorithm is from each optimum, as a share of it, in the order of the algorithms. */
function runStandard(): { readonly scheduler: WorkflowScheduler; readonly distances: number[] }[] {
  const archive = join(data, 'stg', 'stg50.tar.gz');
  const graphs = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name.endsWith('.stg'));
  const workflows = new Map(
    graphs.map((name) => [
      name.split('/').at(-1) ?? '',
      parseStg(execFileSync('tar', ['-xzOf', archive, name], { encoding: 'utf8' })),
    ]),
  );
  const optima = gunzipSync(readFileSync(join(data, 'stg', 'stg50-optimal.csv.gz')))
    .toString()
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  return workflowSchedulers.map((scheduler) => ({
    scheduler,
    distances: optima.map(([graph = '', processors = '', optimum = '']) => {
      const workflow = workflows.get(graph);
      if (workflow === undefined) throw new Error(`no graph ${graph}`);
      const distance = run(scheduler, workflow, alike(Number(processors), 1000)).makespan / Number(optimum) - 1;
      if (distance < -1e-9)
        throw new Error(`${scheduler.name} is under the optimum of ${graph} on ${processors} processors`);
      return distance;
    }),
  }));
}

const instances = [...runFolder('wfinstances'), ...runFolder('dax')];
const standard = runStandard();
if (process.argv.includes('--tables')) {
  console.log('| algorithm | mean distance from the optimum | greatest | optimal in |\n|---|---|---|---|');
  for (const { scheduler, distances } of standard) {
    const hits = distances.filter((distance) => distance < 1e-9).length;
    console.log(
      `| ${scheduler.name} | ${(100 * mean(distances)).toFixed(2)} % | ` +
        `${(100 * Math.max(...distances)).toFixed(1)} % | ${hits} of ${distances.length} |`,
    );
  }
  console.log('');
  printInstances(instances);
} else {
  const figures = workflowSchedulers.flatMap(({ name }, place): Figure[] => {
    const results = instances.map((instance) => instance.results[place] as Result);
    const away = `${name}: mean distance from 720 optima of standard task graphs`;
    const distance = 100 * mean(standard[place]?.distances ?? []);
    return [
      name === 'heft' || name === 'auto' ? below(away, distance, '%', 2) : plain(away, distance, '%'),
      plain(
        `${name}: makespan over the greater of both bounds, mean of ${instances.length} instances`,
        mean(results.map(({ makespan, bound }, index) => makespan / Math.max(bound, instances[index]?.workBound ?? 0))),
        'x',
      ),
      plain(`${name}: time to schedule all instances`, results.reduce((sum, { time }) => sum + time, 0) / 1000, 's'),
    ];
  });
  const least = instances.filter(
    ({ results }) => (results.at(-1)?.makespan ?? NaN) <= Math.min(...results.map(({ makespan }) => makespan)),
  ).length;
  figures.push(below('auto: instances on which another algorithm is shorter', instances.length - least, '', 1));
  figures.push(
    below(
      'all: time to schedule all instances',
      instances.reduce((sum, { results }) => sum + results.reduce((each, { time }) => each + time, 0), 0) / 1000,
      's',
      30,
    ),
  );
  report('workflow instances', figures);
}
