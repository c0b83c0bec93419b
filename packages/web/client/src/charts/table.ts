/** What a chart shows, in words: for those who do not see it, and for who wants the numbers. */
export interface ChartTable {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
