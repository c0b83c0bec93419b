import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { EnrolledMachine } from '@mutirao/core/messages';
import type { ProviderId } from '@mutirao/core/shared';
import { killProcess, startProcess, Watchdog } from '@mutirao/runtime/processes';
import { agentOptions, getLastWords } from './agent-options.ts';
import type { MachineLife } from './enrolled-machines.ts';

/** What agents need to find their provider. */
export interface AgentPlace {
  readonly providerId: ProviderId;
  /** Where the provider listens for agents, as a process of this host reaches it. */
  readonly address: string;
  /** Invites a machine and answers the one-time secret for its agent. */
  invite(name: string): string;
  /** The authority of a provider that speaks TLS; empty for one on loopback. */
  readonly authority: string;
}

/** What driving machines by templates needs. */
export interface TemplateLifeOptions extends AgentPlace {
  /** The agent's program and its first arguments. */
  readonly agentCommand: readonly string[];
  /** Home folder of the agents. */
  readonly home: string;
  /** Where their logs go. */
  readonly logFolder: string;
}

/** Has an agent of this host drive a machine by its templates. It ends with this process, however that ends. */
export class TemplateLife implements MachineLife {
  readonly #options: TemplateLifeOptions;
  readonly #watchdog = new Watchdog();

  constructor(options: TemplateLifeOptions) {
    this.#options = options;
    mkdirSync(options.logFolder, { recursive: true, mode: 0o700 });
  }

  async run(machine: EnrolledMachine, ending: AbortSignal): Promise<string> {
    const { reach, folder, name } = machine;
    if (reach.kind !== 'templates')
      throw new MutiraoError('MUT_BAD_CONFIG', `machine ${name} is reached by ${reach.kind}; expected templates`);
    const {
      agentCommand: [command = '', ...first],
      home,
      logFolder,
      providerId,
      address,
      authority,
    } = this.#options;
    const log = join(logFolder, `${name}.log`);
    rmSync(log, { force: true });
    const ended = Promise.withResolvers<number>();
    const { pid } = startProcess({
      // By standard input: arguments and the environment can be read by what runs under our account.
      command,
      input: `${this.#options.invite(name)}\n`,
      stderr: { kind: 'file', path: log },
      env: { ...process.env, ...(authority === '' ? {} : { MUTIRAO_CA: authority }) },
      args: [
        ...first,
        '--home',
        home,
        '--provider',
        address,
        '--invitation',
        '-',
        ...agentOptions(providerId, machine),
        ...(folder === '' ? [] : ['--remote-folder', folder]),
        '--machine',
        reach.machine,
        '--rem-exec',
        reach.remExec,
        '--copy-to',
        reach.copyTo,
        '--copy-from',
        reach.copyFrom,
      ],
      onExit: ({ status, startError }) => {
        ended.resolve(startError === '' ? status : 126);
      },
    });
    if (pid === undefined) throw new MutiraoError('MUT_LAUNCH_FAILED', `the agent ${command} cannot be started`);
    this.#watchdog.guard(pid);
    const onEnding = (): void => {
      killProcess(pid, 'SIGTERM');
    };
    ending.addEventListener('abort', onEnding);
    if (ending.aborted) onEnding();
    const status = await ended.promise;
    ending.removeEventListener('abort', onEnding);
    this.#watchdog.release(pid);
    return `the agent ended with status ${status}: ${getLastWords(readFileSync(log, 'utf8'))}`;
  }

  /** After all agents have ended. */
  close(): void {
    this.#watchdog.close();
  }
}
