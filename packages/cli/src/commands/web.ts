import { join } from 'node:path';

import { InvalidArgumentError, type Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { findPage, type ServedPage } from '../grid/page.ts';
import { printResult } from '../output/print-result.ts';

/** Where to serve the page, and whether to show it at once. */
export interface WebOptions {
  readonly port: number;
  readonly open?: true;
}

/** How long the gateway may take until it listens. */
const readyMax = 30_000;
const pollMs = 25;

export function define(command: Command, act: Act): void {
  command
    .option(
      '--port <number>',
      'port of the page on the loopback address (default: the last one if it is free, else any)',
      readPort,
      0,
    )
    .option('--open', 'open the page in your browser')
    .action((options: WebOptions) => act((context) => servePage(context, options)));
}

/** Prints the address of the page; serves it until interrupted where nobody does yet. */
export async function servePage(context: CommandContext, options: WebOptions): Promise<ExitStatus> {
  const served = findPage(context.home);
  if (served !== undefined) {
    await show(context, served, options);
    return 0;
  }
  const { ownProgram, startProcess } = await import('@mutirao/runtime/processes');
  const [command, ...own] = ownProgram('web');
  const ended = Promise.withResolvers<ExitStatus>();
  let hasEnded = false;
  const { pid } = startProcess({
    command,
    args: [...own, '--home', context.home, '--listen', `127.0.0.1:${options.port}`, '--leash'],
    detached: false,
    env: { ...process.env, MUTIRAO_HOME: context.home },
    leash: true,
    stderr: { kind: 'inherit' },
    onExit: ({ status }) => {
      hasEnded = true;
      ended.resolve(status as ExitStatus);
    },
  });
  const stop = (): void => {
    if (pid !== undefined && !hasEnded) process.kill(pid, 'SIGTERM');
  };
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const page = await untilServed(context, () => hasEnded);
    if (page !== undefined) {
      await show(context, page, options);
      context.output.note('Ctrl-C stops serving it.');
    }
    return await ended.promise;
  } finally {
    context.signal.removeEventListener('abort', stop);
    stop();
  }
}

/**
 * Undefined where it ended instead, or was interrupted. @throws {MutiraoError} MUT_UNREACHABLE where it does not come
 * up.
 */
async function untilServed(context: CommandContext, hasEnded: () => boolean): Promise<ServedPage | undefined> {
  const until = context.clock.now() + readyMax;
  while (!hasEnded() && !context.signal.aborted) {
    const page = findPage(context.home);
    if (page !== undefined) return page;
    if (context.clock.now() > until) throw new MutiraoError('MUT_UNREACHABLE', 'the page did not come up in 30 s');
    await context.sleep(pollMs);
  }
  return undefined;
}

async function show({ output, home }: CommandContext, page: ServedPage, { open }: WebOptions): Promise<void> {
  printResult(output, {
    json: () => ({ url: page.url, pid: page.pid }),
    quiet: () => [page.url],
    table: () => [`The page: ${page.url}`, 'Whoever has this address can do on the grid what you can.'],
  });
  if (open !== true) return;
  const { startProcess } = await import('@mutirao/runtime/processes');
  // Everybody on this host reads command lines: the browser is shown a file that only its user can read, which leads
  // on.
  const way = join(home, 'web', 'open.html');
  writeAtomic(
    way,
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; ' +
      `url=${page.url}"><title>Mutirao</title>\n`,
  );
  startProcess({
    command: 'xdg-open',
    args: [way],
    onExit: ({ status }) => {
      if (status !== 0) output.note('No browser could be opened; open the address yourself.');
    },
  });
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return Number(text);
}
