import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { verdictJson } from '../../json/reservation-documents.ts';
import { printResult } from '../../output/print-result.ts';
import { fetchClaim } from '../../reservations/fetch-claim.ts';
import { managerOption, openManager, resourcesByName } from '../../reservations/show-reservation.ts';

interface VerifyOptions {
  readonly manager?: string;
  readonly resource?: string;
  readonly user?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<claim>', 'the claim, as "mutirao reservation show" prints it, or the number of a reservation of yours')
    .option(...managerOption)
    .option('--resource <name>', 'resource where the claim was shown')
    .option('--user <name>', 'user who showed the claim')
    .action((claim: string, options: VerifyOptions) => act((context) => verifyClaim(context, claim, options)));
}

/** Says whether a claim may be used now: exit status 0 if so, 1 if not. */
export async function verifyClaim(context: CommandContext, text: string, options: VerifyOptions): Promise<ExitStatus> {
  const manager = await openManager(context, options.manager);
  const claim = await fetchClaim(text, () => Promise.resolve(manager));
  const verdict = await manager.verifyReservation({
    claim,
    resourceId: options.resource ?? '',
    userId: options.user ?? '',
  });
  const { reservation } = verdict;
  const unit =
    reservation === undefined ? '' : ((await resourcesByName(manager)).get(reservation.resourceId)?.unit ?? '');
  printResult(context.output, {
    json: () => verdictJson(verdict, unit),
    table: () => [
      verdict.valid
        ? `Valid: reservation ${reservation?.reservationId ?? 0} of ${reservation?.userId ?? ''}.`
        : `Not valid: ${verdict.code} ${verdict.message}`,
    ],
    quiet: () => (verdict.valid && reservation !== undefined ? [reservation.reservationId] : []),
  });
  return verdict.valid ? 0 : 1;
}
