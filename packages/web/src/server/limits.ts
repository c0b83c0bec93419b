/** Most bytes of a request: a large workflow, a CSV, files that were dropped. */
export const bodyBytesMax = 32 * 1024 * 1024;
/** Streams of events at once; a page has one. */
export const streamsMax = 64;
/** What may wait to be sent on a stream before newer levels replace older ones instead of queueing. */
export const streamBacklogBytes = 1024 * 1024;
/** Connections at once, from all clients; those beyond are closed as they come. A browser has a few for each page. */
export const connectionsMax = 512;
/** The connection of a request whose head takes longer is closed, in milliseconds. */
export const headersMs = 10_000;
/** How often connections that are late with a head or a body are looked for, in milliseconds. */
export const lateCheckMs = 1000;
