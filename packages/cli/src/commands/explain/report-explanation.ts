import type { ExplainRequest, ExplainResponse } from '@mutirao/api/broker';

import { MutiraoError } from '@mutirao/api/errors';
import { reasonDocument } from '@mutirao/api/reasons';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveProviderAddress } from '../../selectors.ts';

type Reason = ExplainResponse['details'][number];

/** Asks the broker why, and prints its answer: a sentence or two, then the details below. */
export async function reportExplanation(
  context: CommandContext,
  subject: NonNullable<ExplainRequest['subject']>,
): Promise<ExitStatus> {
  const { summary, waiting, details: known } = await (await context.broker()).explain({ subject });
  if (summary === undefined) throw new MutiraoError('MUT_PROTOCOL', 'the broker gave no explanation');
  const details = [...known, ...(await findProviderReasons(context, known))];
  const answer = [summary, ...(waiting === undefined ? [] : [waiting])].map(({ text }) => text).join(' ');
  printResult(context.output, {
    json: () => ({
      summary: reasonDocument(summary),
      waiting: waiting === undefined ? null : reasonDocument(waiting),
      details: details.map(reasonDocument),
    }),
    table: () => [answer, ...details.map(({ text }) => `  - ${text}`)],
    quiet: () => [answer],
  });
  return 0;
}

const providersMax = 3;

/**
 * Why providers request nothing more, where an explanation refers to them or their machines are too small. Providers that
 * do not answer are left out.
 */
async function findProviderReasons(context: CommandContext, details: readonly Reason[]): Promise<Reason[]> {
  const names = [...new Set(details.map(findProvider).filter((name) => name !== undefined))].slice(0, providersMax);
  const found = await Promise.all(names.map(async (name) => readProviderReasons(context, name)));
  return found.flat();
}

function findProvider(reason: Reason): string | undefined {
  const { code, parameters } = reasonDocument(reason);
  const { provider_id: providerId, machine_id: machineId } = parameters;
  if (code === 'advise-provider-show' && typeof providerId === 'string') return providerId;
  return code === 'machine-too-small' && typeof machineId === 'string' ? machineId.split('/')[0] : undefined;
}

async function readProviderReasons(context: CommandContext, providerId: string): Promise<Reason[]> {
  try {
    const { address } = await resolveProviderAddress(context, providerId);
    const { reasons } = await (await context.provider(address)).getResource();
    return reasons.map((reason) => ({ ...reason, text: `Provider ${providerId}: ${reason.text}` }));
  } catch (error) {
    if (error instanceof MutiraoError) return []; // The broker's explanation is worth printing all the same.
    throw error;
  }
}
