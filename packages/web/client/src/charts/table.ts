/** The content of a chart in words, for screen readers and for readers of the numbers. */
export interface ChartTable {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
