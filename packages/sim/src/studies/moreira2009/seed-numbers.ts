/** Mean and standard deviation of the makespans of an algorithm over the strategies that use it, in seconds. */
export interface SeedNumbers {
  readonly mean: number;
  readonly deviation: number;
}

/** A row of the seed's tables. */
export interface SeedRow {
  readonly cluster: string;
  /** Number of its table. */
  readonly table: '5.6' | '5.7' | '5.8';
  /** Number of its figure. */
  readonly figure: string;
  readonly hpts: SeedNumbers;
  readonly heft: SeedNumbers;
  /** Of 1J-1P. */
  readonly alone: number;
}

/** @source moreira2009, Tabelas 5.6, 5.7 and 5.8. The values of its figures are not printed. */
export const seedRows: readonly SeedRow[] = [
  {
    cluster: 'homogeneous-10',
    table: '5.6',
    figure: '5.1',
    hpts: { mean: 871, deviation: 209.5 },
    heft: { mean: 1426, deviation: 1026.1 },
    alone: 1713,
  },
  {
    cluster: 'homogeneous-20',
    table: '5.6',
    figure: '5.2',
    hpts: { mean: 631, deviation: 237 },
    heft: { mean: 1382, deviation: 1104.4 },
    alone: 1484,
  },
  {
    cluster: 'C1',
    table: '5.7',
    figure: '5.3',
    hpts: { mean: 1066, deviation: 253.3 },
    heft: { mean: 1666, deviation: 968.6 },
    alone: 1713,
  },
  {
    cluster: 'C2',
    table: '5.7',
    figure: '5.4',
    hpts: { mean: 746, deviation: 214.8 },
    heft: { mean: 1564, deviation: 1027.3 },
    alone: 1484,
  },
  {
    cluster: 'C3',
    table: '5.8',
    figure: '5.5',
    hpts: { mean: 932, deviation: 54.4 },
    heft: { mean: 1138, deviation: 426.1 },
    alone: 3355,
  },
  {
    cluster: 'C4',
    table: '5.8',
    figure: '5.6',
    hpts: { mean: 747, deviation: 347 },
    heft: { mean: 1005, deviation: 528 },
    alone: 2164,
  },
];
