import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { isErrorCode, MutiraoError } from '@mutirao/api/errors';
import { prepareHome, removeTree, siteFolder } from '@mutirao/runtime/files';
import { ownProgram, startProcess } from '@mutirao/runtime/processes';

import type { CommandContext } from '../context.ts';
import { logPath } from '../grid/log-path.ts';
import { quoteEnd } from '../grid/start-failure.ts';
import { isOurs } from '../grid/record.ts';
import { findSite, findState, readSites, type SiteState } from './site-record.ts';

const pollMs = 50;
const endMax = 10_000;

type Surroundings = Pick<CommandContext, 'home' | 'clock' | 'sleep' | 'signal'>;

/** The process that keeps a site's connection; undefined when there is none. */
export function findConnector(home: string, name: string): number | undefined {
  const pid = findState(home, name)?.pid;
  return pid !== undefined && isOurs(pid, `run\0site\0${name}\0`) ? pid : undefined;
}

/** Starts the process that keeps a site's connection, in a session of its own; one that runs already is left alone. */
export function startConnector(home: string, name: string, options: readonly string[] = []): number {
  const running = findConnector(home, name);
  if (running !== undefined) return running;
  const log = logPath(home, `site-${name}`);
  prepareHome(home);
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const [command, ...own] = ownProgram('site');
  const { pid } = startProcess({
    command,
    args: [...own, name, '--home', home, ...options],
    env: { ...process.env, MUTIRAO_HOME: home },
    stdout: { kind: 'file', path: log },
    stderr: { kind: 'file', path: log },
    onExit: () => undefined,
  });
  if (pid === undefined) throw new MutiraoError('MUT_UNREACHABLE', `cannot start ${command}`);
  return pid;
}

/** Starts the connectors of all sites that have none. @returns their names. */
export function startConnectors(home: string): string[] {
  const names = readSites(home)
    .filter(({ isSynced, name }) => isSynced && findConnector(home, name) === undefined)
    .map(({ name }) => name);
  for (const name of names) startConnector(home, name);
  return names;
}

/** Ends the process that keeps a site's connection, and the connection with it. What runs at the site goes on. */
export async function stopConnector({ home, clock, sleep }: Surroundings, name: string): Promise<void> {
  const pid = findConnector(home, name);
  if (pid === undefined) return;
  process.kill(pid, 'SIGTERM');
  const until = clock.now() + endMax;
  while (findConnector(home, name) === pid && clock.now() < until) await sleep(pollMs);
  if (findConnector(home, name) === pid) process.kill(pid, 'SIGKILL');
}

/** Ends all connections to sites. What runs there goes on. */
export async function stopConnectors(surroundings: Surroundings): Promise<void> {
  await Promise.all(readSites(surroundings.home).map(({ name }) => stopConnector(surroundings, name)));
}

/**
 * Waits until a site is connected.
 *
 * @param onState called at each change. @throws {MutiraoError} the error of its connector when it gave up, or when it is
 * interrupted.
 */
export async function untilConnected(
  { home, sleep, signal }: Surroundings,
  { name, pid }: { name: string; pid: number },
  onState: (state: SiteState) => void,
): Promise<SiteState> {
  let last = '';
  let isGone = false;
  const log = logPath(home, `site-${name}`);
  for (;;) {
    const state = findState(home, name);
    if (state !== undefined && state.pid === pid) {
      if (`${state.status} ${state.detail}` !== last) onState(state);
      last = `${state.status} ${state.detail}`;
      if (state.status === 'connected') return state;
      if (state.status === 'failed')
        throw new MutiraoError(isErrorCode(state.code) ? state.code : 'MUT_UNREACHABLE', state.detail);
    }
    if (isGone)
      throw new MutiraoError(
        'MUT_INTERNAL',
        `the connector of ${name} ended without an error; its log is ${log}, ${quoteEnd(log)}`,
      );
    if (signal.aborted) throw new MutiraoError('MUT_CANCELLED', 'interrupted');
    // It may have reported why and ended since its state was read, so that is read once more.
    isGone = !isOurs(pid, 'site');
    await sleep(pollMs);
  }
}

/** Forgets a site. */
export function forgetSite(home: string, name: string): void {
  const [, socket] = /^unix:(.+)$/.exec(findSite(home, name)?.address ?? '') ?? [];
  if (socket !== undefined) removeTree(dirname(socket));
  removeTree(siteFolder(home, name));
  rmSync(join(home, 'logs', `site-${name}.log`), { force: true });
}
