// The core knows nothing of the process that it runs in.
export const id: unknown = process.pid;
