import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { SshConnection } from '@mutirao/runtime/ssh';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { FrontEnd } from '../../site/front-end.ts';
import { giveBack, leaveReason } from '../../site/give-back.ts';
import { readSite, type SiteRecord } from '../../site/site-record.ts';
import { findConnector, forgetSite, stopConnector } from '../../site/start-connector.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<site>', 'name of the site')
    .option('--now', 'end running work at once; its tasks run again elsewhere')
    .option('--forget', 'remove the site even if it is unreachable; processes there keep running')
    .action((name: string, options: { now?: true; forget?: true }) =>
      act((context) => removeSite(context, name, options)),
    );
}

const drainPoll = 500;

/** Ends what runs at a site, once it has no more work, removes our files there and forgets the site. */
export async function removeSite(
  context: CommandContext,
  name: string,
  { now, forget }: { readonly now?: true; readonly forget?: true },
): Promise<ExitStatus> {
  const { home, output } = context;
  const site = readSite(home, name);
  try {
    if (now === true) await giveBack(context, site);
    else if (forget !== true) await drain(context, site);
    await stopConnector(context, name);
    await endThere(context, site);
  } catch (error) {
    if (forget !== true || !(error instanceof MutiraoError)) throw error;
    output.note(`processes at ${site.ssh} keep running: ${error.message}`);
  }
  await stopConnector(context, name);
  forgetSite(home, name);
  printResult(output, {
    json: () => ({ name, ssh: site.ssh }),
    table: () => [`Site ${name} is removed.`],
    quiet: () => [name],
  });
  return 0;
}

/**
 * Has the provider take no more work, and waits until what runs has ended. @throws {MutiraoError} MUT_CANCELLED when
 * interrupted; it goes on draining.
 */
async function drain(context: CommandContext, { name, address, ssh }: SiteRecord): Promise<void> {
  if (findConnector(context.home, name) === undefined)
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `nobody keeps the connection to ${name}: "mutirao site connect ${name}" does; --now ends at once what ` +
        `runs at ${ssh}`,
    );
  const provider = await context.provider(address);
  await provider.drain({ reason: leaveReason, atOnce: false });
  let reported = '';
  for (;;) {
    const { machines, queuedRequests, resourceKind } = await provider.getResource();
    // Time-shared machines stay attached; those of a cluster go when their last task has ended.
    if (queuedRequests === 0 && (machines === 0 || resourceKind === 'machines')) return;
    const now = `${name} drains: ${machines} machines, ${queuedRequests} queued requests`;
    if (now !== reported) context.output.note(now);
    reported = now;
    if (context.signal.aborted) throw new MutiraoError('MUT_CANCELLED', `stopped waiting; ${name} is still draining`);
    await context.sleep(drainPoll);
  }
}

async function endThere({ home, signal }: CommandContext, site: SiteRecord): Promise<void> {
  const connection = await SshConnection.open({ destination: site.ssh, options: site.sshOptions, signal });
  try {
    await new FrontEnd(connection, site, home).remove();
  } finally {
    connection.close();
  }
}
