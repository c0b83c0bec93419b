/** A moment: whole milliseconds since the Unix epoch. */
export type Instant = number;

/** A span of time in whole milliseconds, 0 or more unless said otherwise. */
export type Duration = number;

/** A whole number of processors, 0 or more. */
export type ProcessorCount = number;

/** Processors times milliseconds. */
export type ProcessorMillis = number;

/** A size in bytes. */
export type Bytes = number;
