/** Where every host has the programs that we start. */
const standard = ['/usr/bin', '/bin'];

/**
 * Adds the standard folders to a search path that lacks them, behind its own: without them neither we nor the shells of
 * tasks find `mkfifo` or `cat`. One that is not set is left to the system's default.
 */
export function completeSearchPath(environment: Record<string, string | undefined>): void {
  const { PATH: own } = environment;
  if (own === undefined) return;
  const missing = standard.filter((folder) => !own.split(':').includes(folder));
  if (missing.length > 0) environment['PATH'] = [own, ...missing].filter((part) => part !== '').join(':');
}
