/** A mean and how far it may be off. */
export interface Summary {
  readonly count: number;
  /** 0 without values. */
  readonly mean: number;
  /** Half of the 95 % confidence interval of the mean, by Student's t; Infinity below two values. */
  readonly halfInterval: number;
}

/** Sums up independent values. Cost: linear. */
export function summarize(values: readonly number[]): Summary {
  const count = values.length;
  const mean = count === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { count, mean, halfInterval: Infinity };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { count, mean, halfInterval: studentQuantile(count - 1) * Math.sqrt(squares / (count - 1) / count) };
}

/** The 97.5 % quantile of Student's t with `freedom` degrees of freedom, 1 or more; within 0.1 % beyond the table. */
export function studentQuantile(freedom: number): number {
  return table[freedom - 1] ?? 1.959964 + 2.3723 / freedom + 2.82 / freedom ** 2;
}

/** A share, in percent, with its 95 % interval of Wilson. @param total 1 or more */
export function shareWithInterval(count: number, total: number): string {
  const [share, z] = [count / total, 1.96];
  const middle = (share + (z * z) / (2 * total)) / (1 + (z * z) / total);
  const half = (z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total))) / (1 + (z * z) / total);
  return (
    `${(100 * share).toFixed(1)} % (${(100 * (middle - half)).toFixed(1)} to ` +
    `${(100 * (middle + half)).toFixed(1)})`
  );
}

const table = [
  12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281, 2.201, 2.1788, 2.1604, 2.1448, 2.1314,
  2.1199, 2.1098, 2.1009, 2.093, 2.086,
];
