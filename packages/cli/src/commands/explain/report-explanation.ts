import type { ExplainRequest } from '@mutirao/api/broker';

import { MutiraoError } from '@mutirao/api/errors';
import { reasonDocument } from '@mutirao/api/reasons';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';

/** Asks the broker why, and prints its answer: one sentence, then the details below it. */
export async function reportExplanation(
  context: CommandContext,
  subject: NonNullable<ExplainRequest['subject']>,
): Promise<ExitStatus> {
  const { summary, details } = await (await context.broker()).explain({ subject });
  if (summary === undefined) throw new MutiraoError('MUT_PROTOCOL', 'the broker gave no explanation');
  tell(context.output, {
    json: () => ({ summary: reasonDocument(summary), details: details.map(reasonDocument) }),
    table: () => [summary.text, ...details.map(({ text }) => `  - ${text}`)],
    quiet: () => [summary.text],
  });
  return 0;
}
