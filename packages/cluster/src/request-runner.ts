import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterCommand } from '@mutirao/core/machines/cluster';
import type { Logger } from '@mutirao/runtime/log';
import { killGroup, startProcess, Watchdog } from '@mutirao/runtime/processes';
import { grantVariables } from './nodes/grant-variables.ts';
import { readLastWords } from './last-words.ts';

type StartProcesses = Extract<ClusterCommand, { kind: 'StartProcesses' }>;

/** Runs the commands of requests. */
export interface Runner {
  /**
   * Starts a request's command once per processor or grant. Never throws: what could not be started is reported as its
   * exit.
   */
  start(request: StartProcesses): void;
  /** Asks a request's processes to end; after a grace those that are left are killed. */
  kill(requestId: number): void;
  /** Ends everything; resolves when nothing is left. */
  stop(): Promise<void>;
}

/** What the runner needs. */
export interface RequestRunnerOptions {
  /** Where the output of requests goes: `<request>.<process>.out`. Made if absent. */
  readonly outputDirectory: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** Number of the first processor of each node that is a part of this host; left out without nodes. */
  readonly firstProcessors?: readonly number[];
  readonly log: Logger;
  /** Called once for each process of each StartProcesses, also when it could not be started. */
  onExit(requestId: number, processIndex: number, exitStatus: number, more?: ExitFacts): void;
}

/** What else is known of the end of a process. */
export interface ExitFacts {
  /** Why it is over where that is not its own doing. */
  readonly reason?: string;
  /** What it wrote last, where it failed. */
  readonly words?: string;
}

/** Status of a process that could not be started for a reason other than its command. */
const unstartableStatus = 126;

/**
 * Runs the commands of requests, each process as the leader of a group of its own, so that all it starts ends with it.
 *
 * A watchdog ends them all when this process dies, however it dies.
 */
export class RequestRunner implements Runner {
  readonly #options: RequestRunnerOptions;
  readonly #watchdog = new Watchdog();
  /** Groups that live, by request. */
  readonly #groups = new Map<number, Set<number>>();
  readonly #killTimers = new Map<number, NodeJS.Timeout>();

  constructor(options: RequestRunnerOptions) {
    this.#options = options;
    mkdirSync(options.outputDirectory, { recursive: true, mode: 0o700 });
  }

  /** Starts a request's command once per processor. Never throws: what could not be started is reported as its exit. */
  start(request: StartProcesses): void {
    const groups = new Set<number>();
    this.#groups.set(request.requestId, groups);
    for (let index = 0; index < countProcesses(request); index += 1) this.#startOne(request, index);
    if (groups.size === 0) this.#groups.delete(request.requestId);
  }

  /** Asks a request's processes to end; after the grace those that are left are killed. */
  kill(requestId: number): void {
    this.#signal(requestId, 'SIGTERM');
    if (!this.#groups.has(requestId) || this.#killTimers.has(requestId)) return;
    this.#killTimers.set(
      requestId,
      setTimeout(() => {
        this.#signal(requestId, 'SIGKILL');
      }, this.#options.killGraceMs),
    );
  }

  /** Ends everything; resolves when nothing is left. */
  async stop(): Promise<void> {
    for (const requestId of [...this.#groups.keys()]) this.kill(requestId);
    while (this.#groups.size > 0)
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    this.#watchdog.close();
  }

  #startOne(request: StartProcesses, index: number): void {
    const { requestId } = request;
    const output = { kind: 'file', path: join(this.#options.outputDirectory, `${requestId}.${index}.out`) } as const;
    const [command = '', ...args] = request.command;
    let group: number | undefined;
    try {
      group = startProcess({
        command,
        args,
        env: { ...this.#getEnvironment(request, index), ...this.#watchdog.environment },
        detached: true,
        stdout: output,
        stderr: output,
        cwd: request.workingDirectory === '' ? this.#options.outputDirectory : request.workingDirectory,
        onExit: ({ status, startError }) => {
          if (startError !== '')
            this.#options.log.warn(
              { request: requestId, index, command, reason: startError },
              'cannot start a process',
            );
          this.#end(requestId, group);
          const words = startError === '' ? readLastWords(output.path) : startError;
          this.#options.onExit(requestId, index, status, status === 0 || words === undefined ? {} : { words });
        },
      }).pid;
    } catch (error) {
      this.#options.log.warn({ request: requestId, index, command, err: error }, 'cannot start a process');
      this.#options.onExit(requestId, index, unstartableStatus);
    }
    if (group === undefined) return;
    this.#watchdog.guard(group);
    this.#groups.get(requestId)?.add(group);
  }

  #getEnvironment(request: StartProcesses, index: number): Record<string, string | undefined> {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('MUTIRAO_CLUSTER_'));
    const grant = request.grants?.[index];
    return {
      ...Object.fromEntries(own),
      ...request.environment,
      MUTIRAO_REQUEST_ID: String(request.requestId),
      MUTIRAO_PROCESS_INDEX: String(index),
      // All processors are of this host, and each, or each node, stands for a machine.
      MUTIRAO_MACHINE_SLOT: grant === undefined ? String(index) : grant.nodeName,
      MUTIRAO_PROCESS_COUNT: String(countProcesses(request)),
      MUTIRAO_WALLTIME_END_UNIX_MS: String(request.walltimeEnd),
      ...grantVariables(grant, this.#options.firstProcessors?.[grant?.node ?? 0]),
    };
  }

  /** Of what a process leaves behind in its group nothing lives on. */
  #end(requestId: number, group: number | undefined): void {
    const groups = this.#groups.get(requestId);
    if (group !== undefined) {
      killGroup(group, 'SIGKILL');
      this.#watchdog.release(group);
      groups?.delete(group);
    }
    if (groups === undefined || groups.size > 0) return;
    clearTimeout(this.#killTimers.get(requestId));
    this.#killTimers.delete(requestId);
    this.#groups.delete(requestId);
  }

  #signal(requestId: number, signal: 'SIGTERM' | 'SIGKILL'): void {
    for (const group of this.#groups.get(requestId) ?? []) killGroup(group, signal);
  }
}

/** How many processes a request has. */
export function countProcesses({ width, grants }: StartProcesses): number {
  return grants?.length ?? width;
}
