import { MutiraoError } from '@mutirao/api/errors';
import type { ClusterCommand } from '@mutirao/core/machines/cluster';
import type { Duration } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import { countProcesses, type ExitFacts, type Runner } from '../request-runner.ts';
import { grantVariables } from './grant-variables.ts';
import type { NodeProcess } from './ssh-node.ts';

type StartProcesses = Extract<ClusterCommand, { kind: 'StartProcesses' }>;

/** A node, as the runner uses it. */
export interface RunnerNode {
  readonly name: string;
  readonly processors: number;
  readonly isUp: boolean;
  start(process: NodeProcess): Promise<void>;
  signal(key: string, name: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  close(): Promise<void>;
}

/** What running requests on nodes needs. */
export interface NodeRunnerOptions {
  readonly nodes: readonly RunnerNode[];
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: Duration;
  readonly log: Logger;
  /** Called once for each process. */
  onExit(requestId: number, processIndex: number, exitStatus: number, more?: ExitFacts): void;
  /** Called when other nodes are away: how many processors they have, and their positions. */
  onAway(count: number, nodes: readonly number[]): void;
}

interface Placed {
  readonly key: string;
  readonly requestId: number;
  readonly index: number;
  readonly node: RunnerNode;
  /** Resolves when it is there to be signalled. */
  readonly started: Promise<void>;
}

/** Status of a process that no node could take, or whose node is gone. */
const lostStatus = 255;
const unstartableStatus = 126;

/**
 * Runs the commands of requests on nodes of other hosts: as many processes on a node as it has processors, nodes in
 * their order.
 */
export class NodeRunner implements Runner {
  readonly #options: NodeRunnerOptions;
  /** By key; those that have not ended. */
  readonly #placed = new Map<string, Placed>();
  readonly #killTimers = new Map<number, NodeJS.Timeout>();
  #reportedAway: readonly number[] = [];

  constructor(options: NodeRunnerOptions) {
    this.#options = options;
  }

  /** Processors of nodes that are away. */
  get processorsAway(): number {
    return this.#options.nodes.reduce((sum, { isUp, processors }) => (isUp ? sum : sum + processors), 0);
  }

  /** Positions of nodes that are away, ascending. */
  get nodesAway(): readonly number[] {
    return this.#options.nodes.flatMap(({ isUp }, index) => (isUp ? [] : [index]));
  }

  /**
   * Reports that a node has come or gone. Called before the processes that ran there are reported as lost, so that
   * nothing else is started in their place.
   */
  noteNodes(): void {
    const nodes = this.nodesAway;
    if (nodes.join(' ') === this.#reportedAway.join(' ')) return;
    this.#reportedAway = nodes;
    this.#options.onAway(this.processorsAway, nodes);
  }

  start(request: StartProcesses): void {
    for (let index = 0; index < countProcesses(request); index += 1) this.#startOne(request, index);
  }

  kill(requestId: number): void {
    this.#signal(requestId, 'SIGTERM');
    if (this.#of(requestId).length === 0 || this.#killTimers.has(requestId)) return;
    this.#killTimers.set(
      requestId,
      setTimeout(() => {
        this.#signal(requestId, 'SIGKILL');
      }, this.#options.killGraceMs),
    );
  }

  async stop(): Promise<void> {
    for (const requestId of new Set([...this.#placed.values()].map((placed) => placed.requestId))) this.kill(requestId);
    const until = performance.now() + this.#options.killGraceMs + 3000;
    while (this.#placed.size > 0 && performance.now() < until)
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    for (const timer of this.#killTimers.values()) clearTimeout(timer);
    await Promise.all(this.#options.nodes.map((node) => node.close()));
  }

  /** A process ended on its node; one that is not known is of a former life. */
  noteExit(key: string, status: number, more?: ExitFacts): void {
    const placed = this.#placed.get(key);
    if (placed === undefined) return;
    this.#placed.delete(key);
    const { requestId, index } = placed;
    if (this.#of(requestId).length === 0) {
      clearTimeout(this.#killTimers.get(requestId));
      this.#killTimers.delete(requestId);
    }
    if (more === undefined) this.#options.onExit(requestId, index, status);
    else this.#options.onExit(requestId, index, status, more);
  }

  /** A node is gone: all that ran there is over. */
  noteLost(name: string): void {
    for (const placed of [...this.#placed.values()])
      if (placed.node.name === name) this.noteExit(placed.key, lostStatus, { reason: 'MUT_NODE_LOST' });
  }

  #startOne(request: StartProcesses, index: number): void {
    const { requestId, command, workingDirectory, walltimeEnd, grants } = request;
    const grant = grants?.[index];
    const node = grant === undefined ? this.#findFree() : this.#findGranted(grant.node);
    if (node === undefined) {
      this.#options.log.warn({ request: requestId, index }, 'no reachable node has a free processor for a process');
      this.#options.onExit(requestId, index, lostStatus, { reason: 'MUT_NODE_LOST' });
      return;
    }
    const key = `${requestId}.${index}`;
    const environment = {
      ...request.environment,
      MUTIRAO_REQUEST_ID: String(requestId),
      MUTIRAO_PROCESS_INDEX: String(index),
      MUTIRAO_PROCESS_COUNT: String(countProcesses(request)),
      MUTIRAO_WALLTIME_END_UNIX_MS: String(walltimeEnd),
      MUTIRAO_NODE: node.name,
      ...grantVariables(grant),
    };
    const started = node.start({ key, command, workingDirectory, environment }).catch((error: unknown) => {
      this.#options.log.warn({ request: requestId, index, node: node.name, err: error }, 'cannot start a process');
      // Any other trouble is the connection's, which breaks before it is noticed that the node is gone.
      if (error instanceof MutiraoError && error.code === 'MUT_LAUNCH_FAILED') this.noteExit(key, unstartableStatus);
      else this.noteExit(key, lostStatus, { reason: 'MUT_NODE_LOST' });
    });
    this.#placed.set(key, { key, requestId, index, node, started });
  }

  #findFree(): RunnerNode | undefined {
    return this.#options.nodes.find((node) => node.isUp && this.#countOn(node) < node.processors);
  }

  #findGranted(index: number): RunnerNode | undefined {
    const node = this.#options.nodes[index];
    return node?.isUp === true ? node : undefined;
  }

  #countOn(node: RunnerNode): number {
    let count = 0;
    for (const placed of this.#placed.values()) if (placed.node === node) count += 1;
    return count;
  }

  #of(requestId: number): Placed[] {
    return [...this.#placed.values()].filter((placed) => placed.requestId === requestId);
  }

  #signal(requestId: number, name: 'SIGTERM' | 'SIGKILL'): void {
    for (const { node, key, started } of this.#of(requestId)) void started.then(() => node.signal(key, name));
  }
}
