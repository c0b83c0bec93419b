import type { Platform } from '@mutirao/core/workflow';

/** A cluster of the study. */
export interface StudyCluster {
  readonly name: string;
  /** Capacities of its processors, as multiples of the seed's 1, the greatest first. */
  readonly capacities: readonly number[];
  /** What 1 is, in Mflop/s. */
  readonly speed: number;
}

/**
 * What the seed's capacity 1 is in Mflop/s: so that the longest task of Tabela 5.3 takes its 209 s, a correlation (4
 * n^3 operations here) of the largest matrix, n = 1200.
 * The same task takes 35.6 s on capacity 1 in Tabela 5.4 that takes 70.4 s in Tabela 5.3, so that 1 is 1.98 times as
 * much in C3 and C4.
 */
const [speed, speedOfUnlike] = [33.1, 33.1 * 1.98];

const repeat = (counts: readonly (readonly [count: number, capacity: number])[]): number[] =>
  counts.flatMap(([count, capacity]) => new Array<number>(count).fill(capacity));

/** The six clusters. @source moreira2009, 5.1, Tabelas 5.1 and 5.2. */
export const studyClusters: readonly StudyCluster[] = [
  { name: 'homogeneous-10', capacities: repeat([[10, 1]]), speed },
  { name: 'homogeneous-20', capacities: repeat([[20, 1]]), speed },
  {
    name: 'C1',
    capacities: repeat([
      [4, 1],
      [3, 0.75],
      [3, 0.5],
    ]),
    speed,
  },
  {
    name: 'C2',
    capacities: repeat([
      [8, 1],
      [6, 0.75],
      [6, 0.5],
    ]),
    speed,
  },
  {
    name: 'C3',
    capacities: repeat([
      [2, 1],
      [2, 0.5],
      [2, 0.25],
      [2, 0.125],
      [2, 0.0625],
    ]),
    speed: speedOfUnlike,
  },
  {
    name: 'C4',
    capacities: repeat([
      [4, 1],
      [4, 0.5],
      [4, 0.25],
      [4, 0.125],
      [4, 0.0625],
    ]),
    speed: speedOfUnlike,
  },
];

/**
 * A cluster as the schedulers know it: on Ethernet of 1 Gbit/s between any two, with the 0.1 ms before a message that
 * such networks take.
 */
export function getPlatform({ capacities, speed: whole }: StudyCluster): Platform {
  return {
    startUp: 0.1,
    bandwidth: 125e6,
    processors: capacities.map((capacity, index) => ({ name: `p${index + 1} (${capacity})`, speed: whole * capacity })),
  };
}

/** Heterogeneity: standard deviation over mean of one task's times on the processors. @source moreira2009, 5.1.1. */
export function getHeterogeneity({ capacities }: StudyCluster): number {
  const times = capacities.map((capacity) => 1 / capacity);
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / times.length;
  return Math.sqrt(variance) / mean;
}
