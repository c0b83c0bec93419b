const ln2 = 0.6931471805599453;

/**
 * The natural logarithm, from additions, multiplications and divisions alone, so that it is the same everywhere.
 *
 * The series of ln((1 + z) / (1 - z)) with |z| at most 1/5; the error is below 1e-9. Cost: O(log of the argument).
 *
 * @param value more than 0.
 */
export function logarithm(value: number): number {
  let mantissa = value;
  let doublings = 0;
  while (mantissa >= 65_536) {
    mantissa /= 65_536;
    doublings += 16;
  }
  while (mantissa >= 1.5) {
    mantissa /= 2;
    doublings += 1;
  }
  while (mantissa < 0.75) {
    mantissa *= 2;
    doublings -= 1;
  }
  const z = (mantissa - 1) / (mantissa + 1);
  const square = z * z;
  return (
    doublings * ln2 +
    2 * z * (1 + square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square * (1 / 11))))))
  );
}
