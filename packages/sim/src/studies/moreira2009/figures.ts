import type { ArrivalResult } from '@mutirao/core/workflow';
import { summarize } from '../../summarize.ts';
import { drawBars, type Bar } from '../../svg/draw-bars.ts';
import { drawSchedule } from '../../svg/draw-schedule.ts';
import { getPlatform, type StudyCluster } from './clusters.ts';
import { listMakespans, type ClusterRuns } from './measure.ts';
import { seedRows, type SeedRow } from './seed-numbers.ts';
import { listSeedStrategies } from './strategies.ts';

const groups = ['HPTS', 'HEFT', 'not in the seed', 'one processor a job'];

function groupOf(name: string): number {
  if (name === 'auto' || name === 'CPOP') return 2;
  if (name === '1J-1P') return 3;
  return name.includes('HPTS') ? 0 : 1;
}

/** The seed's row of a cluster. */
export function getSeedRow({ name }: StudyCluster): SeedRow {
  const found = seedRows.find(({ cluster }) => cluster === name);
  if (found === undefined) throw new Error(`no row for ${name}`);
  return found;
}

/** Figures 5.1 to 5.6: the mean makespan of each strategy on a cluster. */
export function drawMakespans(runs: ClusterRuns): string {
  const { cluster } = runs;
  const row = getSeedRow(cluster);
  const names = [...listSeedStrategies(cluster.capacities.length, true).map(({ name }) => name), 'CPOP', 'auto'];
  const bars = names.map((name): Bar => {
    const { mean, halfInterval } = summarize(listMakespans(runs, name));
    return {
      label: name,
      group: groupOf(name),
      value: mean,
      halfInterval,
      mark: name === '1J-1P' ? row.alone : undefined,
    };
  });
  return drawBars({
    title: `Figure ${row.figure}: makespan of 12 jobs on ${cluster.name}`,
    up: 'seconds',
    bars,
    groups,
    marks: 'printed by the seed',
  });
}

/** The map of a run: its tasks in the colours of their jobs. */
export function drawMap(cluster: StudyCluster, strategy: string, { workflow, schedule }: ArrivalResult): string {
  const taskIds = workflow.tasks.map(({ id }) => id);
  return drawSchedule({
    title: `${strategy} on ${cluster.name}`,
    schedule,
    processors: getPlatform(cluster).processors.map(({ name }) => name),
    taskIds,
    groups: taskIds.map((id) => id.split('.')[0] as string),
    groupName: 'job',
  });
}
