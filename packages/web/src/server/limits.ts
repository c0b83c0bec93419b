/** Most bytes of a request: a large workflow, a CSV, files that were dropped. */
export const bodyBytesMax = 32 * 1024 * 1024;
/** Streams of events at once; a page has one. */
export const streamsMax = 64;
/** What may wait to be sent on a stream before newer levels replace older ones instead of queueing. */
export const streamBacklogBytes = 1024 * 1024;
/** Connections at once, whoever makes them; those beyond are closed as they come. A browser has a few for each page. */
export const connectionsMax = 512;
/** Within so many milliseconds the head of a request is there, or its connection is closed. */
export const headersMs = 10_000;
/** Connections that are late with a head or a body are looked for each so many milliseconds. */
export const lateCheckMs = 1000;
