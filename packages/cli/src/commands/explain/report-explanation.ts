import type { ExplainRequest } from '@mutirao/api/broker';

import { MutiraoError } from '@mutirao/api/errors';
import { reasonDocument } from '@mutirao/api/reasons';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

/** Asks the broker why, and prints its answer: a sentence or two, then the details below. */
export async function reportExplanation(
  context: CommandContext,
  subject: NonNullable<ExplainRequest['subject']>,
): Promise<ExitStatus> {
  const { summary, waiting, details } = await (await context.broker()).explain({ subject });
  if (summary === undefined) throw new MutiraoError('MUT_PROTOCOL', 'the broker gave no explanation');
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
