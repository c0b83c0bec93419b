import { MutiraoError } from '@mutirao/api/errors';
import type { EnrolledMachine } from '@mutirao/core/messages';
import type { Duration } from '@mutirao/core/shared';
import { parseAddress, socketAddress } from '@mutirao/runtime/rpc';
import { SshConnection } from '@mutirao/runtime/ssh';
import { agentOptions, getLastWords } from './agent-options.ts';
import type { MachineLife } from './enrolled-machines.ts';
import { endScript, findScript, socketDoor, startScript, waitScript } from './ssh-scripts.ts';
import type { AgentPlace } from './template-life.ts';

/** What agents on machines that are reached over ssh need. */
export interface SshLifeOptions extends AgentPlace {
  /** Where sockets of connections go. */
  readonly controlFolder: string;
  /** Brings our program to the other host, where it is not yet, and returns how to run it there. */
  carry(connection: SshConnection): Promise<readonly string[]>;
}

const endPatience: Duration = 8_000;
const longest: Duration = 2 ** 31 - 1;

/**
 * Has an agent work on another host, which reaches us through the connection that started it, by a socket in the
 * agent's own folder.
 *
 * The agent does not end with the connection: it goes on with what it has and dials the same socket until we are back,
 * as long as its orphan timeout lets it.
 */
export class SshLife implements MachineLife {
  readonly #options: SshLifeOptions;

  constructor(options: SshLifeOptions) {
    this.#options = options;
  }

  async run(machine: EnrolledMachine, ending: AbortSignal): Promise<string> {
    const { reach } = machine;
    if (reach.kind !== 'ssh')
      throw new MutiraoError('MUT_BAD_CONFIG', `machine ${machine.name} is reached by ${reach.kind}; expected ssh`);
    if (ending.aborted) return '';
    const given = new AbortController();
    const giveUp = (): void => {
      given.abort();
    };
    ending.addEventListener('abort', giveUp, { once: true });
    const connection = await SshConnection.open({
      destination: reach.destination,
      options: reach.options,
      controlFolder: this.#options.controlFolder,
      signal: given.signal,
    });
    // From here on there is something to end first.
    ending.removeEventListener('abort', giveUp);
    try {
      return await this.#work(connection, machine, ending);
    } finally {
      connection.close();
    }
  }

  async #work(connection: SshConnection, machine: EnrolledMachine, ending: AbortSignal): Promise<string> {
    const folder = getFolder(this.#options.providerId, machine);
    const over = Promise.withResolvers<string>();
    const isLost = Promise.withResolvers<string>();
    connection.onClosed((error) => {
      isLost.resolve(`${error.code} ${error.message}`);
    });
    const onEnding = (): void => {
      endAgent(connection, folder, ending.reason === 'remove').then(over.resolve, (error: unknown) => {
        over.resolve(String(error));
      });
    };
    const pid = await this.#findOrStart(connection, machine, folder);
    ending.addEventListener('abort', onEnding, { once: true });
    if (ending.aborted) onEnding();
    const waiting = run(connection, waitScript(folder, pid), { deadlineMs: longest }).then(
      ({ stdout }) => `the agent there has ended: ${getLastWords(stdout)}`,
    );
    waiting.catch(() => undefined);
    const ended = await Promise.race([waiting, over.promise, isLost.promise]);
    ending.removeEventListener('abort', onEnding);
    return ending.aborted ? over.promise : ended;
  }

  /** The agent that is still there, led to us again; or another one. */
  async #findOrStart(connection: SshConnection, machine: EnrolledMachine, folder: string): Promise<string> {
    const { address, authority } = this.#options;
    const found = await getAnswer(connection, findScript(folder));
    const [, place = '', pid, door] = /^(\/.*?)(?: alive (\d+) (\S+))?$/.exec(found) ?? [];
    const socket = `${place}/provider`;
    await connection.forwardBack(address, socketAddress(socket));
    if (pid !== undefined && door === socketDoor) return pid;
    // What a former release started dials a port there, which others could take while we are away.
    if (pid !== undefined) await endAgent(connection, folder, false);
    const { program: given } = machine.reach as Extract<EnrolledMachine['reach'], { kind: 'ssh' }>;
    const program = given.length > 0 ? given : await this.#options.carry(connection);
    const provider = socketAddress(socket, parseAddress(address).isTls);
    const command = [
      ...program,
      'run',
      'agent',
      '--home',
      '.',
      '--provider',
      provider,
      '--invitation',
      '-',
      ...agentOptions(this.#options.providerId, machine),
    ];
    return getAnswer(
      connection,
      startScript({ folder, command }),
      `${this.#options.invite(machine.name)}\n${authority}\n`,
    );
  }
}

/** Where the agent's files are on its host. */
function getFolder(providerId: string, { name, folder }: EnrolledMachine): string {
  const own = `${providerId}-${name}`.replaceAll(/[^\w.@-]/g, '_');
  return folder === '' ? `.mutirao/machines/${own}` : `${folder.replace(/(?<=.)\/+$/, '')}/mutirao-${own}`;
}

async function endAgent(connection: SshConnection, folder: string, removes: boolean): Promise<string> {
  await run(connection, endScript(folder, removes), { deadlineMs: endPatience });
  return 'it was ended';
}

function run(
  connection: SshConnection,
  script: readonly string[],
  options: { readonly input?: string; readonly deadlineMs?: number } = {},
): ReturnType<SshConnection['run']> {
  return connection.run(['/bin/sh', '-c', ...script], options);
}

/** What a script says on one line. @throws {MutiraoError} MUT_LAUNCH_FAILED with what it said else. */
async function getAnswer(connection: SshConnection, script: readonly string[], input?: string): Promise<string> {
  const { status, stdout, stderr } = await run(connection, script, input === undefined ? {} : { input });
  const answer = /^mutirao: (.*)$/m.exec(stdout)?.[1];
  if (status === 0 && answer !== undefined) return answer;
  throw new MutiraoError(
    'MUT_LAUNCH_FAILED',
    `${connection.destination}: the agent could not be started: ` +
      `${getLastWords(`${stdout}\n${stderr}`)} (status ${status})`,
  );
}
