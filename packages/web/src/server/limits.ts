/** Most bytes of a request: a large workflow, a CSV, files that were dropped. */
export const bodyBytesMax = 32 * 1024 * 1024;
/** Streams of events at once; a page has one. */
export const streamsMax = 64;
/** What may wait to be sent on a stream before newer levels replace older ones instead of queueing. */
export const streamBacklogBytes = 1024 * 1024;
