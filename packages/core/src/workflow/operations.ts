import type { Bytes } from '../shared/index.ts';

/**
 * An operation of linear algebra: triangular factorisation, the matrix Q, QR iteration, correlation; and the product of
 * two square matrices.
 */
export type Operation = 'TRD' | 'Q' | 'QR' | 'C' | 'MM';

/** All operations. */
export const operations: readonly Operation[] = ['TRD', 'Q', 'QR', 'C', 'MM'];

/**
 * Computation and communication of each, as multiples of TRD's. @source moreira2009, Tabela 5.5; MM from 3.2.2.1 (2 n^3
 * operations, n^2 elements in each step).
 */
const relative: Readonly<Record<Operation, { readonly computation: number; readonly communication: number }>> = {
  TRD: { computation: 1, communication: 1 },
  Q: { computation: 0.82, communication: 0.125 },
  QR: { computation: 2, communication: 0.25 },
  C: { computation: 3, communication: 0.5 },
  MM: { computation: 1.5, communication: 1 },
};

/**
 * Work and exchange of an operation on a matrix of n x n.
 *
 * @returns `work` in Mflop, `exchange` in bytes.
 * @source moreira2009, Tabela 5.5. Departs from the source: it prints no cost function but the product's; TRD is taken
 * as 4/3 n^3, the usual count for a reduction to tridiagonal
 * form, and as exchanging n^2 numbers of 8 bytes in each step, the others in proportion.
 */
export function operationCost(
  operation: Operation,
  dimension: number,
): { readonly work: number; readonly exchange: Bytes } {
  const { computation, communication } = relative[operation];
  const square = dimension * dimension;
  return { work: (computation * 4 * square * dimension) / 3e6, exchange: communication * 8 * square };
}
