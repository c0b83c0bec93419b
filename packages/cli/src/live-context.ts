import { setTimeout as delay } from 'node:timers/promises';
import { resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import {
  checkHome,
  findSiteTokenAt,
  keepDebuggerShut,
  keepOwnFilesUsable,
  mutiraoHome,
  readToken,
  tokenPath,
} from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type * as Clients from '@mutirao/runtime/clients';
import type { CommandContext, CommonOptions } from './context.ts';
import { findBrokerAddress } from './grid/addresses.ts';
import type { Output } from './output/output.ts';

/** How long a command waits for one answer. */
const deadlineMs = 30_000;

/** Makes what a command works with from the process's own surroundings. Nothing is dialled before it is needed. */
export function makeLiveContext(
  output: Output,
  options: CommonOptions,
  passedOn: readonly string[] | undefined,
): { context: CommandContext; close(): void } {
  keepOwnFilesUsable();
  keepDebuggerShut();
  if (options.home === '')
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--home is empty, as where a variable is not set; expected a folder, such as ~/.mutirao',
    );
  const home = options.home === undefined ? mutiraoHome() : resolve(options.home);
  const interrupt = abortOnSignals();
  const opened: Clients.Closable<unknown>[] = [];
  const dialWith = async <Client>(
    at: string,
    dial: (rpc: typeof Clients, settings: Clients.CallSettings) => Clients.Closable<Client>,
    siteToken?: string,
  ): Promise<Client> => {
    const rpc = await import('@mutirao/runtime/clients');
    const made = dial(rpc, {
      token: siteToken ?? (() => readToken(tokenPath(at))),
      trust: userTrust(at),
      deadlineMs,
      signal: interrupt.signal,
    });
    opened.push(made);
    return made.client;
  };
  const contextAt = (at: string, brokerAddress: string | undefined): CommandContext => {
    let broker: Promise<BrokerClient> | undefined;
    return {
      output,
      passedOn,
      // Looked at when a command needs it: some do without one.
      get home() {
        return checkHome(at);
      },
      directory: currentFolder(),
      signal: interrupt.signal,
      clock: Date,
      at: (other) => contextAt(other, undefined),
      broker: async () => {
        const address = brokerAddress ?? findBrokerAddress(checkHome(at));
        broker ??= dialWith(at, (rpc, settings) => rpc.dialBroker(address, settings));
        return broker;
      },
      provider: (address) =>
        dialWith(at, (rpc, settings) => rpc.dialProvider(address, settings), findSiteTokenAt(at, address)),
      cluster: (address) => dialWith(at, (rpc, settings) => rpc.dialCluster(address, settings)),
      reservations: (address) => dialWith(at, (rpc, settings) => rpc.dialReservations(address, settings)),
      sleep: async (durationMs) => {
        await delay(durationMs, undefined, { signal: interrupt.signal }).catch(() => undefined);
      },
    };
  };
  return {
    context: contextAt(home, options.broker ?? process.env['MUTIRAO_BROKER']),
    close: () => {
      for (const { close } of opened) close();
      interrupt.dispose();
    },
  };
}

/** The first SIGINT or SIGTERM asks the command to end; the second ends the process at once. */
function abortOnSignals(): { signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const abort = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(4);
    controller.abort(signal);
  };
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  return {
    signal: controller.signal,
    dispose: () => {
      process.off('SIGINT', abort);
      process.off('SIGTERM', abort);
    },
  };
}

/**
 * The folder that a command runs in. If it was removed or cannot be read, the one that the shell remembers, else the
 * root: many commands need no folder.
 */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/';
  }
}
