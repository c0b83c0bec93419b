import {
  auto,
  cpop,
  heft,
  hpts,
  ihpts,
  platformCosts,
  scheduleArrivals,
  scheduleExclusively,
  withoutOverlap,
  type Arrival,
  type ArrivalResult,
  type WorkflowScheduler,
} from '@mutirao/core/workflow';
import { getPlatform, type StudyCluster } from './clusters.ts';

/** A way to run the jobs of a draw. */
export interface Strategy {
  /** The seed's name for it where it has one. */
  readonly name: string;
  readonly scheduler: WorkflowScheduler;
  /** A number: each job has this many processors for itself. */
  readonly mode: 'batch' | 'immediate' | number;
}

/**
 * Algorithms of the seed by its names, in its order. @param overlaps whether data comes while the processors that wait
 * for it compute something else; HEFT's always does.
 */
function listAlgorithms(overlaps: boolean): readonly (readonly [label: string, scheduler: WorkflowScheduler])[] {
  return [
    ['HPTS', overlaps ? hpts : withoutOverlap.hpts],
    ['iHPTS', overlaps ? ihpts : withoutOverlap.ihpts],
    ['HEFT', heft],
  ];
}

/** The widths of the seed's fixed reservations on a cluster of this size. */
export function widthsOn(processorCount: number): number[] {
  return [5, 10, 20].filter((width) => width <= processorCount);
}

/** The strategies of the seed on a cluster of this size, in the order of its text. */
export function listSeedStrategies(processorCount: number, overlaps: boolean): Strategy[] {
  const algorithms = listAlgorithms(overlaps);
  const reserved = algorithms.filter(([label]) => label !== 'iHPTS');
  return [
    ...algorithms.map(([name, scheduler]) => ({ name, scheduler, mode: 'batch' as const })),
    ...widthsOn(processorCount).flatMap((width) =>
      reserved.map(([label, scheduler]) => ({ name: `${label}${width}P`, scheduler, mode: width })),
    ),
    { name: '1J-1P', scheduler: heft, mode: 1 },
  ];
}

/** Strategies that are run in addition to the seed's. */
export function listOtherStrategies(): Strategy[] {
  return [
    { name: 'CPOP', scheduler: cpop, mode: 'batch' },
    { name: 'auto', scheduler: auto, mode: 'batch' },
    ...[...listAlgorithms(true), ['CPOP', cpop] as const, ['auto', auto] as const].map(([label, scheduler]) => ({
      name: `${label} immediate`,
      scheduler,
      mode: 'immediate' as const,
    })),
  ];
}

/** Runs the jobs of a draw on a cluster. */
export function runStrategy(
  { scheduler, mode }: Strategy,
  cluster: StudyCluster,
  arrivals: readonly Arrival[],
): ArrivalResult {
  const platform = getPlatform(cluster);
  const setup = {
    scheduler,
    processorCount: platform.processors.length,
    costsOf: (workflow: Arrival['workflow']) => platformCosts(workflow, platform),
  };
  return typeof mode === 'number'
    ? scheduleExclusively(arrivals, mode, setup)
    : scheduleArrivals(arrivals, mode, setup);
}
