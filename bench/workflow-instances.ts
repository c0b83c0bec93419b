// Every workflow algorithm on the real instances of the data folder, and on standard task graphs whose optimum is known. Reads MUTIRAO_DATA; exit 3 without it.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { freshProblem, makeWorkflow, makespanOf, measureSchedule, platformCosts, workflowSchedulers, type Platform, type Workflow } from '@mutirao/core/workflow';
import { draftOf, parseWorkflow } from '@mutirao/formats/workflow';

const data = join(process.env['MUTIRAO_DATA'] ?? '', 'workflows');
if (process.env['MUTIRAO_DATA'] === undefined || !existsSync(data)) {
  console.error('MUTIRAO_DATA names no folder with workflows/; the instances are those of WfCommons (wfinstances) and of the Standard Task Graph Set');
  process.exit(3);
}
const alike = (count: number, speed: number): Platform => ({ startUp: 0.1, bandwidth: 125e6, processors: Array.from({ length: count }, (_, index) => ({ name: `p${index}`, speed })) });

/** Eight processors at the speed of the measurement and eight at half of it, on 1 Gbit/s. */
const mixed: Platform = { ...alike(16, 1000), processors: Array.from({ length: 16 }, (_, index) => ({ name: `p${index}`, speed: index < 8 ? 1000 : 500 })) };

console.log(`| instance | tasks | bound, s | ${workflowSchedulers.map(({ name }) => `${name}: makespan, s | over bound | ms`).join(' | ')} |`);
for (const name of readdirSync(join(data, 'wfinstances'))) {
  const workflow = makeWorkflow(draftOf(parseWorkflow(gunzipSync(readFileSync(join(data, 'wfinstances', name))).toString(), name)));
  const costs = platformCosts(workflow, mixed);
  const cells = workflowSchedulers.map((scheduler) => {
    const start = performance.now();
    const schedule = scheduler.schedule(freshProblem(workflow, costs, 16));
    const time = performance.now() - start;
    return { ...measureSchedule(workflow, costs, 16, schedule), time };
  });
  const columns = cells.map(({ makespan, bound, time }) => `${(makespan / 1000).toFixed(1)} | ${(makespan / bound).toFixed(2)} | ${time.toFixed(0)}`);
  console.log(`| ${name.replace('.json.gz', '')} | ${workflow.tasks.length} | ${((cells[0]?.bound ?? 0) / 1000).toFixed(1)} | ${columns.join(' | ')} |`);
}

/** A graph of the Standard Task Graph Set: task, time, count of predecessors, predecessors. */
function parseStg(text: string): Workflow {
  const rows = text.split('\n').slice(1).filter((line) => /^\s*\d/.test(line)).map((line) => line.trim().split(/\s+/).map(Number));
  return makeWorkflow({
    tasks: rows.map(([id = 0, time = 0]) => ({ id: String(id), work: time })),
    edges: rows.flatMap(([id = 0, , , ...before]) => before.map((from) => ({ from: String(from), to: String(id) }))),
  });
}

const archive = join(data, 'stg', 'stg50.tar.gz');
const graphs = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n').filter((name) => name.endsWith('.stg'));
const workflows = new Map(graphs.map((name) => [name.split('/').at(-1)?.replace('.stg', '') ?? '', parseStg(execFileSync('tar', ['-xzOf', archive, name], { encoding: 'utf8' }))]));
const optima = gunzipSync(readFileSync(join(data, 'stg', 'stg50-optimal.csv.gz'))).toString().trim().split('\n').slice(1).map((line) => line.split(','));
for (const scheduler of workflowSchedulers) {
  const distances = optima.map(([graph = '', processors = '', optimum = '']) => {
    const workflow = workflows.get(graph.replace('.stg', '')) ?? workflows.get(graph.padStart(4, '0'));
    if (workflow === undefined) throw new Error(`no graph ${graph}`);
    const count = Number(processors);
    const makespan = makespanOf(scheduler.schedule(freshProblem(workflow, platformCosts(workflow, alike(count, 1000)), count)));
    return makespan / Number(optimum) - 1;
  });
  const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  const hits = distances.filter((distance) => distance < 1e-9).length;
  console.log(`${scheduler.name}: mean distance from the optimum ${(100 * mean).toFixed(2)} %, greatest ${(100 * Math.max(...distances)).toFixed(1)} %, optimal in ${hits} of ${distances.length}`);
}
