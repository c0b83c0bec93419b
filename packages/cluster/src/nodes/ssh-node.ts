import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MutiraoError } from '@mutirao/api/errors';
import { describeError, type Duration } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import { quoteWord, renderAssignments } from '@mutirao/runtime/processes';
import { lastWords, quoteLastWords, SshConnection } from '@mutirao/runtime/ssh';
import type { ExitFacts } from '../request-runner.ts';
import { signalScript, startScript, sweepScript, watchScript } from './node-scripts.ts';
import type { NodeConfig } from './parse-node.ts';

/** What a node needs. */
export interface SshNodeOptions {
  readonly config: NodeConfig;
  /** Name of the cluster, in whose folder the node has one of its own. */
  readonly cluster: string;
  /** Of every connection. */
  readonly sshOptions: readonly string[];
  readonly controlFolder: string;
  readonly log: Logger;
  /** A process ended. */
  onExit(key: string, status: number, more?: ExitFacts): void;
  /** It takes processes from now on, or none any more. */
  onChange(): void;
  /** The node is gone, and with it all that runs there. */
  onLost(error: unknown): void;
}

/** A process to be started on a node. */
export interface NodeProcess {
  /** No other process of the cluster has it; a file's name. */
  readonly key: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The login's home when empty. */
  readonly workingDirectory: string;
}

const pauseMin: Duration = 1000;
const pauseMax: Duration = 60_000;

/** A host that gives processors, reached over one ssh connection, which is made again when it breaks. */
export class SshNode {
  readonly #options: SshNodeOptions;
  readonly #ending = new AbortController();
  #connection: SshConnection | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(options: SshNodeOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.config.name;
  }

  get processors(): number {
    return this.#options.config.processors;
  }

  /** Whether it takes processes. */
  get isUp(): boolean {
    return this.#connection?.isOpen === true;
  }

  /** Of its own also where hosts share the login's home. */
  get #folder(): string {
    return `${this.#options.cluster}/${this.name}`;
  }

  /** Begins to connect; resolves at the first success or failure. */
  async open(): Promise<void> {
    const tried = Promise.withResolvers<undefined>();
    this.#work = this.#keep(tried.resolve);
    await tried.promise;
  }

  /** Starts a process. @throws {MutiraoError} MUT_NODE_LOST, or MUT_LAUNCH_FAILED with what the node said. */
  async start({ key, command, environment, workingDirectory }: NodeProcess): Promise<void> {
    const folder = workingDirectory === '' ? '"${HOME:-/}"' : quoteWord(workingDirectory);
    const words = command.map(quoteWord).join(' ');
    // Credentials are in the environment: arguments can be seen by everybody.
    const input = `export ${renderAssignments(environment)} mutirao_folder=${folder}\nset -- ${words}\n`;
    const { status, stderr } = await this.#run(startScript(this.#folder, key), input);
    if (status !== 0)
      throw new MutiraoError('MUT_LAUNCH_FAILED', `node ${this.name}: ${lastWords(stderr) || `status ${status}`}`);
  }

  /** Signals a process and all of its group; nothing on a node that is gone. */
  async signal(key: string, name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.isUp) await this.#run(signalScript(this.#folder, key, name)).catch(() => undefined);
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#connection?.close();
    await this.#work;
  }

  /** Connects again and again until `close`. Never rejects. */
  async #keep(onTried: (value: undefined) => void): Promise<void> {
    const { log } = this.#options;
    for (let pause = pauseMin; !this.#ending.signal.aborted; pause = Math.min(2 * pause, pauseMax)) {
      const wasUp = await this.#live(onTried).catch((error: unknown) => {
        onTried(undefined);
        if (this.#ending.signal.aborted) return false;
        const hadConnection = this.#connection !== undefined;
        this.#connection?.close();
        this.#connection = undefined;
        log.warn(
          { node: this.name, reason: describeError(error), retry_ms: pause },
          hadConnection ? 'lost a node' : 'cannot reach a node',
        );
        this.#options.onChange();
        if (hadConnection) this.#options.onLost(error);
        return hadConnection;
      });
      if (wasUp) pause = pauseMin;
      await delay(pause, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }

  /** One connection: ends what still runs there, then reports ends. @throws {MutiraoError} when it is over. */
  async #live(onTried: (value: undefined) => void): Promise<never> {
    const { config, sshOptions, controlFolder, log, onExit, onChange } = this.#options;
    const token = randomBytes(8).toString('hex');
    const connection = await SshConnection.open({
      destination: config.destination,
      options: sshOptions,
      controlFolder,
      signal: this.#ending.signal,
    });
    const swept = await connection
      .run(['/bin/sh', '-c', ...sweepScript(this.#folder, token)])
      .catch((error: unknown) => {
        connection.close();
        throw error;
      });
    if (swept.status !== 0) {
      connection.close();
      throw new MutiraoError('MUT_LAUNCH_FAILED', `node ${this.name}: ${quoteLastWords(swept.stderr)}`);
    }
    this.#connection = connection;
    connection.onClosed(() => {
      onChange();
    });
    onChange();
    log.info({ node: this.name, processors: config.processors }, 'node is reachable');
    onTried(undefined);
    for (;;) {
      const { status, stdout, stderr } = await this.#run(watchScript(this.#folder, token));
      if (status !== 0)
        throw new MutiraoError('MUT_NODE_LOST', `node ${this.name} cannot be watched: ${quoteLastWords(stderr)}`);
      for (const [, key = '', exit, words = ''] of stdout.matchAll(/^(\S+) (\d+)(?: (.*))?$/gm)) {
        if (words.trim() !== '')
          log.info(
            { node: this.name, process: key, status: Number(exit), words: words.trim() },
            'a process ended with a status other than 0',
          );
        if (words.trim() === '') onExit(key, Number(exit));
        else onExit(key, Number(exit), { words: words.trim() });
      }
    }
  }

  #run(script: readonly string[], input = ''): ReturnType<SshConnection['run']> {
    if (this.#connection === undefined)
      return Promise.reject(new MutiraoError('MUT_NODE_LOST', `node ${this.name} is not connected`));
    return this.#connection.run(['/bin/sh', '-c', ...script], { input });
  }
}
